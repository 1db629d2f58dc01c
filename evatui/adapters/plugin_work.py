"""What a plugin is given: a folder to work in, an environment without anything that is not its business, and walls."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from evatui.adapters.process import SEARCHED, find_program
from evatui.extensions.plugins.plugin import Plugin
from evatui.extensions.plugins.verified import own_folder, remove
from evatui.extensions.shared.manifest_rules import is_blocked
from evatui.kernel.admission.redact import looks_secret
from evatui.kernel.host.credentials import Credential
from evatui.kernel.lua.worker.facts import sandbox_facts
from evatui.kernel.lua.worker.seccomp import socket_families
from evatui.kernel.lua.worker.syscalls import machine
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line

__all__ = ["CONFINED", "confining", "environment", "program_in", "work_folder"]

CONFINED: Final = str(Path(__file__).with_name("confined.py"))
_KEPT_FOLDERS: Final = 20
_PRIVATE: Final = re.compile(r"\..*|share|state|etc|var|tmp|cache|(credential|auth|config|secret|token).*")
"""What lies beside ``~/.local/bin``, ``~/.cargo/bin`` and their like, and is for no program of somebody else."""
_MOST: Final = 200
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
_WRITTEN: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_FAMILIES: Final = (socket.AF_INET, socket.AF_INET6)
"""Of sockets that lead to a network; those by paths lead to whatever serves this user, and are for nobody."""


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
    own_folder(above)
    own_folder(own)
    earlier = sorted((entry for entry in own.iterdir() if entry.name not in busy), key=_age)
    for old in earlier[: max(0, len(earlier) - _KEPT_FOLDERS + 1)]:
        remove(old)
    folder = own / run
    folder.mkdir(mode=0o700)
    return folder


def _age(folder: Path) -> int:
    try:
        return folder.lstat().st_mtime_ns
    except OSError:
        return 0  # removed meanwhile


def program_in(plugin: Plugin, package: Path, word: str, root: Path) -> str:
    """The program that the first ``word`` of a command of ``plugin`` means: an executable file of its own, in
    ``package``; a file of the operator's home; or a program of this machine. Raises `CallFailed`. Blocking."""
    if not word.startswith(("./", "../")):
        return find_program(os.path.expanduser(word) if word.startswith("~/") else word, root)
    own = plugin.executable(word)
    if own is None:
        message = f"{clean_line(word, 128)} is no executable file of the plugin {plugin.name}"
        raise failure(ErrorKind.NOT_FOUND, message)
    return str(package / own)


def confining(
    program: str, package: Path, work: Path, environ: Mapping[str, str], root: Path, *, network: bool
) -> tuple[str, ...]:
    """The beginning of the command line by which ``program`` is run behind walls."""
    read = [*_READ, *(_READ_FOR_NETWORK if network else ()), str(package), *_homes(environ, root)]
    rules = {
        "landlock": sandbox_facts().landlock_abi > 0,
        "read": read,
        "write": [*_WRITTEN, str(work)],
        "network": network,
        "filter": _socket_filter(_FAMILIES if network else ()),
    }
    return (sys.executable, "-I", "-S", CONFINED, json.dumps(rules), program)


def _of_programs(home: Path) -> list[Path]:
    """What programs in ``bin`` may need of what lies beside it."""
    try:
        names = sorted(name for name in os.listdir(home) if not _PRIVATE.fullmatch(name.lower()))
    except OSError:
        return []
    return [home / name for name in names[:_MOST]]


@cache
def _socket_filter(families: tuple[int, ...]) -> str:
    known = machine()
    return socket_families(known, families).hex() if known is not None and sandbox_facts().seccomp else ""


def _homes(environ: Mapping[str, str], root: Path) -> list[str]:
    """The folders of programs, and where these have their libraries: what lies beside each ``bin``; but never what the
    workspace or the operator's own folder lies in. Of what is the operator's own, not what may hold keys or notes."""
    private = [Path(os.path.realpath(place)) for place in (root, Path.home())]
    folders = [Path(os.path.realpath(folder)) for folder in environ["PATH"].split(os.pathsep)]
    homes = [folder.parent for folder in folders if folder.name in ("bin", "sbin")]
    own = [home for home in homes if home.is_relative_to(private[1])]
    libraries = [path for home in own if home != private[1] for path in _of_programs(home)]
    found = [
        *folders,
        *(home for home in homes if home not in own),
        *libraries,
        Path(sys.prefix),
        Path(sys.base_prefix),
    ]
    return [str(place) for place in dict.fromkeys(found) if not any(one.is_relative_to(place) for one in private)]
