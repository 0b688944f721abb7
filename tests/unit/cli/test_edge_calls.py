"""Where a program that plays through the edge says that it comes from."""

from __future__ import annotations

import aiohttp
import pytest

from services.cli.edge_calls import EdgeCalls


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("http://eastwind:80", "http://eastwind"),
        ("https://play.example.org:443/", "https://play.example.org"),
        ("https://play.example.org", "https://play.example.org"),
        ("http://127.0.0.1:8808", "http://127.0.0.1:8808"),
        ("http://[::1]:8808", "http://[::1]:8808"),
    ],
)
async def test_its_origin_is_named_as_a_browser_would(address: str, origin: str) -> None:
    """A gateway compares it with the host of the request, where a port that goes without saying is left out."""
    async with aiohttp.ClientSession() as http:
        assert EdgeCalls(address, http).origin == origin
