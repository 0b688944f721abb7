"""Structured logs: JSON lines for machines, coloured lines on a terminal. Secrets never get through."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from libs.chassis.telemetry import current_trace_id

_SECRET_WORDS = (
    "token",
    "secret",
    "password",
    "seed",
    "nonce",
    "service_key",
    "private_key",
    "authorization",
    "cookie",
)
_HIDDEN = "(hidden)"


def configure(*, service: str = "", level: str = "info", form: str = "auto") -> None:
    """Set up logging for the whole process; may be called again.

    `form` is json, console, or auto (console on a terminal). `service` is put into every line that does not name one
    itself; the embedded stack leaves it empty and binds it per service with `bind_service`.
    """
    console = form == "console" or (form == "auto" and sys.stderr.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        _Service(service),
        _add_trace_id,
        hide_secrets,
    ]
    last: list[Any] = (
        # The default shows the local variables of every frame, secrets among them.
        [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
        if console
        else [
            structlog.processors.format_exc_info,
            structlog.processors.EventRenamer("message"),
            structlog.processors.JSONRenderer(),
        ]
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for noisy in ("aiokafka", "aiohttp.access", "asyncio", "alembic", "grpc"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def bind_service(service: str) -> None:
    """Name the service in all lines of the current task and of the tasks that it starts."""
    structlog.contextvars.bind_contextvars(service=service)


class _Service:
    def __init__(self, service: str) -> None:
        self._service = service

    def __call__(self, _logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        if self._service:
            event.setdefault("service", self._service)
        return event


def _add_trace_id(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    trace_id = current_trace_id()
    if trace_id:
        event["trace_id"] = trace_id
    return event


def hide_secrets(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace the value of every field whose name speaks of a secret."""
    for name in event:
        if any(word in name.lower() for word in _SECRET_WORDS):
            event[name] = _HIDDEN
    return event
