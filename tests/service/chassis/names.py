"""A name server on the loopback interface, as small as one that knows a single name can be."""

from __future__ import annotations

import asyncio
import ipaddress
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, cast

_A: Final = 1
_IN: Final = 1
_ANSWER_WITH_RECURSION: Final = 0x8180
_TTL_S: Final = 1


class NameServer(asyncio.DatagramProtocol):
    """Answers every question for an IPv4 address with `addresses`, as a headless service of Kubernetes does."""

    def __init__(self) -> None:
        self.addresses: list[str] = []
        self.port = 0
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)
        self.port = transport.get_extra_info("sockname")[1]

    def datagram_received(self, data: bytes, address: tuple[str | object, int]) -> None:
        number, _, questions, *_ = struct.unpack_from("!6H", data)
        end = 12
        while data[end]:
            end += data[end] + 1
        (kind,) = struct.unpack_from("!H", data, end + 1)
        question = data[12 : end + 5]
        found = self.addresses if kind == _A else []
        answers = b"".join(
            struct.pack("!HHHIH", 0xC00C, _A, _IN, _TTL_S, 4) + ipaddress.IPv4Address(each).packed for each in found
        )
        header = struct.pack("!6H", number, _ANSWER_WITH_RECURSION, questions, len(found), 0, 0)
        assert self._transport is not None
        self._transport.sendto(header + question + answers, address)

    def target(self, port: int) -> str:
        """The gRPC target that asks this server."""
        return f"dns://127.0.0.1:{self.port}/replicas.eastwind.test:{port}"


@asynccontextmanager
async def open_names() -> AsyncIterator[NameServer]:
    """A name server, for the length of the block."""
    transport, names = await asyncio.get_running_loop().create_datagram_endpoint(
        NameServer, local_addr=("127.0.0.1", 0)
    )
    yield names
    transport.close()
