"""Page tokens: where a list goes on, in a form that clients can neither read into nor make up.

A token is bound to the list that it was given for: its method and the parameters of the request.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Sequence

from libs.chassis.errors import InvalidRequest
from libs.chassis.settings import ServiceSettings

DEFAULT_PAGE = 20
LARGEST_PAGE = 100
_SIGNATURE_BYTES = 16
_LONGEST_TOKEN = 1024

Position = str | int | float


class PageTokenInvalid(InvalidRequest):
    """The token is not from this list."""

    reason = "PAGE_TOKEN_INVALID"

    def __init__(self) -> None:
        super().__init__("the page token is not from this list")


class PageTokens:
    """Writes and reads the tokens of a service. Replicas with the same service key read each other's."""

    def __init__(self, settings: ServiceSettings) -> None:
        keys = [part.strip() for part in settings.service_key.get_secret_value().split(",")]
        self._keys = [hashlib.sha256(b"eastwind page token:" + key.encode()).digest() for key in keys if key]

    def write(self, of_list: Sequence[str], position: Sequence[Position]) -> str:
        """The token of a list that goes on after `position`, the sort key of the last item shown."""
        content = json.dumps(list(position), separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(_signature(self._keys[0], of_list, content) + content).decode().rstrip("=")

    def read(self, of_list: Sequence[str], token: str, kinds: Sequence[type[Position]]) -> list[Position] | None:
        """The position that `write` was given, whose parts are of these `kinds`; `None` for no token: the first page.

        Raises `PageTokenInvalid` for a token that is not from this list.
        """
        if not token:
            return None
        try:
            if len(token) > _LONGEST_TOKEN or "=" in token:
                raise PageTokenInvalid
            raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise PageTokenInvalid from None
        signature, content = raw[:_SIGNATURE_BYTES], raw[_SIGNATURE_BYTES:]
        if not any(hmac.compare_digest(signature, _signature(key, of_list, content)) for key in self._keys):
            raise PageTokenInvalid
        position: list[Position] = json.loads(content)
        if [type(part) for part in position] != list(kinds):
            raise PageTokenInvalid
        return position


def page_size(wanted: int) -> int:
    """How many items a page has, of those that a request wants; 0 leaves it to us."""
    return min(wanted or DEFAULT_PAGE, LARGEST_PAGE)


def _signature(key: bytes, of_list: Sequence[str], content: bytes) -> bytes:
    bound = json.dumps(list(of_list)).encode() + b"\n" + content
    return hmac.digest(key, bound, "sha256")[:_SIGNATURE_BYTES]
