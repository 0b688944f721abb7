"""Logs are JSON, name their service and trace, and hold no secrets."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from libs.chassis import logs
from libs.chassis.telemetry import Telemetry, current_trace_id


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


async def test_a_line_has_service_message_and_trace(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(service="table", form="json")
    telemetry = Telemetry("table")
    with telemetry.span("work"):
        structlog.get_logger("x").info("hand settled", table_id="t1")
        trace_id = current_trace_id()
    await telemetry.close()
    line = json.loads(capsys.readouterr().err)
    assert (line["service"], line["message"], line["level"]) == ("table", "hand settled", "info")
    assert (line["table_id"], line["trace_id"]) == ("t1", trace_id)


def test_lines_of_other_libraries_look_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(service="table", form="json")
    logging.getLogger("somebody").warning("old style")
    line = json.loads(capsys.readouterr().err)
    assert (line["service"], line["message"], line["level"]) == ("table", "old style", "warning")


def test_secrets_do_not_get_through(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(service="table", form="json")
    structlog.get_logger("x").info("session", access_token="abc", password="abc", server_seed="abc", nonce="abc")
    assert "abc" not in capsys.readouterr().err
