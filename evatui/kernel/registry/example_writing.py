"""A call that went well, kept as an example: a new file, never over one that is there."""

from __future__ import annotations

import contextlib
import json
import os
import re
from typing import Any, Final

from evatui.kernel.admission.examples import load_examples
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.files import FileProblem, SourceFile, Tree
from evatui.kernel.workspace.writing import Exists, WriteMode, Writer

__all__ = ["write_example"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)
_ON_NO_DISK: Final = (0, 0, 0, 0, 0)
_WORDS: Final = "1 to 64 characters of A-Z a-z 0-9 _ -, the first a letter or a digit"


def write_example(tree: Tree, folder: str, name: str, payload: Any, limit: int) -> str:
    """Returns the path of ``name.yaml`` in ``folder``, which is made where it is missing. Blocking.

    Raises `CallFailed`: ``InvalidInput`` for a name that is none, or a payload that YAML cannot hold; ``Conflict``
    where there is such a file; ``Unavailable`` where the disk refuses.
    """
    if not _NAME.fullmatch(name):
        raise failure(ErrorKind.INVALID_INPUT, f"an example is named by {_WORDS}")
    path = f"{folder}/{name}.yaml"
    data = _document(name, payload)
    if not _reads_back(path, data, payload):
        raise failure(ErrorKind.INVALID_INPUT, "this payload cannot be written as YAML")
    try:
        _make(tree, folder)
        Writer(tree).write(path, data, WriteMode.CREATE, limit)
    except Exists:
        raise failure(ErrorKind.CONFLICT, f"there is an example of that name already: {path}") from None
    except FileProblem as problem:
        raise failure(ErrorKind.UNAVAILABLE, f"{path} cannot be written: {clean_line(problem.detail)}") from None
    except OSError as problem:
        why = problem.strerror.lower() if problem.strerror else "the disk refuses"
        raise failure(ErrorKind.UNAVAILABLE, f"{path} cannot be written: {why}") from None
    return path


def _document(name: str, payload: Any) -> bytes:
    """JSON is YAML, as long as what goes on in the next line is indented."""
    value = json.dumps(payload, indent=2, ensure_ascii=False).replace("\n", "\n  ")
    return f"name: {name}\npayload: {value}\n".encode(errors="replace")


def _reads_back(path: str, data: bytes, payload: Any) -> bool:
    examples, _ = load_examples([SourceFile(path, data, "", _ON_NO_DISK)])
    return len(examples) == 1 and examples[0].payload == payload


def _make(tree: Tree, folder: str) -> None:
    """The folder, one after the other, each beneath the one before and none through a link."""
    parts = folder.split("/")
    for end in range(1, len(parts) + 1):
        with tree.holding("/".join(parts[:end])) as (holder, name), contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=holder)
