"""What goes by an id or a name, and what was meant by one that nothing goes by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import islice

from evatui.control.failing import CommandFailed
from evatui.control.params import Params, read_ids, read_needed, read_text
from evatui.kernel.model.call import CallerType, CallReport, CallRequest
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.ids import fold
from evatui.kernel.model.manifest import Manifest
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.capability import Capability
from evatui.runtime import Runtime

__all__ = ["known", "meant_by_call", "meant_by_id", "meant_by_name", "suggestion"]

_LIST = "eva capability list"
_OPERATORS = frozenset({CallerType.USER, CallerType.CLI})
_ALIKE = 0.8
"""How much of two words must be the same."""
_LONGEST = 200
_COMPARED = 150
"""As many words are looked at closely: the runtime does nothing else meanwhile."""


def known(runtime: Runtime, capability_id: str) -> Capability:
    """Raises `CommandFailed` ``NotFound``."""
    found = runtime.registry.capabilities.get(capability_id)
    if found is None:
        message = f"no capability with the id {clean_line(capability_id, 128)}"
        raise CommandFailed(ErrorKind.NOT_FOUND, message, suggestion=meant_by_id(runtime, capability_id))
    return found


def meant_by_id(runtime: Runtime, wanted: str, otherwise: str = _LIST) -> str:
    """What to suggest where no capability has that id; one of its names may have been given."""
    capabilities = [*_there(runtime)]
    ids = ((capability.id, capability.id) for capability in capabilities)
    names = ((name, capability.id) for capability in capabilities for name in _names(capability))
    return _suggested(wanted, [*ids, *names], otherwise)


def meant_by_name(runtime: Runtime, wanted: str) -> str:
    """What to suggest where nothing can be called by that name; the id may have been given."""
    capabilities = [(capability, _names(capability)) for capability in _there(runtime)]
    names = ((name, name) for _, names in capabilities for name in names)
    ids = ((capability.id, names[0]) for capability, names in capabilities if names)
    return _suggested(wanted, [*names, *ids])


def meant_by_call(runtime: Runtime, request: CallRequest, report: CallReport) -> str:
    """What to suggest to an operator after a call that nothing answers to, else empty."""
    error = report.response.error
    absent = error is not None and report.generation is None and error.details.get("reason") == "never_served"
    if not absent or request.caller.type not in _OPERATORS:
        return ""
    if why := _why_no_plugin(runtime, request.capability):
        return why
    providers = runtime.table.providers.get(request.capability)
    if request.provider is not None and providers:
        return _suggested(request.provider, [(key, key) for key in providers])
    return meant_by_name(runtime, request.capability)


def _why_no_plugin(runtime: Runtime, name: str) -> str:
    """Why a tool of a plugin that is there cannot be called at all, empty where it can, or where there is none."""
    known, (kind, _, rest) = runtime.plugging.catalogue.latest, name.partition(".")
    plugin = rest.partition(".")[0]
    if kind != "plugin" or not plugin:
        return ""
    listed = known.named(plugin)
    if listed is not None and listed.plugin.manifest.tool(rest.partition(".")[2]) is None:
        tools = [(tool.name, f"{kind}.{plugin}.{tool.name}") for tool in listed.plugin.manifest.tools]
        return _suggested(rest.partition(".")[2], tools, "eva plugin list")
    refused = [one.found.diagnostics[0] for one in known.refused if one.found.name == plugin and not one.instead]
    found = refused[:1] if refused else listed.diagnostics[-1:] if listed is not None and listed.reason else ()
    return f"{found[0].code} {found[0].message}: eva plugin verify {plugin}" if found else ""


def suggestion(runtime: Runtime, command: str, params: Params, kind: ErrorKind) -> str:
    """What to try after ``command`` has failed, empty where there is nothing to say."""
    if kind is ErrorKind.NOT_FOUND:
        if command == "capability.route":
            return meant_by_name(runtime, read_needed(params, "name"))
        if command == "call.cancel":
            return "eva plugin list" if read_needed(params, "what").startswith("task_") else ""
        ids = read_ids(params) or (read_text(params, "id") or "",)
        if command == "capability.rollback" and ids[0] in runtime.registry.capabilities:
            return f"eva capability history {clean_line(ids[0], 128)}"
        return meant_by_id(runtime, next((key for key in ids if key not in runtime.registry.capabilities), ""))
    if kind is ErrorKind.CONFLICT:
        return _to_look_at(command, str(params.get("id", "")))
    return ""


def _to_look_at(command: str, capability_id: str) -> str:
    """What tells how things stand by now."""
    if command == "capability.reload":
        return "eva capability reload --dry-run"
    of_one = capability_id and command.startswith(("capability.", "state."))
    return f"eva capability inspect {clean_line(capability_id, 128)}" if of_one else ""


def _there(runtime: Runtime) -> Iterator[Capability]:
    return (capability for capability in runtime.registry.capabilities.values() if not capability.gone)


def _names(capability: Capability) -> tuple[str, ...]:
    """By which an operator may call it, if it serves."""
    manifest = _manifest(capability)
    if manifest is None:
        return ()
    return (*manifest.provides, *([manifest.mcp.tool_name] if manifest.mcp else ()))


def _manifest(capability: Capability) -> Manifest | None:
    if capability.active is not None:
        return capability.active.manifest
    if capability.candidate is not None:
        return capability.candidate.manifest
    return capability.rejection.manifest if capability.rejection is not None else None


def _suggested(wanted: str, words: Iterable[tuple[str, str]], otherwise: str = _LIST) -> str:
    found = _nearest(wanted, words)
    return f"did you mean {clean_line(found, 200)}?" if found is not None else otherwise


def _nearest(wanted: str, words: Iterable[tuple[str, str]]) -> str | None:
    """``words`` are given with what each stands for. What differs in case or in separators only is the nearest."""
    size = len(wanted)
    if not 0 < size <= _LONGEST:
        return None
    form = _form(fold(wanted))
    near: dict[str, str] = {}
    for word, stands_for in words:
        if 2 * min(size, len(word)) >= _ALIKE * (size + len(word)):
            near.setdefault(_form(word), stands_for)
    if form in near:
        return near[form]
    close = get_close_matches(form, _few(form, near), 1, _ALIKE)
    return near[close[0]] if close else None


def _few(form: str, near: Iterable[str]) -> list[str]:
    """Those that begin or end as ``form`` does first: one slip of the hand leaves one half as it was."""
    half = len(form) // 2
    begin, end = form[:half], form[half:]
    alike = sorted(near, key=lambda word: not (word.startswith(begin) or word.endswith(end)))
    return [*islice(alike, _COMPARED)]


def _form(word: str) -> str:
    """Ids and names are plain letters, which need no more folding than this."""
    return word.casefold().replace(".", "-").replace("_", "-")
