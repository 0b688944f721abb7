"""Renders the chart with a real helm and finds objects in what comes out."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

ROOT: Final = Path(__file__).parents[2]
CHART: Final = ROOT / "helm" / "eastwind"
PERMUTATIONS: Final = tuple(sorted(path.stem.removesuffix("-values") for path in (CHART / "ci").glob("*-values.yaml")))
RELEASE: Final = "ew"
NAMESPACE: Final = "play"
KUBERNETES: Final = ("1.30.0", "1.34.0", "1.37.0")
"""The oldest that the chart says it needs, that of `make cluster-test`, and the newest with schemas."""
_TIMEOUT_S: Final = 120.0

Object = Mapping[str, Any]


class RefusedError(Exception):
    """Helm refused to render; the message is its own."""


def helm_program() -> str:
    """Where helm is. Fails the test when nobody said so: `make helm-test` builds one and does."""
    program = os.environ.get("HELM", "")
    if not program:
        pytest.fail("HELM names no helm; run `make helm-test`")
    return program


class Rendered:
    """The objects of one rendering."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def objects(self) -> tuple[Object, ...]:
        """All of them, hooks and the test pod included."""
        return tuple(each for each in yaml.safe_load_all(self.text) if each)

    def kind(self, kind: str) -> dict[str, Object]:
        """Those of a kind by their names."""
        return {each["metadata"]["name"]: each for each in self.objects if each["kind"] == kind}

    def one(self, kind: str, name: str) -> Any:
        """The object of that kind and name."""
        return self.kind(kind)[name]

    def component(self, kind: str, component: str) -> Any:
        """The object of that kind that belongs to a service by its name."""
        found = [
            each
            for each in self.kind(kind).values()
            if each["metadata"]["labels"].get("app.kubernetes.io/component") == component
        ]
        assert len(found) == 1, f"{len(found)} objects of kind {kind} for {component}"
        return found[0]

    def pods(self) -> Iterator[tuple[str, Any]]:
        """Every pod that would run, by the name of what makes it, with its spec."""
        for each in self.objects:
            name = f"{each['kind']}/{each['metadata']['name']}"
            if each["kind"] == "Pod":
                yield name, each["spec"]
            elif each["kind"] in ("Deployment", "Job"):
                yield name, each["spec"]["template"]["spec"]

    def environment(self, component: str) -> dict[str, str]:
        """The plain variables of a service; those from secrets are `secret/entry`, from fields `field:path`."""
        (container,) = self.component("Deployment", component)["spec"]["template"]["spec"]["containers"]
        return {each["name"]: _value(each) for each in container["env"]}


def _value(variable: Mapping[str, Any]) -> str:
    if "value" in variable:
        return str(variable["value"])
    source = variable["valueFrom"]
    if "secretKeyRef" in source:
        return f"{source['secretKeyRef']['name']}/{source['secretKeyRef']['key']}"
    return f"field:{source['fieldRef']['fieldPath']}"


class Chart:
    """The chart and one helm."""

    def __init__(self, helm: str) -> None:
        self._helm = helm
        self._rendered: dict[tuple[str, ...], Rendered] = {}

    def helm(self, *arguments: str) -> str:
        """Run helm; returns what it printed. Raises `RefusedError`."""
        ran = subprocess.run(
            [self._helm, *arguments], capture_output=True, text=True, timeout=_TIMEOUT_S, cwd=ROOT, check=False
        )
        if ran.returncode:
            raise RefusedError(ran.stderr + ran.stdout)
        return ran.stdout

    def render(
        self, permutation: str = "minimal", *sets: str, kubernetes: str = "1.34.0", again: bool = False
    ) -> Rendered:
        """Render with the values of `ci/<permutation>-values.yaml` and `--set` arguments.

        Renderings are kept; `again` makes a new one. Raises `RefusedError`.
        """
        key = (permutation, kubernetes, *sets)
        if again or key not in self._rendered:
            self._rendered[key] = Rendered(
                self.helm(
                    "template",
                    RELEASE,
                    str(CHART),
                    f"--namespace={NAMESPACE}",
                    f"--kube-version={kubernetes}",
                    f"--values={CHART / 'ci' / f'{permutation}-values.yaml'}",
                    *(f"--set={each}" for each in sets),
                )
            )
        return self._rendered[key]
