"""How a command fails, whichever way it came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evatui.kernel.model.errors import ErrorKind

__all__ = ["CommandFailed"]


class CommandFailed(Exception):
    """A command that was refused or failed; the fields are those of the error that ``eva -o json`` prints."""

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        retryable: bool = False,
        suggestion: str = "",
        context: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retryable = retryable
        self.suggestion = suggestion
        self.context = dict(context or {})
        self.data = data

    @property
    def hint(self) -> str:
        """The suggestion as a person reads it; a question stands for itself."""
        if not self.suggestion or self.suggestion.endswith("?"):
            return self.suggestion
        return f"try: {self.suggestion}"

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind.value,
            "message": self.message,
            "retryable": self.retryable,
            "suggestion": self.suggestion,
            "context": self.context,
        }
