"""Handlers and payloads of the call measurements."""

from __future__ import annotations

from typing import Any

import orjson

__all__ = ["ECHO", "NOOP", "REWORK", "SUMMARISE", "kinds", "payload"]

NOOP = """
function invoke(ctx, request)
  return {ok = true, result = {}}
end
"""
REWORK = """
function invoke(ctx, request)
  local total, named, tags = 0, 0, {}
  for _, item in ipairs(request.payload.items) do
    total = total + item.score
    if #item.name > 8 then named = named + 1 end
    for _, tag in ipairs(item.tags) do tags[tag] = (tags[tag] or 0) + 1 end
  end
  return {ok = true, result = {total = total, named = named, tags = tags, items = request.payload.items}}
end
"""


SUMMARISE = REWORK.replace(", items = request.payload.items", "")
ECHO = """
function invoke(ctx, request)
  return {ok = true, result = request.payload}
end
"""


def payload(size: int) -> dict[str, Any]:
    """Records of several types that come to about ``size`` bytes of JSON."""
    items: list[dict[str, Any]] = []
    while len(orjson.dumps({"items": items})) < size:
        n = len(items)
        tags = ["alpha", "beta"][: n % 3]
        items.append({"id": n, "name": f"item “{n}” of many", "score": n * 1.5, "tags": [*tags, "all"]})
    return {"items": items}


def kinds() -> dict[str, Any]:
    """Payloads of one kind each, by what they are."""
    deep: dict[str, Any] = {"leaf": "here"}
    for level in range(29):
        deep = {"level": level, "below": deep}
    return {
        "1000 floats": [n * 1.37 for n in range(1000)],
        "1000 ints": list(range(1000)),
        "1000 ints past 32 bits": [2**33 + n for n in range(1000)],
        "an object of 60 names": {f"name_{n}": (n, n * 0.5, f"text {n}")[n % 3] for n in range(60)},
        "500 objects of as many shapes": [{"id": n, f"field_{n}": n * 0.5, "name": f"item {n}"} for n in range(500)],
        "30 levels": deep,
        "50 rows of 20 names": [{f"column_{c}": r * c for c in range(20)} for r in range(50)],
        "16 KB of text": "plain text, " * 1365,
        "16 KB of non-ASCII text": "größer “als” ñ, " * 810,
    }
