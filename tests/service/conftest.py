"""Fixtures of the service tests that more than one service's tests use."""

# Fixtures reach the tests by their names here.
from tests.service.fleet import backing_stack, fleet, house, start_fleet  # noqa: F401
