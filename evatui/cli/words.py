"""The tree of words: the root, and what stands directly under it."""

from __future__ import annotations

import click

from evatui import __version__
from evatui.cli.options import Member, Words

__all__ = ["eva"]

_MEMBERS = {
    "audit": Member("evatui.cli.audit:audit", "Read what happened."),
    "bundle": Member("evatui.cli.bundle:bundle", "Write all that whoever helps wants to see into one archive."),
    "capability": Member("evatui.cli.capability:capability", "See, call and change capabilities."),
    "completion": Member("evatui.cli.telling:completion", "Print what makes a shell complete these words."),
    "doctor": Member(
        "evatui.cli.doctor:doctor", "Look at the terminal, the sandbox, limits, permissions, libraries, devices."
    ),
    "events": Member("evatui.cli.events:events", "What happens: the newest events, and each new one."),
    "explain": Member("evatui.cli.telling:explain", "What a diagnostic code means, and how to mend it."),
    "freeze": Member("evatui.cli.runtime:freeze", "Let what changes by itself wait until thaw."),
    "hardware": Member("evatui.cli.hardware:hardware", "See devices, and say which is which."),
    "init": Member("evatui.cli.hosting:init", "Make a workspace from the bundled samples."),
    "mcp": Member("evatui.cli.mcp:mcp", "Serve capabilities to MCP clients, and see who uses them."),
    "metrics": Member("evatui.cli.telling:metrics_text", "Counts and latencies, as Prometheus reads them."),
    "plugin": Member("evatui.cli.plugin:plugin", "See, call, check and sign plugins."),
    "runtime": Member("evatui.cli.runtime:runtime", "Operate the runtime itself."),
    "schema": Member("evatui.cli.authoring:schema", "JSON Schemas of the files that people write."),
    "serve": Member("evatui.cli.hosting:serve", "Hold the workspace without a console."),
    "skill": Member("evatui.cli.skill:skill", "See the skills that agents are told of."),
    "state": Member("evatui.cli.state:state", "See and delete what capabilities have stored."),
    "status": Member("evatui.cli.telling:status", "What holds the workspace, and how it is."),
    "thaw": Member("evatui.cli.runtime:thaw", "Publish what has waited since freeze, and go on."),
    "trust": Member("evatui.cli.trust:trust", "Trust what starts processes, connects or uses secrets here."),
    "cancel": Member("evatui.cli.cancelling:cancel", "End a call in flight, or all of a generation."),
    "why": Member("evatui.cli.why:why", "How something came to be as it is, and what to do."),
}


@click.group(cls=Words, members=_MEMBERS)
@click.version_option(__version__, prog_name="eva")
def eva() -> None:
    """Run and operate a workspace of capabilities.

    Exit codes: 0 ok, 1 internal, 2 invalid or refused, 3 policy, 4 unavailable, 5 limit or cancelled,
    6 the handler's own error, 10 something would change (--exit-code), 64 usage.
    """
