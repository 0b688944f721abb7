"""Refusals of the game as errors that cross the service's boundary."""

from __future__ import annotations

import grpc

from libs.chassis.errors import EastwindError, InvalidRequest
from libs.contracts.tiles import InvalidMessage
from libs.mahjong.engine.actions import RuleViolation


def refusal_error(refusal: RuleViolation) -> EastwindError:
    """Return the error for a command that the rules refuse."""
    return EastwindError(refusal.detail, reason=refusal.reason.value, code=grpc.StatusCode.FAILED_PRECONDITION)


def adapt(error: BaseException) -> EastwindError | None:
    """Map the game's exceptions; ``None`` for others."""
    if isinstance(error, RuleViolation):
        return refusal_error(error)
    if isinstance(error, InvalidMessage):
        return InvalidRequest(str(error))
    return None
