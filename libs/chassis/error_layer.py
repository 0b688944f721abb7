"""The one place where a server turns exceptions into statuses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import grpc
import grpc.aio
import structlog

from libs.chassis.errors import EastwindError, ErrorAdapter, abort, from_rpc_error
from libs.chassis.interceptors import Context

_log = structlog.get_logger(__name__)


class ErrorLayer:
    """Answers an exception of a handler with a status and an `ErrorInfo`.

    `adapters` translate the exceptions of a domain, the first that knows one decides. What nobody knows is logged with
    its traceback and answered with INTERNAL, without its text: that may hold what the caller must not see.
    """

    def __init__(self, adapters: Sequence[ErrorAdapter] = ()) -> None:
        self._adapters = tuple(adapters)

    @asynccontextmanager
    async def around(self, method: str, context: Context) -> AsyncIterator[None]:
        try:
            yield
        except (grpc.aio.AbortError, asyncio.CancelledError):
            raise
        except EastwindError as error:
            await abort(context, error)
        except Exception as error:
            await abort(context, self._translated(method, error))

    def _translated(self, method: str, error: Exception) -> EastwindError:
        for adapter in self._adapters:
            known = adapter(error)
            if known is not None:
                return known
        if isinstance(error, grpc.RpcError):
            return from_rpc_error(error)
        if isinstance(error, TimeoutError):
            return EastwindError(
                "the work took too long",
                reason="UNAVAILABLE",
                code=grpc.StatusCode.DEADLINE_EXCEEDED,
                retriable=True,
            )
        _log.error("call failed", method=method, exc_info=error)
        return EastwindError("an internal error happened")
