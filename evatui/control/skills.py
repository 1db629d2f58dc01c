"""What may be asked about skills: each name to its answer, from the disk as it is now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from evatui.control.failing import CommandFailed
from evatui.control.lua_skills import lua_skill_of, lua_skills
from evatui.control.params import Params, read_needed
from evatui.control.skill_context import told_to_agents
from evatui.control.skill_rows import listed, shown, skill_json
from evatui.extensions.prompts.context import joined
from evatui.extensions.skills.catalogue import Catalogue
from evatui.extensions.skills.index import index
from evatui.kernel.admission.report import nearest
from evatui.kernel.model.call import Actor
from evatui.kernel.model.diagnostic import Level
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line
from evatui.runtime import Runtime

__all__ = ["SkillQueries"]


class SkillQueries:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.answers: Mapping[str, Callable[[Params, Actor], Awaitable[dict[str, Any]]]] = {
            "skill.list": self._list,
            "skill.show": self._show,
            "skill.index": self._index,
            "skill.context": self._context,
            "skill.doctor": self._doctor,
        }

    async def _list(self, params: Params, actor: Actor) -> dict[str, Any]:
        """Lua skills too, which are capabilities: neither index nor context holds them."""
        known = listed(await self._runtime.skills_now())
        skills = sorted((*known["skills"], *lua_skills(self._runtime)), key=lambda one: str(one["name"]))
        return {**known, "skills": skills}

    async def _show(self, params: Params, actor: Actor) -> dict[str, Any]:
        wanted = read_needed(params, "name")
        known = await self._runtime.skills_now()
        found = known.named(wanted)
        if found is not None:
            return shown(found)
        lua = lua_skill_of(self._runtime, wanted)
        if lua is None:
            raise _unknown(wanted, known)
        return lua

    async def _index(self, params: Params, actor: Actor) -> dict[str, Any]:
        return {"index": index((await self._runtime.skills_now()).skills)}

    async def _context(self, params: Params, actor: Actor) -> dict[str, Any]:
        """``{text, parts: [{why, name, location, text}]}``."""
        parts = await told_to_agents(self._runtime)
        told = [{"why": one.why, "name": one.name, "location": one.location, "text": one.text} for one in parts]
        return {"text": joined(parts), "parts": told}

    async def _doctor(self, params: Params, actor: Actor) -> dict[str, Any]:
        """`_list`, with only those skills that something is to be done about; ``ok``: there is nothing."""
        known = await self._runtime.skills_now()
        ailing = [one for one in known.skills if not one.available or one.diagnostics]
        answer = {**listed(known), "skills": [skill_json(one) for one in ailing]}
        wrong = any(one.reason == "missing" or _errors(one.diagnostics) for one in ailing)
        return {
            "ok": not (known.refused or wrong or known.problems),
            "counts": {
                "skills": len(known.skills),
                "available": sum(one.available for one in known.skills),
                "rejected": len(known.refused),
                "shadowed": sum(len(one.shadows) for one in known.skills),
            },
            **answer,
        }


def _errors(found: Iterable[Any]) -> bool:
    return any(one.level is Level.ERROR for one in found)


def _unknown(wanted: str, known: Catalogue) -> CommandFailed:
    shown_as = clean_line(wanted, 128)
    refused = [one for one in known.refused if wanted in (one.name, one.path)]
    if refused:
        diagnostics = [found.to_json() for one in refused for found in one.diagnostics]
        message = f"{clean_line(refused[0].path, 200)} is refused: {diagnostics[0]['message']}"
        context = {"diagnostics": diagnostics}
        return CommandFailed(ErrorKind.NOT_FOUND, message, suggestion="eva skill doctor", context=context)
    close = nearest(wanted[:200], [one.name for one in known.skills])
    suggestion = f"did you mean {clean_line(close, 128)}?" if close is not None else "eva skill list"
    return CommandFailed(ErrorKind.NOT_FOUND, f"no skill is called {shown_as}", suggestion=suggestion)
