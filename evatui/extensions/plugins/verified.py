"""Copies of plugins that are run: made once, from the bytes that were hashed, and looked at before each start."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from evatui.extensions.plugins.package import PackageProblem, PackedFile, copied, digest_of
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.workspace.files import Signature, Tree, signature_of
from evatui.kernel.workspace.paths import HERE

__all__ = ["Source", "Verified", "own_folder", "remove"]

_BEGUN: Final = ".new-"


class Source(Protocol):
    """A plugin as it lies in a folder of ``root``."""

    @property
    def digest(self) -> str: ...

    @property
    def root(self) -> Path: ...

    @property
    def folder(self) -> str: ...

    @property
    def files(self) -> Mapping[str, PackedFile]: ...


class Verified:
    """Of one runtime, in ``folder``, where nobody else writes. Blocking, and thread-safe.

    What an earlier runtime left there is not believed: it is removed at the first use.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._made: dict[str, Mapping[str, Signature]] = {}
        self._counting = threading.Lock()
        self._holders: Counter[str] = Counter()
        self._begun = False

    def make(self, source: Source) -> Path:
        """The copy; made anew where there is none, or where it is not what was made.

        Raises `CallFailed` ``Unavailable`` where the folder is not what was hashed any more, and there is no copy.
        """
        with self._lock:
            self._begin()
            place = self._folder / source.digest
            if self._made.get(source.digest) == _signatures(place):
                return place
            remove(place)
            self._made.pop(source.digest, None)
            try:
                self._copy(source, place)
            except (PackageProblem, OSError) as error:
                why = str(error) if isinstance(error, PackageProblem) else os.strerror(error.errno or 0).lower()
                message = f"the plugin is not run: it cannot be copied as it was hashed: {why}"
                raise failure(ErrorKind.UNAVAILABLE, message, reason="integrity_mismatch") from None
            self._made[source.digest] = _signatures(place)
            return place

    @contextmanager
    def held(self, source: Source) -> Iterator[None]:
        """Meanwhile the copy is not removed. Not blocking."""
        with self._counting:
            self._holders[source.digest] += 1
        try:
            yield
        finally:
            with self._counting:
                self._holders[source.digest] -= 1

    def retain(self, digests: Collection[str]) -> None:
        """Removes the copies of all others that nobody holds."""
        with self._lock:
            with self._counting:
                self._holders = +self._holders
                held = set(self._holders)
            for digest in [one for one in self._made if one not in digests and one not in held]:
                del self._made[digest]
                remove(self._folder / digest)

    def clear(self) -> None:
        """Removes all of them."""
        with self._lock:
            self._made.clear()
            remove(self._folder)

    def _begin(self) -> None:
        if not self._begun:
            remove(self._folder)
            own_folder(self._folder)
            self._begun = True

    def _copy(self, source: Source, place: Path) -> None:
        """Whole, or not at all."""
        begun = self._folder / f"{_BEGUN}{secrets.token_hex(8)}"
        tree = Tree(source.root)
        try:
            begun.mkdir(mode=0o700)
            files = [_copied(tree, source.folder, path, begun) for path in source.files]
            if digest_of(files) != source.digest:
                raise PackageProblem(HERE, "it was changed since")
            _close(begun)
            begun.rename(place)
        except BaseException:
            remove(begun)
            raise
        finally:
            tree.close()


def _copied(tree: Tree, folder: str, path: str, into: Path) -> PackedFile:
    target = into / path
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        file = copied(tree, path if folder == HERE else f"{folder}/{path}", path, descriptor)
        os.fchmod(descriptor, 0o555 if file.executable else 0o444)
        return file
    finally:
        os.close(descriptor)


def _close(folder: Path) -> None:
    """Read-only, from the innermost folder on. The outermost has to be renamed yet, so its owner may write it."""
    for here, _, _ in os.walk(folder, topdown=False):
        if Path(here) != folder:
            os.chmod(here, 0o555)
    os.chmod(folder, 0o755)


def _signatures(place: Path) -> dict[str, Signature]:
    """Of all that lies there; folders too, so that nothing comes or goes unseen."""
    found: dict[str, Signature] = {}
    for here, folders, names in os.walk(place):
        for name in (*names, *folders):
            path = os.path.join(here, name)
            with suppress(OSError):
                status = os.lstat(path)
                found[path] = (
                    (*signature_of(status)[:4], status.st_mode)
                    if stat.S_ISDIR(status.st_mode)
                    else signature_of(status)
                )
    return found


def own_folder(place: Path) -> None:
    """Makes it where it is not there. A link is none, and goes: a workspace may have brought it along, and what is
    written and removed here would be somebody else's."""
    if place.is_symlink():
        place.unlink()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)


def remove(place: Path) -> None:
    """Whatever of it can be; folders that may not be written neither keep anything."""
    if place.is_dir() and not place.is_symlink():
        for here, _, _ in os.walk(place):
            with suppress(OSError):
                os.chmod(here, 0o700)
    shutil.rmtree(place, ignore_errors=True)
