"""The gRPC server and the channels, talking to each other over real sockets."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

import grpc
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.wrappers_pb2 import StringValue
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client import generate_latest

from libs.chassis.auth import ANY_SERVICE, AccessTokenSigner, AccessTokenVerifier, Identity
from libs.chassis.channels import Channels, target_of
from libs.chassis.errors import (
    DeadlineMissing,
    EastwindError,
    InvalidRequest,
    PermissionDenied,
    RemoteError,
    Unauthenticated,
    Unavailable,
)
from libs.chassis.server import GrpcServer
from libs.chassis.settings import ServiceSettings, read
from libs.chassis.telemetry import Telemetry, current_trace_id
from libs.chassis.telemetry_contract.model import Label
from libs.chassis.transport import PING_EVERY_S, SMALLEST_PING_INTERVAL_S, client_options, server_options
from tests.service.chassis.echo import ALL, SAY, WHO, Echo, EchoStub, RuleViolation, add_echo

KEY = "a key that all services share"
ALLOW: Mapping[str, set[str]] = {method: {ANY_SERVICE} for method in ALL} | {SAY: {"gateway", "clock"}}


def settings(**fields: Any) -> ServiceSettings:
    return read(ServiceSettings, service_key=KEY, **fields)


class Running:
    """A server, and channels to it in the name of any service."""

    def __init__(self) -> None:
        self.telemetry = Telemetry("echo")
        self.signer = AccessTokenSigner(Ed25519PrivateKey.generate(), "first")
        self.jwks_loads = 0
        self.echo = Echo()
        self.server = GrpcServer(
            settings(),
            self.telemetry,
            allow=ALLOW,
            access_tokens=AccessTokenVerifier(self._jwks, min_refresh_s=60),
            error_adapters=[_rules],
        )
        self.server.add(add_echo, self.echo)
        self._channels: list[Channels] = []

    async def _jwks(self) -> Mapping[str, Any]:
        self.jwks_loads += 1
        return {"keys": [self.signer.public_jwk()]}

    def stub(self, service: str = "gateway", **fields: Any) -> EchoStub:
        return EchoStub(self.channels(service, **fields).at(self.server.address))

    def channels(self, service: str = "gateway", **fields: Any) -> Channels:
        channels = Channels(service, settings(**fields), Telemetry(service))
        self._channels.append(channels)
        return channels

    async def close(self) -> None:
        for channels in self._channels:
            await channels.close()
        await self.server.stop(0)
        await self.telemetry.close()


def _rules(error: BaseException) -> EastwindError | None:
    if isinstance(error, RuleViolation):
        return EastwindError(str(error), reason=error.reason, code=grpc.StatusCode.FAILED_PRECONDITION)
    return None


@pytest_asyncio.fixture
async def running() -> AsyncIterator[Running]:
    running = Running()
    await running.server.start()
    yield running
    await running.close()


def word(text: str) -> StringValue:
    return StringValue(value=text)


async def test_every_kind_of_call_gets_through(running: Running) -> None:
    stub = running.stub()
    assert (await stub.Say(word("hello"))).value == "hello"
    assert [answer.value async for answer in stub.Count(word("4"))] == ["0", "1", "2", "3"]
    chat = stub.Chat()
    await chat.write(word("a"))
    assert (await chat.read()).value == "A"
    await chat.write(word("b"))
    assert (await chat.read()).value == "B"
    await chat.done_writing()
    assert await chat.read() is grpc.aio.EOF

    async def words() -> AsyncIterator[StringValue]:
        for text in ("x", "y"):
            yield word(text)

    assert (await stub.Gather(words())).value == "x,y"


async def test_an_error_keeps_its_fields_on_the_way_to_the_caller(running: Running) -> None:
    with pytest.raises(InvalidRequest) as caught:
        await running.stub().Say(word("invalid"))
    error = caught.value
    assert (error.reason, error.code) == ("INVALID_ARGUMENT", grpc.StatusCode.INVALID_ARGUMENT)
    assert (error.message, error.metadata, error.retriable) == ("this can never work", {"field": "value"}, False)


async def test_an_error_in_the_middle_of_a_stream_is_typed_too(running: Running) -> None:
    answers = aiter(running.stub().Count(word("3")))
    assert [(await anext(answers)).value for _ in range(3)] == ["0", "1", "2"]
    with pytest.raises(InvalidRequest, match="three is too few"):
        await anext(answers)


async def test_the_exception_of_a_domain_becomes_its_reason(running: Running) -> None:
    with pytest.raises(RemoteError) as caught:
        await running.stub().Say(word("rule"))
    assert caught.value.reason == "WRONG_DECISION"
    assert caught.value.code is grpc.StatusCode.FAILED_PRECONDITION


async def test_an_unknown_exception_does_not_show_its_text(running: Running) -> None:
    with pytest.raises(RemoteError) as caught:
        await running.stub().Say(word("bug"))
    assert caught.value.code is grpc.StatusCode.INTERNAL
    assert "secret" not in str(caught.value)


async def test_a_status_that_the_handler_chose_is_left_alone(running: Running) -> None:
    with pytest.raises(RemoteError, match="by hand") as caught:
        await running.stub().Say(word("abort"))
    assert caught.value.code is grpc.StatusCode.ALREADY_EXISTS


async def test_a_caller_that_is_not_listed_is_refused(running: Running) -> None:
    with pytest.raises(PermissionDenied):
        await running.stub("bots").Say(word("hello"))
    assert running.echo.heard == []


async def test_a_caller_without_the_shared_key_is_refused(running: Running) -> None:
    channels = Channels(
        "gateway", read(ServiceSettings, service_key="another key that is quite as long"), Telemetry("x")
    )
    with pytest.raises(Unauthenticated):
        await EchoStub(channels.at(running.server.address)).Say(word("hello"))
    await channels.close()
    assert running.echo.heard == []


async def test_a_method_without_callers_is_found_at_start(running: Running) -> None:
    server = GrpcServer(settings(), running.telemetry, allow={WHO: {"gateway"}})
    with pytest.raises(ValueError, match=r"no callers are listed for .*Chat"):
        server.add(add_echo, Echo())


async def test_the_player_is_known_by_the_access_token(running: Running) -> None:
    stub = running.stub("scoring")
    identity = Identity("a-1", "Mei", False, "s-1", int(time.time()) + 60)
    metadata = [("authorization", f"Bearer {running.signer.sign(identity)}")]
    assert (await stub.Who(word("player"), metadata=metadata)).value == "a-1"
    assert (await stub.Who(word("service"), metadata=metadata)).value == "scoring"
    with pytest.raises(Unauthenticated):
        await stub.Who(word("player"))


async def test_forged_and_expired_access_tokens_are_refused_without_asking_accounts_each_time(running: Running) -> None:
    stub = running.stub()
    forger = AccessTokenSigner(Ed25519PrivateKey.generate(), "first")
    stranger = AccessTokenSigner(Ed25519PrivateKey.generate(), "unknown")
    now = int(time.time())
    live = Identity("a-1", "Mei", False, "s-1", now + 60)
    expired = Identity("a-1", "Mei", False, "s-1", now - 1)
    tokens = [forger.sign(live), running.signer.sign(expired), *(stranger.sign(live) for _ in range(5)), "nonsense"]
    for token in tokens:
        with pytest.raises(Unauthenticated):
            await stub.Who(word("player"), metadata=[("authorization", f"Bearer {token}")])
    assert running.jwks_loads == 1


async def test_a_unary_call_without_any_deadline_is_an_error(running: Running) -> None:
    channels = running.channels()
    stub = EchoStub(channels.at(running.server.address))
    channel = channels.at(running.server.address)
    channel._timeout_s = None
    with pytest.raises(DeadlineMissing):
        await stub.Say(word("hello"))


async def test_a_deadline_that_passes_is_a_retriable_error(running: Running) -> None:
    with pytest.raises(Unavailable) as caught:
        await running.stub().Say(word("hold"), timeout=0.05)
    assert caught.value.code is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_a_peer_that_is_not_there_is_a_retriable_error(running: Running) -> None:
    with pytest.raises(Unavailable):
        await EchoStub(running.channels().at("127.0.0.1:1")).Say(word("hello"))


async def test_a_server_that_is_slow_to_take_a_connection_is_waited_for(running: Running) -> None:
    host, port = running.server.address.split(":")
    passing = set[asyncio.Task[None]]()

    async def let_in_later(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.5)
        inner_reader, inner_writer = await asyncio.open_connection(host, int(port))
        passing.add(asyncio.create_task(pass_on(reader, inner_writer)))
        passing.add(asyncio.create_task(pass_on(inner_reader, writer)))

    async def pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            sink.write(data)
        sink.close()

    door = await asyncio.start_server(let_in_later, host, 0)
    stub = EchoStub(running.channels().at("{}:{}".format(*door.sockets[0].getsockname())))
    assert (await stub.Say(word("hello"), timeout=10)).value == "hello"
    door.close()
    for channels in running._channels:
        await channels.close()
    await asyncio.gather(*passing)


async def test_the_trace_of_the_caller_goes_on_in_the_handler(running: Running) -> None:
    heard: list[str] = []

    class Heard(list[str]):
        def append(self, _word: str) -> None:
            heard.append(current_trace_id())

    running.echo.heard = Heard()
    caller = Telemetry("caller")
    with caller.span("test"):
        await running.stub().Say(word("hello"))
        assert heard == [current_trace_id()]
    await caller.close()


async def test_c127_calls_are_counted_by_method_and_code_only(running: Running) -> None:
    stub = running.stub()
    await stub.Say(word("first"))
    series = len(generate_latest(running.telemetry.metrics.registry).splitlines())
    for number in range(200):
        await stub.Say(word(f"table-{number}"))
    text = generate_latest(running.telemetry.metrics.registry).decode()
    assert len(text.splitlines()) == series
    assert f'eastwind_rpc_server_seconds_count{{code="OK",method="{SAY}"}} 201.0' in text
    with pytest.raises(ValueError, match="table_id"):
        Label("table_id", "one series per table")


async def test_c118_accepted_calls_keep_their_own_outcome_in_a_drain_and_health_goes_first(
    running: Running, caplog: pytest.LogCaptureFixture
) -> None:
    stub = running.stub(rpc_timeout_s=20)
    running.echo.holding.clear()
    calls = [asyncio.ensure_future(stub.Say(word("hold"))) for _ in range(90)]
    calls += [asyncio.ensure_future(stub.Say(word("hold and abort"))) for _ in range(10)]
    await running.echo.held_calls(100)
    async with grpc.aio.insecure_channel(running.server.address) as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
        stopping = asyncio.ensure_future(running.server.stop(10))
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert not any(call.done() for call in calls)
        assert await watch.read() is grpc.aio.EOF
    running.echo.go_on.set()
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert [result.value for result in results[:90]] == ["hold"] * 90
    assert {result.code for result in results[90:]} == {grpc.StatusCode.ALREADY_EXISTS}
    await asyncio.wait_for(stopping, 5)
    assert "CancelledError" not in caplog.text
    with pytest.raises(Unavailable):
        await running.stub().Say(word("too late"), timeout=1)


async def test_a_drain_ends_after_its_grace_even_when_a_call_hangs(running: Running) -> None:
    call = asyncio.ensure_future(running.stub().Say(word("hold"), timeout=20))
    await running.echo.holding.wait()
    started = time.monotonic()
    await running.server.stop(0.2)
    assert time.monotonic() - started < 3
    with pytest.raises(EastwindError):
        await call


def test_c116_the_server_allows_the_pings_that_the_client_sends() -> None:
    server, client = dict(server_options(300.0)), dict(client_options())
    assert SMALLEST_PING_INTERVAL_S < PING_EVERY_S
    assert server["grpc.http2.min_recv_ping_interval_without_data_ms"] < client["grpc.keepalive_time_ms"]
    assert server["grpc.keepalive_permit_without_calls"] == client["grpc.keepalive_permit_without_calls"] == 1


def _fork_and_call(stub: EchoStub, answers: Any) -> None:
    try:
        stub.Say(word("hello"), timeout=1).__await__().send(None)
    except RuntimeError as error:
        answers.send(str(error))
    os._exit(0)


async def test_c115_a_channel_that_crossed_a_fork_fails_at_once(running: Running) -> None:
    stub = running.stub()
    receiving, sending = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_fork_and_call, args=(stub, sending))
    process.start()
    answered = await asyncio.to_thread(receiving.poll, 10)
    assert answered
    assert "must not cross a fork" in receiving.recv()
    await asyncio.to_thread(process.join, 10)
    receiving.close()
    sending.close()


def test_addresses_become_targets() -> None:
    assert target_of(["127.0.0.1:5"]) == "ipv4:127.0.0.1:5"
    assert target_of(["10.0.0.1:5", "10.0.0.2:5"]) == "ipv4:10.0.0.1:5,10.0.0.2:5"
    assert target_of(["table:50051"]) == "dns:///table:50051"
    assert target_of(["dns:///table.ns:50051"]) == "dns:///table.ns:50051"
    with pytest.raises(ValueError, match="must be numeric"):
        target_of(["one:1", "two:2"])
