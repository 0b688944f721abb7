"""One root error with fields, and its one translation to and from a gRPC status.

A reason is the name of a value of `eastwind.type.v1.Reason` without its prefix ("NOT_OWNER"). On the wire it travels as
`google.rpc.ErrorInfo.reason` in the domain "eastwind"; the retriable flag travels in the metadata of that `ErrorInfo`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import grpc
import grpc.aio
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

ERROR_DOMAIN = "eastwind"
_RETRIABLE = "retriable"
_DETAILS_KEY = "grpc-status-details-bin"


class EastwindError(Exception):
    """The root of all errors that cross a boundary.

    `reason` is the name of a `Reason`; `code` the canonical status; `metadata` small facts for programs (strings only,
    never secrets); `retriable` tells whether the same request may succeed later without any change.
    """

    reason: str = "INTERNAL"
    code: grpc.StatusCode = grpc.StatusCode.INTERNAL
    retriable: bool = False

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        code: grpc.StatusCode | None = None,
        metadata: Mapping[str, str] | None = None,
        retriable: bool | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.metadata: dict[str, str] = dict(metadata or {})
        if reason is not None:
            self.reason = reason
        if code is not None:
            self.code = code
        if retriable is not None:
            self.retriable = retriable

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"


class InvalidRequest(EastwindError):
    """The request can never succeed as it is."""

    reason = "INVALID_ARGUMENT"
    code = grpc.StatusCode.INVALID_ARGUMENT


class NotFound(EastwindError):
    """What the request names does not exist; give the reason that says what."""

    reason = "INVALID_ARGUMENT"
    code = grpc.StatusCode.NOT_FOUND


class Unauthenticated(EastwindError):
    """No valid proof of identity came with the call."""

    reason = "UNAUTHENTICATED"
    code = grpc.StatusCode.UNAUTHENTICATED


class PermissionDenied(EastwindError):
    """The caller is known and may not do this."""

    reason = "PERMISSION_DENIED"
    code = grpc.StatusCode.PERMISSION_DENIED


class Unavailable(EastwindError):
    """Something that the request needs cannot be reached now."""

    reason = "UNAVAILABLE"
    code = grpc.StatusCode.UNAVAILABLE
    retriable = True


class ResourceExhausted(EastwindError):
    """A bound (queue, rate, quota) was reached."""

    reason = "RATE_LIMITED"
    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    retriable = True


class DeadlineMissing(EastwindError):
    """A remote call was made without a deadline: a fault of the calling code."""


class StoreUnavailable(Unavailable):
    """The table store cannot be reached.

    With `outcome_unknown` the command may have been carried out: settle it by asking the store, never by assuming.
    """

    def __init__(self, message: str, *, outcome_unknown: bool) -> None:
        super().__init__(message)
        self.outcome_unknown = outcome_unknown


class TableUnknown(NotFound):
    """No table with this id is in the store."""

    reason = "TABLE_UNKNOWN"


class OwnedElsewhere(EastwindError):
    """Another worker holds the table; `owner` is its id ("" when the table was released)."""

    reason = "NOT_OWNER"
    code = grpc.StatusCode.FAILED_PRECONDITION
    retriable = True

    def __init__(self, message: str, *, owner: str) -> None:
        super().__init__(message, metadata={"owner": owner})
        self.owner = owner


class Fenced(OwnedElsewhere):
    """This worker lost the table: a later epoch exists, and nothing was written."""

    def __init__(self, message: str, *, owner: str, epoch: int) -> None:
        super().__init__(message, owner=owner)
        self.epoch = epoch


class SequenceConflict(EastwindError):
    """The log does not end where the writer believed; `actual` is its last sequence. Nothing was written."""

    reason = "UNAVAILABLE"
    code = grpc.StatusCode.ABORTED
    retriable = True

    def __init__(self, message: str, *, actual: int) -> None:
        super().__init__(message, metadata={"actual": str(actual)})
        self.actual = actual


class RemoteError(EastwindError):
    """An error that another service answered with and that has no class of its own."""


ErrorAdapter = Callable[[BaseException], EastwindError | None]
"""Maps an exception of a domain to an `EastwindError`, or returns None when it does not know the exception."""


def to_status(error: EastwindError) -> status_pb2.Status:
    """The `google.rpc.Status` of an error, with one `ErrorInfo`."""
    metadata = dict(error.metadata)
    if error.retriable:
        metadata[_RETRIABLE] = "true"
    info = error_details_pb2.ErrorInfo(reason=error.reason, domain=ERROR_DOMAIN, metadata=metadata)
    packed = any_pb2.Any()
    packed.Pack(info)
    return status_pb2.Status(code=error.code.value[0], message=error.message, details=[packed])


async def abort(context: grpc.aio.ServicerContext[object, object], error: EastwindError) -> None:
    """End the call with the error's status. Never returns."""
    trailing = ((_DETAILS_KEY, to_status(error).SerializeToString()),)
    await context.abort(error.code, error.message, trailing)


def from_rpc_error(error: grpc.RpcError) -> EastwindError:
    """The typed error behind a failed call.

    The class follows the reason (`OwnedElsewhere`, `TableUnknown`) or else the code (`Unauthenticated`,
    `PermissionDenied`, `InvalidRequest`, `NotFound`, `Unavailable`, `ResourceExhausted`), and is `RemoteError` for the
    rest. A status without our `ErrorInfo` (the peer died or ended, the deadline passed) is retriable where the same
    call may succeed later: UNAVAILABLE, DEADLINE_EXCEEDED, and CANCELLED, which is the peer's: our own is no status.
    """
    if isinstance(error, grpc.aio.AioRpcError):
        code, details = error.code(), error.details() or ""
    else:
        code, details = grpc.StatusCode.UNKNOWN, str(error)
    kind = _CLASSES.get(code, RemoteError)
    info = _error_info(error)
    if info is None:
        return kind(details or code.name, code=code)
    metadata = dict(info.metadata)
    retriable = metadata.pop(_RETRIABLE, "") == "true"
    if info.reason == OwnedElsewhere.reason:
        return OwnedElsewhere(details, owner=metadata.get("owner", ""))
    if info.reason == TableUnknown.reason:
        kind = TableUnknown
    return kind(details, reason=info.reason, code=code, metadata=metadata, retriable=retriable)


_CLASSES: Mapping[grpc.StatusCode, type[EastwindError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequest,
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.UNAUTHENTICATED: Unauthenticated,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDenied,
    grpc.StatusCode.UNAVAILABLE: Unavailable,
    grpc.StatusCode.DEADLINE_EXCEEDED: Unavailable,
    grpc.StatusCode.CANCELLED: Unavailable,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ResourceExhausted,
}


def _error_info(error: grpc.RpcError) -> error_details_pb2.ErrorInfo | None:
    if not isinstance(error, grpc.aio.AioRpcError):
        return None
    for key, value in error.trailing_metadata() or ():
        if key == _DETAILS_KEY and isinstance(value, bytes):
            for detail in status_pb2.Status.FromString(value).details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info) and info.domain == ERROR_DOMAIN:
                    return info
    return None


__all__ = [
    "ERROR_DOMAIN",
    "DeadlineMissing",
    "EastwindError",
    "ErrorAdapter",
    "Fenced",
    "InvalidRequest",
    "NotFound",
    "OwnedElsewhere",
    "PermissionDenied",
    "RemoteError",
    "ResourceExhausted",
    "SequenceConflict",
    "StoreUnavailable",
    "TableUnknown",
    "Unauthenticated",
    "Unavailable",
    "abort",
    "from_rpc_error",
    "to_status",
]
