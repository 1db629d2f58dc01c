"""One workspace at one moment, as every test of the console sees it: no clock, no host of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evatui.control.deciding import HeldRow
from evatui.control.snapshot import (
    AuditRow,
    Beside,
    CallRow,
    CapabilityRow,
    ConsoleSnapshot,
    Cursor,
    GenerationRow,
    Indicator,
    RejectionRow,
    RuntimeInfo,
    Transition,
)
from evatui.kernel.model.call import KERNEL, Actor, CallerType
from evatui.kernel.model.diagnostic import Diagnostic, Reason, Span
from evatui.kernel.model.event import Event
from evatui.kernel.model.lifecycle import State
from evatui.kernel.model.progress import Progress

DAY = "2026-05-04"
DIGEST = "9f2c4e11d0a7"


def at(time: str) -> str:
    return f"{DAY}T{time}.204Z"


def generation(id: str, number: int, version: str, state: State, **more: Any) -> GenerationRow:
    return GenerationRow(
        id=id, number=f"g{number}", version=version, state=state, since=at("14:02:11"), digest=DIGEST, **more
    )


def capability(id: str, number: int | None, **more: Any) -> CapabilityRow:
    version = more.pop("version", "1.2.0")
    state = more.pop("state", State.ACTIVE if number else State.REJECTED)
    serving = f"{id}@{version}+build.20260504.{number:03d}" if number else None
    fields: dict[str, Any] = {
        "name": id,
        "description": "",
        "kind": "lua_tool",
        "enabled": True,
        "priority": 50,
        "capabilities": (id.replace("-", "."),),
        "since": at("13:40:00"),
        "path": f"capabilities/{id}.yaml",
        "script": f"capabilities/tools/{id.replace('-', '_')}.lua",
        "number": f"g{number}" if number else None,
        "generations": (generation(id, number, version, state),) if number else (),
    }
    return CapabilityRow(id=id, version=version, state=state, generation=serving, **(fields | more))


def step(seq: int, time: str, id: str, number: int, old: State | None, new: State, actor: str = "watch") -> Transition:
    return Transition(
        seq=seq, at=at(time), id=id, generation=f"{id}@1.2.0", number=f"g{number}", old=old, new=new, actor=actor
    )


RENDERED = """\
EVA-204 unknown key `timeout_s` under `limits`
  --> capabilities/weather-radar.yaml:18:3
   |
17 | limits:
18 |   timeout_s: 5
   |   ^^^^^^^^^ not a limit
   |
   = why: a key that is not understood would silently not apply
   = fix: write `timeout_ms: 5000`"""


def refused(
    key: str = "weather-radar", *, path: str = "capabilities/weather-radar.yaml", serving: str | None = "g38"
) -> RejectionRow:
    diagnostic = Diagnostic(
        "EVA-204",
        Reason.MANIFEST_INVALID,
        "unknown key `timeout_s` under `limits`",
        (Span(path, 18, 3),),
        rendered=RENDERED,
    )
    return RejectionRow(
        key=key, id=key, path=path, at=at("14:02:10"), digest=DIGEST, serving=serving, diagnostics=(diagnostic,)
    )


def held(id: str = "radar-feed", **more: Any) -> HeldRow:
    """A version that asks for one more host and waits for approval."""
    path = f"capabilities/{id}.yaml"
    message = 'network.hosts is wider than before, by "b.example.org"'
    rendered = f"EVA-430 {message}\n --> {path}:9:32\n  |\n9 |   network: {{hosts: [a.example.org, b.example.org]}}"
    diagnostic = Diagnostic("EVA-430", Reason.APPROVAL_REQUIRED, message, (Span(path, 9, 32),), rendered=rendered)
    fields: dict[str, Any] = {
        "path": path,
        "digest": "ab" * 32,
        "number": "g43",
        "since": at("14:02:10"),
        "serving": "g38",
        "waits_for": "approval",
        "change_class": "approval",
        "permissions": (
            field("fs.read", "narrowed", ["workspace"], [], lost=["workspace"]),
            field(
                "network.hosts",
                "widened",
                ["a.example.org"],
                ["a.example.org", "b.example.org"],
                gained=["b.example.org"],
            ),
            field("env", "unchanged", ["API_KEY"], ["API_KEY"]),
            field("limits.timeout_ms", "widened", [5000], [30000]),
        ),
        "diagnostics": (diagnostic,),
    }
    return HeldRow(id=id, **(fields | more))


def field(path: str, change: str, before: list[Any], after: list[Any], **more: list[Any]) -> dict[str, Any]:
    return {"path": path, "change": change, "from": before, "to": after, "gained": [], "lost": []} | more


def trust_data() -> dict[str, Any]:
    """What ``trust.show`` answers of a workspace with one part that nobody trusts yet."""
    part = {
        "name": "capability radar-feed",
        "digest": "22" * 32,
        "status": "changed",
        "power": {
            "network": {"hosts": ["radar.example.org"], "methods": ["GET"]},
            "shell": {"commands": [["git", "status"]]},
            "env": ["API_KEY"],
            "credentials": {"API_KEY": {"hosts": ["radar.example.org"], "header": "Authorization"}},
        },
        "files": {"capabilities/radar-feed.yaml": "3f2a" * 16, "capabilities/tools/radar_feed.lua": "77b0" * 16},
        "changed": ["capabilities/tools/radar_feed.lua: changed"],
    }
    return {"vouched": False, "digest": "11" * 32, "parts": [part]}


def record(seq: int, time: str, capability_id: str, *, error: str = "", took: int = 41_200, code: str = "") -> AuditRow:
    generation_id = f"{capability_id}@1.2.0+build.20260504.041"
    whole = {
        "seq": seq,
        "at": at(time),
        "code": code or ("call.error" if error else "call.ok"),
        "outcome": "error" if error else "ok",
        "actor": {"type": "user", "id": "rico"},
        "capability_id": capability_id,
        "generation": generation_id,
        "request_id": f"req_{seq:024x}",
        "duration_us": took,
        "error_kind": error or None,
        "input": {"bytes": 18, "digest": DIGEST},
        "host_calls": [{"fn": "fs_read_text", "target": "README.md", "duration_us": 310, "outcome": "ok"}],
        "prev": DIGEST * 5,
    }
    return AuditRow(
        seq=seq,
        at=at(time),
        code=str(whole["code"]),
        outcome=str(whole["outcome"]),
        actor="rico",
        capability_id=capability_id,
        capability=capability_id.replace("-", "."),
        generation=generation_id,
        request_id=str(whole["request_id"]),
        duration_us=took,
        error_kind=error,
        record=whole,
    )


def capabilities() -> tuple[CapabilityRow, ...]:
    summary = capability(
        "repo-summary",
        42,
        description="Counts the files of a folder and names its languages",
        in_flight=3,
        calls=1204,
        generations=(
            generation("repo-summary", 42, "1.2.0", State.ACTIVE, in_flight=3),
            generation("repo-summary", 41, "1.1.9", State.DRAINING, in_flight=2, restorable=True),
            generation("repo-summary", 37, "1.1.8", State.UNREGISTERED, restorable=True),
        ),
        beside=(Beside(what="draining", number="g41", calls=2, seconds_left=8.0),),
        trail=(
            step(40, "14:02:11", "repo-summary", 42, None, State.PENDING),
            step(41, "14:02:11", "repo-summary", 42, State.PENDING, State.SHADOW),
            step(42, "14:02:11", "repo-summary", 42, State.SHADOW, State.ACTIVE),
            step(43, "14:02:11", "repo-summary", 41, State.ACTIVE, State.DRAINING),
        ),
    )
    radar = capability(
        "weather-radar",
        38,
        description="Rain over a place, from the last radar picture",
        on_disk="rejected",
        calls=77,
        errors=4,
        side_effects="mutating",
        beside=(Beside(what="refused", code="EVA-204", place="weather-radar.yaml:18"),),
    )
    return (
        capability("adapter-result-simplify", 12, calls=31, description="Shortens what an adapter answers"),
        capability("config-validate", 9, calls=5, description="Checks a project's configuration"),
        capability("prompt-compose", 14, version="2.0.1", calls=212, in_flight=1),
        summary,
        capability("scale-report", None, state=State.DISABLED, reason="drained"),
        capability("topic-normalize", 31, calls=9903, description="A topic in its canonical form"),
        radar,
        capability("weather-tides", None, reason="schema_missing"),
    )


def calls() -> tuple[CallRow, ...]:
    """One that has nearly used up its time on a version that drains, one in a host call, and one that waits."""

    def call(number: int, id: str, generation: str, elapsed_ms: float, **more: Any) -> CallRow:
        fields: dict[str, Any] = {
            "caller": "rico",
            "started_at": at("14:02:10"),
            "deadline_ms": 30_000.0,
            "generation": f"{id}@1.2.0" if generation else "",
        }
        return CallRow(
            request_id=f"req_{number:024x}",
            capability_id=id,
            number=generation,
            elapsed_ms=elapsed_ms,
            **(fields | more),
        )

    return (
        call(1, "repo-summary", "g41", 26_400.0, host_call="fs_read_text src/main.lua"),
        call(2, "repo-summary", "g42", 1_200.0, progress=Progress(4, 10, "reading src")),
        call(3, "weather-radar", "", 400.0, queued=True, caller="mcp:desk"),
    )


def scene(**changes: Any) -> ConsoleSnapshot:
    rows = capabilities()
    fields: dict[str, Any] = {
        "at": at("14:02:12"),
        "runtime": RuntimeInfo(pid=4182, host="devbox-07", workspace="evatui", since=at("11:00:00"), mode="normal"),
        "cursor": Cursor(),
        "counts": {
            State.PENDING: 0,
            State.SHADOW: 0,
            State.ACTIVE: 6,
            State.DRAINING: 1,
            State.DISABLED: 1,
            State.REJECTED: 2,
            State.UNREGISTERED: 4,
        },
        "capabilities": rows,
        "rejections": (
            refused(),
            refused("weather-tides", path="capabilities/weather-tides.yaml", serving=None),
        ),
        "calls": (replace(calls()[1], progress=None),),
        "transitions": rows[3].trail,
        "events": reload_events(),
        "audit": (
            record(101, "14:01:40", "topic-normalize", took=940),
            record(102, "14:01:58", "weather-radar", error="HandlerError", took=1_240_000),
            record(103, "14:02:03", "repo-summary"),
            record(104, "14:02:09", "prompt-compose", took=12_400),
            record(105, "14:02:11", "repo-summary", code="capability.published", took=0),
        ),
        "dropped": 0,
        "watch": Indicator(ok=True),
        "health": Indicator(ok=True),
        "manifests_in": ("capabilities",),
    }
    return ConsoleSnapshot(**(fields | changes))


def reload_events(*, seq: int = 1) -> tuple[Event, ...]:
    """A cold start, a reload, one that is refused, one that waits, a canary that is taken back, and a rollback."""
    told: list[Event] = []

    def tell(what: str, time: str, id: str, number: int | None, before: int | None = None, **more: Any) -> None:
        cause = more.pop("cause", None)
        payload = {
            "id": id,
            "generation": name(id, number) if number else None,
            "from_generation": name(id, before) if before else None,
            "state": "",
            "reason": None,
            "diagnostics": [],
        }
        who = Actor(CallerType.USER, "rico") if cause else KERNEL
        event_id = f"evt_{seq + len(told):024x}"
        told.append(Event(seq + len(told), event_id, f"/capability/{what}", at(time), who, cause, payload | more))

    def name(id: str, number: int) -> str:
        return f"{id}@1.2.0+build.20260504.{number:03d}"

    tell("loading", "11:00:00", "repo-summary", None)
    tell("loaded", "11:00:00", "repo-summary", 41)
    tell("loading", "13:58:40", "weather-radar", None, 38)
    diagnostic = {
        "code": "EVA-204",
        "message": "unknown key `timeout_s` under `limits`",
        "spans": [{"file": "capabilities/weather-radar.yaml", "line": 18, "column": 3}],
    }
    refusal = {"reason": "manifest_invalid", "diagnostics": [diagnostic]}
    tell("reload_failed", "13:58:41", "weather-radar", None, 38, **refusal)
    tell("loading", "13:59:02", "prompt-compose", None, 14)
    tell("approval_required", "13:59:02", "prompt-compose", 15, 14, reason="approval_required")
    tell("loading", "14:00:10", "topic-normalize", None, 31)
    tell("loaded", "14:00:10", "topic-normalize", 39, 31)
    tell("canary_started", "14:00:10", "topic-normalize", 39, 31, reason="10 %")
    failed = "fail: 3 of 9 calls failed, 0 of 80 beside it"
    tell("canary_aborted", "14:01:30", "topic-normalize", 39, 31, reason=failed)
    tell("draining", "14:01:30", "topic-normalize", 39)
    tell("loading", "14:02:11", "repo-summary", None, 41)
    tell("loaded", "14:02:11", "repo-summary", 42, 41)
    tell("draining", "14:02:11", "repo-summary", 41)
    tell("draining", "14:02:12", "scale-report", 8, reason="drained", cause="req_0000000000000000000000aa")
    return tuple(told)
