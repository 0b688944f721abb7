"""Every permutation of values lints, renders, and gives objects that Kubernetes takes."""

from __future__ import annotations

import jsonschema
import pytest
import yaml

from tests.helm.rendering import CHART, KUBERNETES, PERMUTATIONS, Chart
from tests.helm.schemas import validate

pytestmark = pytest.mark.helm


@pytest.mark.parametrize("permutation", PERMUTATIONS)
def test_helm_lint_finds_nothing(chart: Chart, permutation: str) -> None:
    chart.helm("lint", "--strict", str(CHART), f"--values={CHART / 'ci' / f'{permutation}-values.yaml'}")


@pytest.mark.parametrize("kubernetes", KUBERNETES)
@pytest.mark.parametrize("permutation", PERMUTATIONS)
def test_every_object_fits_the_schemas_of_kubernetes(chart: Chart, permutation: str, kubernetes: str) -> None:
    objects = chart.render(permutation, kubernetes=kubernetes).objects
    assert len(objects) > 20
    for each in objects:
        try:
            validate(each, kubernetes)
        except jsonschema.ValidationError as error:
            raise AssertionError(f"{each['kind']} {each['metadata']['name']}: {error.message}") from None


def test_the_check_would_see_a_field_that_kubernetes_does_not_know(chart: Chart) -> None:
    deployment = dict(chart.render().component("Deployment", "table"))
    deployment["spec"] = {**deployment["spec"], "replica": 2}
    with pytest.raises(jsonschema.ValidationError, match="replica"):
        validate(deployment, KUBERNETES[-1])


@pytest.mark.parametrize("permutation", PERMUTATIONS)
def test_no_two_objects_have_one_name_and_all_say_whose_they_are(chart: Chart, permutation: str) -> None:
    objects = chart.render(permutation).objects
    names = [(each["kind"], each["metadata"]["name"]) for each in objects]
    assert len(names) == len(set(names))
    for each in objects:
        labels = each["metadata"]["labels"]
        assert labels["app.kubernetes.io/instance"] == "ew"
        assert labels["app.kubernetes.io/part-of"] == "eastwind"
        assert each["metadata"]["namespace"] == "play"


def test_the_permutations_turn_every_switch_of_the_values() -> None:
    """A switch that no permutation turns would be a template that nobody has rendered."""
    defaults = yaml.safe_load((CHART / "values.yaml").read_text())
    permutations = [yaml.safe_load((CHART / "ci" / f"{name}-values.yaml").read_text()) for name in PERMUTATIONS]

    def switches(values: object, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], bool]:
        if isinstance(values, bool):
            return {path: values}
        if isinstance(values, dict):
            return {key: found for name in values for key, found in switches(values[name], (*path, name)).items()}
        return {}

    turned = {path for each in permutations for path, value in switches(each).items()}
    fixed = {
        ("podSecurityContext", "runAsNonRoot"),
        ("containerSecurityContext", "allowPrivilegeEscalation"),
        ("containerSecurityContext", "readOnlyRootFilesystem"),
    }
    assert set(switches(defaults)) - fixed <= turned
