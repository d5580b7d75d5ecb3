"""Writes and checks SHA256SUMS, in the form that `sha256sum --check` reads.

python installers/checksums.py FOLDER             write FOLDER/SHA256SUMS for the files in it
python installers/checksums.py --verify FOLDER    check them; says what differs and ends with 1
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

NAME = "SHA256SUMS"


def write_sums(folder: Path) -> Path:
    """Write the file for all files right in the folder, sorted by name; returns its path."""
    lines = [f"{_sha256(file)}  {file.name}\n" for file in _files(folder)]
    sums = folder / NAME
    sums.write_text("".join(lines), encoding="utf-8", newline="\n")
    return sums


def wrong(folder: Path) -> list[str]:
    """What differs from the folder's SHA256SUMS, one line each, empty when all is right. Raises OSError without one."""
    said = {}
    for line in (folder / NAME).read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        said[name] = digest
    there = {file.name: _sha256(file) for file in _files(folder)}
    return [
        *(f"{name}: missing" for name in sorted(said.keys() - there.keys())),
        *(f"{name}: not in {NAME}" for name in sorted(there.keys() - said.keys())),
        *(f"{name}: not what was written down" for name in sorted(said) if name in there and there[name] != said[name]),
    ]


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.is_file() and file.name != NAME)


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def main(arguments: list[str]) -> int:
    """Exit code 0, or 1 when something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verify", action="store_true", help="check instead of writing")
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args(arguments)
    if not asked.verify:
        print(write_sums(asked.folder))
        return 0
    differences = wrong(asked.folder)
    print("\n".join(differences) or "all as written down")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
