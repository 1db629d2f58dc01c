"""What a server gets that asks for input in mid-call, where the manifest lets it ask at all.

There is nobody to ask, and nothing of ours goes out: the answer is made of the defaults of the server's own form. One
that cannot be filled in with those, and an address to go to, are declined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from evatui.kernel.model.text import clean_line

if TYPE_CHECKING:
    from mcp.client.session import ElicitationFnT

__all__ = ["by_defaults", "filled_in"]

_MAX_FIELDS: Final = 100


def filled_in(form: Mapping[str, Any]) -> dict[str, Any] | None:
    """The defaults of a form, by field; None where a required field has none."""
    fields = form.get("properties")
    if not isinstance(fields, Mapping) or len(fields) > _MAX_FIELDS:
        return None
    found = {name: field["default"] for name, field in fields.items() if _has_default(field)}
    required = form.get("required") or ()
    return found if isinstance(required, list | tuple) and all(name in found for name in required) else None


def _has_default(field: Any) -> bool:
    """Forms are flat: texts, numbers, yes or no, and choices of several texts."""
    if not isinstance(field, Mapping):
        return False
    value = field.get("default")
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str | int | float | bool)


def by_defaults(tell: Callable[[str, Mapping[str, Any]], None]) -> ElicitationFnT:
    """The SDK's callback. ``tell`` hears of every question, and how it was answered."""
    from mcp.types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult

    async def answer(context: object, params: ElicitRequestParams) -> ElicitResult:
        form = params.requested_schema if isinstance(params, ElicitRequestFormParams) else {}
        content = filled_in(form)
        result = ElicitResult(action="decline") if content is None else ElicitResult(action="accept", content=content)
        tell("asked", {"message": clean_line(params.message, 400), "answer": result.action})
        return result

    return answer
