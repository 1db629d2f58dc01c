"""What a plugin is given: a folder to work in, an environment without anything that is not its business, and walls."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from evatui.adapters.process import SEARCHED
from evatui.extensions.shared.manifest_rules import is_blocked
from evatui.kernel.admission.redact import looks_secret
from evatui.kernel.host.credentials import Credential

__all__ = ["CONFINED", "confining", "environment", "work_folder"]

CONFINED: Final = str(Path(__file__).with_name("confined.py"))
_KEPT_FOLDERS: Final = 20
_PASSED_ON: Final = ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ", "TERM", "USER", "LOGNAME")
_READ: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime"),
    *("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/proc", "/sys/devices/system/cpu"),
)
_READ_FOR_NETWORK: Final = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/ssl",
    "/etc/ca-certificates",
    "/etc/pki",
    "/run/systemd/resolve",
)
_WRITTEN: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")


def environment(
    names: Iterable[str], given: Mapping[str, str], key: Callable[[str], Credential], work: Path, root: Path
) -> tuple[dict[str, str], list[Credential]]:
    """The variables of one run, and the credentials among them. ``names`` are those that the manifest lists.

    One that looks like a secret is given only as a credential of the policy: raises `CallFailed` as ``key`` does.
    """
    found = {name: given[name] for name in _PASSED_ON if name in given}
    found["LANG"] = found.get("LANG", "C.UTF-8")
    secrets: list[Credential] = []
    for name in names:
        if is_blocked(name):
            continue  # no manifest with such a name is read
        if looks_secret(name):
            secrets.append(key(name))
            found[name] = secrets[-1].value
        elif name in given:
            found[name] = given[name]
    place = str(work)
    return {
        **found,
        "PATH": _path(given.get("PATH", ""), root),
        "HOME": place,
        "PWD": place,
        "TMPDIR": place,
        "PYTHONDONTWRITEBYTECODE": "1",
        "EVA_WORK_DIR": place,
        "OCTOS_WORK_DIR": place,
    }, secrets


def _path(given: str, root: Path) -> str:
    """Folders of this machine; none of the workspace, where others than the operator may write."""
    folders = [folder for folder in given.split(os.pathsep) if os.path.isabs(folder)]
    outside = [folder for folder in folders if not Path(os.path.realpath(folder)).is_relative_to(root)]
    return os.pathsep.join(dict.fromkeys((*outside, *SEARCHED)))


def work_folder(above: Path, plugin: str, run: str, busy: Collection[str]) -> Path:
    """A new folder for one ``run``. Blocking. Only the newest twenty of a plugin stay beside it, and ``busy`` ones."""
    own = above / plugin
    own.mkdir(mode=0o700, parents=True, exist_ok=True)
    earlier = sorted((entry for entry in own.iterdir() if entry.name not in busy), key=_age)
    for old in earlier[: max(0, len(earlier) - _KEPT_FOLDERS + 1)]:
        shutil.rmtree(old, ignore_errors=True)
    folder = own / run
    folder.mkdir(mode=0o700)
    return folder


def _age(folder: Path) -> int:
    try:
        return folder.lstat().st_mtime_ns
    except OSError:
        return 0  # removed meanwhile


def confining(
    program: str, package: Path, work: Path, environ: Mapping[str, str], root: Path, *, network: bool
) -> tuple[str, ...]:
    """The beginning of the command line by which ``program`` is run behind walls, where the kernel has Landlock."""
    read = [*_READ, *(_READ_FOR_NETWORK if network else ()), str(package), *_homes(environ, root)]
    rules = {"read": read, "write": [*_WRITTEN, str(work)], "network": network}
    return (sys.executable, "-I", "-S", CONFINED, json.dumps(rules), program)


def _homes(environ: Mapping[str, str], root: Path) -> list[str]:
    """The folders of programs, and where these have their libraries: what lies beside each ``bin``; but never what the
    workspace or the operator's own folder lies in."""
    private = [Path(os.path.realpath(place)) for place in (root, Path.home())]
    folders = [Path(os.path.realpath(folder)) for folder in environ["PATH"].split(os.pathsep)]
    beside = [folder.parent for folder in folders if folder.name in ("bin", "sbin")]
    found = [*folders, *beside, Path(sys.prefix), Path(sys.base_prefix)]
    return [str(place) for place in dict.fromkeys(found) if not any(one.is_relative_to(place) for one in private)]
