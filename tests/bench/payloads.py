"""Handlers and payloads of the call measurements."""

from __future__ import annotations

from typing import Any

import orjson

__all__ = ["NOOP", "SUMMARISE", "payload"]

NOOP = """
function invoke(ctx, request)
  return {ok = true, result = {}}
end
"""
SUMMARISE = """
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


def payload(size: int) -> dict[str, Any]:
    """Records of several types that come to about ``size`` bytes of JSON."""
    items: list[dict[str, Any]] = []
    while len(orjson.dumps({"items": items})) < size:
        n = len(items)
        tags = ["alpha", "beta"][: n % 3]
        items.append({"id": n, "name": f"item “{n}” of many", "score": n * 1.5, "tags": [*tags, "all"]})
    return {"items": items}
