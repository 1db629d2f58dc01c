"""``eva capability …``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from evatui.cli.answer import Answer, failed_response
from evatui.cli.authoring import add_authoring
from evatui.cli.completing import CapabilityId, CapabilityName
from evatui.cli.given import GUARD, Payload, Tag
from evatui.cli.inspect import show_inspected
from evatui.cli.options import Settings, Words
from evatui.cli.progress import progress_line
from evatui.cli.refused import show_rejections
from evatui.cli.rollout import add_rollout
from evatui.cli.screen import Screen
from evatui.cli.show import show_capabilities, show_difference, show_history, show_plan, show_receipt
from evatui.cli.show_graph import show_graph
from evatui.cli.testing import test
from evatui.control.exits import Exit, exit_for
from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind

__all__ = ["capability"]


@click.group(cls=Words)
def capability() -> None:
    """See, call and change capabilities."""


@capability.command("list")
@click.pass_obj
def list_(settings: Settings) -> Answer:
    """Every capability with its state."""
    data = settings.ask("capability.list")
    return Answer(data, partial(show_capabilities, data=data))


@capability.command()
@click.argument("id", type=CapabilityId())
@click.pass_obj
def inspect(settings: Settings, id: str) -> Answer:
    """One capability: manifest, permissions, digests, generations, limits."""
    data = settings.ask("capability.inspect", id=id)
    return Answer(data, partial(show_inspected, data=data))


@capability.command()
@click.argument("id", type=CapabilityId())
@click.pass_obj
def health(settings: Settings, id: str) -> Answer:
    """Run the health check of the serving generation."""
    data = settings.ask("capability.health", id=id)
    failed = None if data["ok"] else failed_response(data.get("error"), data)
    word = "✗ unhealthy" if failed else "● healthy"
    line = f"{word}  {data.get('generation') or id}  {data['duration_ms']} ms"
    return Answer(data, lambda screen: screen.line(line), exit_for(failed) if failed else Exit.OK, failed)


@capability.command()
@click.argument("name", type=CapabilityName())
@click.option("--provider", metavar="ID", help="The capability that is to answer.")
@click.option("--payload", type=Payload(), default="{}", help="The request; default: {}.")
@click.option("--user", help="In whose name the call is made.")
@click.option("--tag", "tags", type=Tag(), multiple=True, help="A tag of the request; may be repeated.")
@click.option("--timeout-ms", type=click.IntRange(min=1), help="Shorten the capability's own limit.")
@click.pass_obj
def call(settings: Settings, /, name: str, tags: tuple[tuple[str, str], ...], **given: Any) -> Answer:
    """Call a capability by a name that it provides."""
    params = {key: value for key, value in given.items() if key == "payload" or value is not None}
    with progress_line(settings, name) as on_progress:
        data = settings.call(on_progress, name=name, tags=dict(tags), **params)
    suggestion = data.pop("suggestion", "")
    response = data["response"]
    failed = None if response["ok"] else failed_response(response.get("error"), data, suggestion)
    return Answer(data, partial(_show_call, data=data), exit_for(failed) if failed else Exit.OK, failed)


def _show_call(screen: Screen, data: Mapping[str, Any]) -> None:
    response = data["response"]
    if response["ok"]:
        screen.value(response["result"])
    screen.note(f"{data.get('generation') or '–'}  {data['duration_ms']} ms  {data['request_id']}")


@capability.command()
@click.argument("ids", type=CapabilityId(), nargs=-1, metavar="[ID]...")
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@click.option("--plan", metavar="DIGEST", help="Refuse unless the plan is still this one.")
@click.option("--exit-code", is_flag=True, help="Exit with 10 if something changes or would change.")
@GUARD
@click.pass_obj
def reload(settings: Settings, /, ids: tuple[str, ...], dry_run: bool, exit_code: bool, **guards: str | None) -> Answer:
    """Read the disk again and publish what is sound; without ID: everything."""
    guard = {key: value for key, value in guards.items() if value}
    if dry_run and guard:
        raise click.UsageError("--plan and --if-generation are for what is switched, and --dry-run switches nothing")
    if "if_generation" in guard and len(ids) != 1:
        raise click.UsageError("--if-generation is of one capability: give its ID")
    data = settings.ask("capability.plan" if dry_run else "capability.reload", ids=list(ids), **guard)
    code, failed = _verdict(data, exit_code)
    return Answer(data, partial(show_plan, data=data), code, failed)


def _verdict(data: Mapping[str, Any], exit_code: bool) -> tuple[Exit, CommandFailed | None]:
    """A refusal outweighs a hold, and both outweigh the mere news that something changes."""
    found = [change["action"] for change in data["changes"]]
    for action, kind, said, suggestion in (
        ("reject", ErrorKind.INVALID_INPUT, "refused", "eva capability explain-rejected"),
        ("hold", ErrorKind.POLICY_DENIED, "held", "eva capability explain-rejected"),
    ):
        if count := found.count(action):
            failed = CommandFailed(kind, f"{count} of {len(found)} {said}", suggestion=suggestion, data=data)
            return exit_for(failed), failed
    changes = any(action != "unchanged" for action in found)
    return (Exit.CHANGES if exit_code and changes else Exit.OK), None


@capability.command("explain-rejected")
@click.argument("id", type=CapabilityId(), required=False)
@click.option("--digest", metavar="D", help="The refusal of these very bytes; the beginning of the digest will do.")
@click.pass_obj
def explain_rejected(settings: Settings, id: str | None, digest: str | None) -> Answer:
    """Why manifests were refused: file, line, rule, and what to do; with ID also what was refused earlier."""
    given = {"id": id, "digest": digest}
    data = settings.ask("capability.explain_rejected", **{key: value for key, value in given.items() if value})
    return Answer(data, partial(show_rejections, data=data))


def _receipt(settings: Settings, command: str, **params: Any) -> Answer:
    given = {key: value for key, value in params.items() if value is not None}
    data = settings.ask(command, **given)
    return Answer(data, partial(show_receipt, data=data))


@capability.command()
@click.argument("id", type=CapabilityId())
@click.option("--force", is_flag=True, help="Cut the running calls at once, also those of versions that drain already.")
@GUARD
@click.pass_obj
def drain(settings: Settings, id: str, force: bool, if_generation: str | None) -> Answer:
    """Take no new calls and let the running ones end; holds until enable."""
    return _receipt(settings, "capability.drain", id=id, force=force or None, if_generation=if_generation)


@capability.command()
@click.argument("id", type=CapabilityId())
@GUARD
@click.pass_obj
def disable(settings: Settings, id: str, if_generation: str | None) -> Answer:
    """Switch a capability off; holds until enable."""
    return _receipt(settings, "capability.disable", id=id, if_generation=if_generation)


@capability.command()
@click.argument("id", type=CapabilityId())
@GUARD
@click.pass_obj
def enable(settings: Settings, id: str, if_generation: str | None) -> Answer:
    """Switch a drained or disabled capability on again, and take a demoted one back into the process."""
    return _receipt(settings, "capability.enable", id=id, if_generation=if_generation)


@capability.command()
@click.argument("id", type=CapabilityId())
@click.option("--to", metavar="GENERATION", help="The generation to serve again; default: the previous one.")
@click.option("--lose-state", is_flag=True, help="Also where it does not see what was stored under a newer schema.")
@GUARD
@click.pass_obj
def rollback(settings: Settings, id: str, to: str | None, lose_state: bool, if_generation: str | None) -> Answer:
    """Serve an earlier generation again.

    Where that loses state it is refused, and says which keys; --lose-state or --if-generation says that it is meant.
    """
    lose = {"lose_state": True} if lose_state or if_generation else {}
    return _receipt(settings, "capability.rollback", id=id, to=to, if_generation=if_generation, **lose)


@capability.command()
@click.argument("id", type=CapabilityId())
@GUARD
@click.pass_obj
def retry(settings: Settings, id: str, if_generation: str | None) -> Answer:
    """Try again what the disk holds, also where it was rolled back."""
    return _receipt(settings, "capability.retry", id=id, if_generation=if_generation)


@capability.command()
@click.argument("id", type=CapabilityId())
@click.argument("old", required=False, metavar="[A]")
@click.argument("new", required=False, metavar="[B]")
@click.pass_obj
def diff(settings: Settings, id: str, old: str | None, new: str | None) -> Answer:
    """What changed from generation A to B; default: from the one before to what serves. B may be `disk`."""
    given = {key: value for key, value in (("old", old), ("new", new)) if value is not None}
    data = settings.ask("capability.diff", id=id, **given)
    return Answer(data, partial(show_difference, data=data))


@capability.command()
@click.pass_obj
def graph(settings: Settings) -> Answer:
    """Who calls whom, in which order, and who would miss whom."""
    data = settings.ask("capability.graph")
    return Answer(data, partial(show_graph, data=data))


@capability.command()
@click.argument("id", type=CapabilityId())
@click.pass_obj
def history(settings: Settings, id: str) -> Answer:
    """Every generation of a capability, the newest first, and which rollback can bring back."""
    data = settings.ask("capability.history", id=id)
    return Answer(data, partial(show_history, data=data))


@capability.command()
@click.argument("id", type=CapabilityId())
@click.option("--digest", required=True, metavar="D", help="Of the version that waits, as list and reload show it.")
@click.option("--revoke", is_flag=True, help="Forget an approval that has not taken effect.")
@GUARD
@click.pass_obj
def approve(settings: Settings, id: str, digest: str, revoke: bool, if_generation: str | None) -> Answer:
    """Let a version that waits for approval go into service; bound to these very bytes."""
    if revoke:
        return _receipt(settings, "capability.revoke", id=id, digest=digest, if_generation=if_generation)
    return _receipt(settings, "capability.approve", id=id, digest=digest, if_generation=if_generation)


add_authoring(capability)
add_rollout(capability)
capability.add_command(test)
