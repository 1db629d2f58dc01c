"""Signatures of plugins: whatever differs from what was signed is named."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from evatui.extensions.plugins.package import SIGNATURE_FILE, PackedFile
from evatui.extensions.plugins.signature import Signed, read_seal, sealed
from evatui.kernel.records.signing import SigningKey

KEY = SigningKey(b"1" * 32)
FILES = {
    path: PackedFile(path, f"{number:064x}", number, path == "main")
    for number, path in enumerate(("asset.txt", "lib/a.py", "lib/b.py", "main", "manifest.json"))
}
SEAL = sealed(FILES, KEY)


def changed(path: str, **fields: object) -> dict[str, PackedFile]:
    return FILES | {path: replace(FILES[path], **fields)}


def test_what_is_as_it_was_signed_is_worth_what_its_key_is() -> None:
    seal = read_seal(SEAL, FILES | {SIGNATURE_FILE: PackedFile(SIGNATURE_FILE, "f" * 64, 9, False)})
    assert (seal.key, seal.problems) == (KEY.public, ())
    assert seal.under([KEY.public.upper()]) is Signed.YES
    assert seal.under(["0" * 64]) is Signed.UNKNOWN_KEY


SWAPPED = FILES | {
    "lib/a.py": replace(FILES["lib/a.py"], digest=FILES["lib/b.py"].digest),
    "lib/b.py": replace(FILES["lib/b.py"], digest=FILES["lib/a.py"].digest),
}
DIFFERENCES = [
    (changed("main", digest="e" * 64), ("main was changed",)),
    (changed("manifest.json", digest="e" * 64), ("manifest.json was changed",)),
    (FILES | {"more": PackedFile("more", "e" * 64, 1, True)}, ("more was added",)),
    ({path: file for path, file in FILES.items() if path != "asset.txt"}, ("asset.txt is missing",)),
    (changed("main", executable=False), ("main was made no longer executable",)),
    (changed("asset.txt", executable=True), ("asset.txt was made executable",)),
    (SWAPPED, ("lib/a.py and lib/b.py were swapped",)),
    (
        changed("main", digest="e" * 64) | {"more": PackedFile("more", "d" * 64, 1, False)},
        ("main was changed", "more was added"),
    ),
]


@pytest.mark.parametrize(("files", "problems"), DIFFERENCES)
def test_what_differs_is_named(files: dict[str, PackedFile], problems: tuple[str, ...]) -> None:
    seal = read_seal(SEAL, files)
    assert seal.problems == problems
    assert seal.under([KEY.public]) is Signed.INVALID


def test_neither_the_list_nor_the_key_can_be_exchanged() -> None:
    said = orjson.loads(SEAL)
    other = SigningKey(b"2" * 32)
    forged = [
        {**said, "files": {**said["files"], "main": "e" * 64}},
        {**said, "executables": []},
        {**said, "key": other.public},
        {**said, "signature": other.sign({"any": 1})},
    ]
    for one in forged:
        assert "is not what its key has signed" in read_seal(orjson.dumps(one), FILES).problems[0]
    for text in (b"", b"[]", b"{}", b'{"files": 3}', SEAL[:-9]):
        assert read_seal(text, FILES).problems == (f"{SIGNATURE_FILE} cannot be read",)


def test_a_signature_of_something_else_is_none_of_a_plugin() -> None:
    listed = {name: value for name, value in orjson.loads(SEAL).items() if name != "signature"}
    of_another_kind = {**listed, "signature": KEY.sign(listed)}
    assert "is not what its key has signed" in read_seal(orjson.dumps(of_another_kind), FILES).problems[0]
