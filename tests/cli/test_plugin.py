"""``eva plugin``: list, call, sign and verify, as a person and a script get to see it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.real import Eva
from tests.support.plugins import plugin
from tests.support.workspaces import GREETER, write

POLICY = "capabilities/policies/default.yaml"


@pytest.fixture
def eva(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Eva:
    for variable, folder in (("EVA_CONFIG_DIR", "config"), ("EVA_DATA_DIR", "data")):
        monkeypatch.setenv(variable, str(tmp_path / folder))
    monkeypatch.delenv("EVA_TRUST", raising=False)
    write(tmp_path / "ws", {POLICY: GREETER[POLICY]})
    return Eva(tmp_path / "ws", capsys)


def signed(eva: Eva, tmp_path: Path) -> str:
    """Signs the plugin ``ring``; the public key."""
    key = str(tmp_path / "key")
    made = eva.data("plugin", "keygen", key)
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert eva.json("plugin", "keygen", key, code=2)["error"]["kind"] == "Conflict"
    assert eva.data("plugin", "sign", str(eva.root / "plugins/ring"), "--key", key)["key"] == made["key"]
    return str(made["key"])


def test_a_plugin_waits_for_trust_then_answers(eva: Eva) -> None:
    tools = [{"name": "bell", "description": "Rings"}, {"name": "wipe", "risk": "high", "spawn_only": True}]
    plugin(eva.root, "ring", 'echo "rung $1"', *tools)
    write(eva.root, {"plugins/bad/manifest.json": "{"})
    (row,) = eva.data("plugin", "list")["plugins"]
    assert (row["name"], row["signed"], row["signature"]) == ("ring", False, "unsigned")
    assert (row["state"], row["layer"]) == ("held", "plugins")
    assert [tool["capability"] for tool in row["tools"]] == ["plugin.ring.bell", "plugin.ring.wipe"]
    assert eva.json("plugin", "call", "ring.bell", code=2)["error"]["kind"] == "NotFound"
    (part,) = eva.data("trust", "--dry-run")["parts"]
    assert (part["name"], part["power"]["runs"]) == ("adapter plugin.ring", ["plugins/ring/ring"])
    assert part["power"]["risk"] == {"wipe": "high"}
    eva.data("trust")
    said = eva.data("plugin", "call", "ring.bell")
    assert (said["response"]["result"]["output"], said["capability_id"]) == ("rung bell\n", "plugin.ring")
    out, _ = eva.text("plugin", "list")
    for words in ("not signed", "plugin.ring.wipe (background, high)", "✗ plugins/bad", "EVA-831"):
        assert words in out
    plugin(eva.root, "ring", 'echo "another $1"', *tools)
    assert eva.data("plugin", "list")["plugins"][0]["state"] == "held"
    assert "plugins/ring/ring: changed" in eva.data("trust", "--dry-run")["parts"][0]["changed"]


def test_without_a_runtime_that_stays_a_tool_in_the_background_is_waited_for(eva: Eva) -> None:
    plugin(eva.root, "slow", "echo done", {"name": "go", "spawn_only": True})
    eva.data("trust")
    assert eva.data("plugin", "call", "slow.go")["response"]["result"]["output"] == "done\n"
    assert eva.data("plugin", "list")["tasks"] == []


def test_what_differs_from_what_was_signed_is_named_and_never_runs(eva: Eva, tmp_path: Path) -> None:
    folder = plugin(eva.root, "ring", "echo rung")
    assert eva.json("plugin", "verify", "ring", code=2)["data"]["signature"] == "unsigned"
    assert eva.json("plugin", "verify", "rung", code=2)["error"]["suggestion"] == "did you mean ring?"
    key = signed(eva, tmp_path)
    assert "does not list" in eva.json("plugin", "verify", "ring", code=2)["error"]["message"]
    policy = eva.root / POLICY
    policy.write_text(policy.read_text() + f"plugins: {{require_signed: true, keys: [{json.dumps(key)}]}}\n")
    eva.data("trust")
    assert eva.data("plugin", "verify", "ring")["key"] == key
    assert eva.data("plugin", "call", "ring.go")["response"]["result"]["output"] == "rung\n"
    (folder / "extra.so").write_text("x")
    said = eva.json("plugin", "verify", "ring", code=2)
    assert (said["error"]["message"], said["data"]["diagnostics"][0]["code"]) == ("extra.so was added", "EVA-837")
    said = eva.json("plugin", "call", "ring.go", code=2)["error"]
    assert (said["kind"], said["suggestion"]) == ("NotFound", "EVA-837 extra.so was added: eva plugin verify ring")
    (folder / "manifest.json").write_text("{")
    said = eva.json("plugin", "sign", str(folder), "--key", str(tmp_path / "key"), code=2)
    assert "is no sound plugin" in said["error"]["message"]
