"""The table of ``eva``: every command with examples that work in a workspace of ``eva init``, and what it asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["TABLE", "Line", "shown"]


@dataclass(frozen=True, slots=True)
class Line:
    """``words`` name the command; ``examples`` follow ``eva``, and the first is what a person wants most often.

    ``asks`` is the command of `evatui.control.commands.COMMANDS` that the first example comes to, empty where it
    asks no runtime. ``workspace``: it wants one.
    """

    words: str
    examples: tuple[str, ...]
    asks: str = ""
    workspace: bool = True


_LINES = (
    Line("init", ("init demo", "init demo --empty"), workspace=False),
    Line("status", ("status", "status -o json"), "status"),
    Line("doctor", ("doctor",), "doctor", workspace=False),
    Line("serve", ("serve", "serve --idle-exit 600", "serve --metrics 9464")),
    Line("capability list", ("capability list",), "capability.list"),
    Line("capability inspect", ("capability inspect topic-normalize",), "capability.inspect"),
    Line("capability health", ("capability health topic-normalize",), "capability.health"),
    Line(
        "capability call",
        (
            """capability call topic.normalize --payload '{"topic": "Größe & Maße"}'""",
            "capability call repo.summary --user ann --tag ring=beta",
            "capability call topic.normalize --payload @request.json --timeout-ms 500",
        ),
        "capability.call",
    ),
    Line(
        "capability reload",
        (
            "capability reload",
            "capability reload --dry-run --exit-code",
            "capability reload topic-normalize --plan DIGEST",
        ),
        "capability.reload",
    ),
    Line(
        "capability explain-rejected",
        ("capability explain-rejected", "capability explain-rejected repo-summary --digest 1f3a"),
        "capability.explain_rejected",
    ),
    Line("capability new", ("capability new lua_tool word-count",)),
    Line("capability render", ("capability render topic-normalize",), "capability.render"),
    Line(
        "capability drain",
        (
            "capability drain topic-normalize",
            "capability drain topic-normalize --if-generation g3",
            "capability drain topic-normalize --force",
        ),
        "capability.drain",
    ),
    Line("capability disable", ("capability disable topic-normalize",), "capability.disable"),
    Line("capability enable", ("capability enable topic-normalize",), "capability.enable"),
    Line(
        "capability rollback",
        ("capability rollback topic-normalize", "capability rollback topic-normalize --to g2"),
        "capability.rollback",
    ),
    Line("capability retry", ("capability retry topic-normalize",), "capability.retry"),
    Line("capability promote", ("capability promote topic-normalize",), "capability.promote"),
    Line("capability abort", ("capability abort topic-normalize",), "capability.abort"),
    Line("capability pause", ("capability pause topic-normalize",), "capability.pause"),
    Line("capability resume", ("capability resume topic-normalize",), "capability.resume"),
    Line(
        "capability undo",
        ("capability undo topic-normalize", "capability undo topic-normalize --dry-run"),
        "capability.undo",
    ),
    Line("capability route", ("capability route topic.normalize --user ann",), "capability.route"),
    Line(
        "capability diff",
        ("capability diff topic-normalize", "capability diff topic-normalize g2 disk"),
        "capability.diff",
    ),
    Line("capability graph", ("capability graph",), "capability.graph"),
    Line("capability history", ("capability history topic-normalize",), "capability.history"),
    Line("capability test", ("capability test", "capability test topic-normalize"), "capability.test"),
    Line(
        "capability approve",
        (
            "capability approve repo-summary --digest DIGEST",
            "capability approve repo-summary --digest DIGEST --revoke",
        ),
        "capability.approve",
    ),
    Line("trust", ("trust", "trust --dry-run", "trust --revoke"), "trust.give"),
    Line("state list", ("state list", "state list topic-normalize"), "state.list"),
    Line("state get", ("state get topic-normalize counter",), "state.get"),
    Line(
        "state delete",
        ("state delete topic-normalize counter", "state delete topic-normalize --all"),
        "state.delete",
    ),
    Line("hardware list", ("hardware list", "hardware list -o json"), "hardware.list"),
    Line(
        "hardware inspect",
        ("hardware inspect scale.main", "hardware inspect serial:0403:6001:s.FT-1234"),
        "hardware.inspect",
    ),
    Line("hardware plan", ("hardware plan scale.main",), "hardware.plan"),
    Line(
        "hardware claim",
        ("hardware claim scale.main", "hardware claim scale.main --force", "hardware claim scale.main --again"),
        "hardware.claim",
    ),
    Line(
        "hardware release", ("hardware release scale.main", "hardware release scale.main --force"), "hardware.release"
    ),
    Line(
        "hardware monitor",
        ("hardware monitor scale.main", "hardware monitor scale.main --follow --as hex --match 7b22"),
        "hardware.monitor",
    ),
    Line("hardware log", ("hardware log scale.main", "hardware log scale.main --off"), "hardware.log"),
    Line(
        "hardware simulate",
        ("hardware simulate scale none", "hardware simulate scale unplug", "hardware simulate scale mute"),
        "hardware.simulate",
    ),
    Line("hardware rescan", ("hardware rescan",), "hardware.rescan"),
    Line(
        "hardware bind",
        ("hardware bind serial:1a86:7523:t.1-2.3 scale.main", "hardware bind scale.main --remove"),
        "hardware.bind",
    ),
    Line("skill list", ("skill list", "skill list -o json"), "skill.list"),
    Line("skill show", ("skill show write-a-capability",), "skill.show"),
    Line("skill index", ("skill index",), "skill.index"),
    Line("skill context", ("skill context",), "skill.context"),
    Line("skill doctor", ("skill doctor",), "skill.doctor"),
    Line("plugin list", ("plugin list", "plugin list -o json"), "plugin.list"),
    Line(
        "plugin call",
        ("""plugin call word-stats.count --payload '{"text": "to be or not to be"}'""",),
        "capability.call",
    ),
    Line("plugin verify", ("plugin verify word-stats",), "plugin.verify"),
    Line("plugin sign", ("plugin sign plugins/word-stats --key plugins.key",), workspace=False),
    Line("plugin keygen", ("plugin keygen plugins.key",), workspace=False),
    Line("runtime restart", ("runtime restart",), "runtime.restart"),
    Line("freeze", ("freeze",), "runtime.freeze"),
    Line("thaw", ("thaw",), "runtime.thaw"),
    Line(
        "audit tail",
        ("audit tail", "audit tail --follow -o json", "audit tail --capability topic-normalize --limit 5"),
        "audit.tail",
    ),
    Line("audit query", ("audit query --outcome denied --since 1h",), "audit.query"),
    Line("audit verify", ("audit verify", "audit verify export.jsonl --key KEY"), "audit.verify"),
    Line("audit export", ("audit export > export.jsonl",)),
    Line("events", ("events", "events --topic '/capability/**' --follow"), "events"),
    Line("cancel", ("cancel req_5f1c9e2b7a", "cancel g3", "cancel task_0c4d"), "call.cancel"),
    Line("why", ("why topic-normalize", "why g3", "why req_5f1c9e2b7a"), "why"),
    Line("metrics", ("metrics",), "metrics"),
    Line("mcp serve", ("mcp serve --stdio",)),
    Line("mcp list", ("mcp list", "mcp list -o json"), "mcp.server"),
    Line("mcp probe", ("mcp probe files",), "mcp.probe"),
    Line("mcp approve", ("mcp approve files", "mcp approve files read_text --revoke"), "mcp.approve"),
    Line("bundle", ("bundle report.zip",), workspace=False),
    Line("schema print", ("schema print manifest", "schema print"), workspace=False),
    Line("explain", ("explain EVA-204",), workspace=False),
    Line(
        "completion",
        ('eval "$(eva completion bash)"', "completion fish > ~/.config/fish/completions/eva.fish"),
        workspace=False,
    ),
)


def shown(example: str) -> str:
    """As somebody types it."""
    return example if "eva " in example else f"eva {example}"


TABLE: Mapping[str, Line] = {line.words: line for line in _LINES}
