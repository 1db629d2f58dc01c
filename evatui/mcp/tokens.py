"""Whose a bearer token is. The token itself goes no further than this: what is asked and kept is its SHA-256."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

from mcp.server.auth.provider import AccessToken, TokenVerifier

from evatui.control.failing import CommandFailed
from evatui.mcp.asking import Runs

__all__ = ["LOCAL", "SCOPE", "Unreachable", "Verifier"]

LOCAL = "local"
"""The principal of the token that we made ourselves; the runtime knows it by that name."""
SCOPE = "tools"
_MAX_TOKEN = 4_096


class Unreachable(Exception):
    """Nobody can say whose a token is: that is no reason to tell its owner that it is wrong."""


class Verifier(TokenVerifier):
    """Asks the runtime anew for every request: a client that the policy no longer names is out at once.

    Where there is no runtime, only a token that was good when one was there last starts another.
    """

    def __init__(self, runs: Runs, resource: str, own: str | None) -> None:
        self._runs = runs
        self._resource = resource
        self._own = _digest(own) if own is not None else None
        self._good: frozenset[str] = frozenset()

    async def learn(self) -> None:
        """Whose tokens are good now. Raises `CommandFailed`."""
        await self._identify(_digest(""), starts=False)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Raises `Unreachable`."""
        digest = _digest(token[:_MAX_TOKEN])
        try:
            told = await self._identify(digest, starts=digest in self._good or self._is_own(digest))
        except CommandFailed as failed:
            raise Unreachable from failed
        principal = told["principal"]
        if not told["named"] and self._is_own(digest):
            principal = LOCAL
        if principal is None:
            return None
        scopes = [SCOPE] if told["sees"] or principal == LOCAL else []
        return AccessToken(token=digest, client_id=principal, scopes=scopes, resource=self._resource)

    async def _identify(self, digest: str, *, starts: bool) -> dict[str, Any]:
        told = await self._runs.run("mcp.identify", starts=starts, token_sha256=digest)
        self._good = frozenset(told["named"])
        return told

    def _is_own(self, digest: str) -> bool:
        return self._own is not None and hmac.compare_digest(digest, self._own)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
