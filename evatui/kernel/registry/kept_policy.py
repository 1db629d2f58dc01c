"""The last valid policy, over restarts: a file that breaks must not lift what it denied, whenever the next start is."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from evatui.kernel.admission.layer import LayerName
from evatui.kernel.admission.policy import Policy, PolicyResult, load_policy
from evatui.kernel.storage.database import StorageError
from evatui.kernel.storage.policy_book import PolicyBook
from evatui.kernel.workspace.files import FileProblem, SourceFile
from evatui.kernel.workspace.snapshot import kept_file

__all__ = ["KeptPolicy"]


class KeptPolicy:
    """Blocking."""

    def __init__(self, book: PolicyBook) -> None:
        self._book = book
        self._epochs: dict[LayerName, str] = {}
        """What is kept, as far as this run knows."""

    def read(self) -> Policy:
        """As it was valid last, in an earlier run. Raises `StorageError`."""
        operator = next(iter(self._files(LayerName.OPERATOR)), None)
        return load_policy(self._files(LayerName.WORKSPACE), None, operator).policy

    def _files(self, layer: LayerName) -> list[SourceFile]:
        return [kept_file(path, data) for path, data in self._book.read(layer).items()]

    def keep(
        self, found: PolicyResult, files: Sequence[SourceFile | FileProblem], operator: SourceFile | FileProblem | None
    ) -> None:
        """Each layer that is valid on disk. Where it cannot be kept, the database says so by itself."""
        on_disk = {LayerName.OPERATOR: (operator,), LayerName.WORKSPACE: files}
        for layer in found.policy.layers:
            if layer.name in found.broken or self._epochs.get(layer.name) == layer.epoch:
                continue
            texts = {file.path: file.data for file in on_disk[layer.name] if isinstance(file, SourceFile)}
            with contextlib.suppress(StorageError):
                self._book.write(layer.name, texts)
                self._epochs[layer.name] = layer.epoch
