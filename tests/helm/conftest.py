"""What the tests of the chart share: a real helm, and what it renders."""

from __future__ import annotations

import pytest

from tests.helm.rendering import Chart, helm_program


@pytest.fixture(scope="session")
def chart() -> Chart:
    """The chart, rendered by the helm that `make helm-test` names."""
    return Chart(helm_program())
