"""Settings of the scoring service. It keeps nothing and calls nobody, so the common ones are all it needs."""

from __future__ import annotations

from libs.chassis.settings import ServiceSettings


class ScoringSettings(ServiceSettings):
    """The common `EASTWIND_*` variables."""
