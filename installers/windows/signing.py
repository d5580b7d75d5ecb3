"""The files inside the program that bear no signature: out to who signs, and back in.

Smart App Control looks at every file that is loaded, not only at the setup program: NSIS's plug-ins, launchers,
extension modules and the uninstaller are signed before they are packed. Who signs (decision 0005) takes a folder and
gives one back, the plug-ins first, because the uninstaller holds them:

    build.py --unsigned-plugins DIR         writes NSIS's plug-ins there, and packs nothing
    build.py --unsigned DIR --plugins P     writes all else that is to be signed there, and packs nothing
    build.py --signed DIR --plugins P       packs what came back; each file must be the same but for its signature

The last two runs make the same bytes, so that what is packed is what was built; both with --quick, or both without.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pefile  # type: ignore[import-untyped]
from dlls import binaries
from stage import BuildError

UNINSTALLER = "uninstall.exe"
# "PE format", Microsoft: the certificate table's entry and the checksum are not part of what is signed.
CERTIFICATE_ENTRY_BYTES, CHECKSUM_BYTES, ALIGNMENT = 8, 4, 8


def is_signed(file: Path) -> bool:
    """Whether a binary carries a signature, whoever's it is."""
    with pefile.PE(str(file), fast_load=True) as binary:
        return bool(_certificate_entry(binary).Size)


def unsigned(folder: Path) -> list[Path]:
    """The binaries below a folder that carry no signature."""
    return [file for file in binaries(folder) if not is_signed(file)]


def content_digest(file: Path) -> str:
    """SHA-256 of what a signature covers ("Windows Authenticode Portable Executable Signature Format", Microsoft)."""
    data = file.read_bytes()
    with pefile.PE(data=data, fast_load=True) as binary:
        entry = _certificate_entry(binary)
        at, checksum = entry.get_file_offset(), binary.OPTIONAL_HEADER.get_field_absolute_offset("CheckSum")
        # The table of certificates lies at the end; the file is filled up to it.
        content = data[: entry.VirtualAddress] if entry.Size else data + bytes(-len(data) % ALIGNMENT)
    covered = content[:checksum] + content[checksum + CHECKSUM_BYTES : at] + content[at + CERTIFICATE_ENTRY_BYTES :]
    return hashlib.sha256(covered).hexdigest()


def take_out(folder: Path, out: Path) -> list[Path]:
    """Copy what is unsigned below `folder` to the same places below `out`; which files these are, relative."""
    files = [file.relative_to(folder) for file in unsigned(folder)]
    for file in files:
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / file, out / file)
    return files


def put_back(signed: Path, folder: Path) -> None:
    """Replace what is unsigned below `folder` by the signed ones. Raises BuildError where one is missing or another."""
    for file in unsigned(folder):
        check_signed(signed / file.relative_to(folder), file)
        shutil.copyfile(signed / file.relative_to(folder), file)


def check_signed(signed: Path, built: Path) -> None:
    """Raise BuildError unless `signed` is `built` with a signature."""
    if not signed.is_file():
        raise BuildError(f"{signed} is missing: everything that --unsigned wrote must come back signed.")
    if not is_signed(signed):
        raise BuildError(f"{signed} came back without a signature.")
    if content_digest(signed) != content_digest(built):
        raise BuildError(f"{signed} is not the file that was built: sign what --unsigned wrote, from the same source.")


def _certificate_entry(binary: pefile.PE) -> pefile.Structure:
    return binary.OPTIONAL_HEADER.DATA_DIRECTORY[pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_SECURITY"]]


def main(what: str, outside: str, uninstaller: str) -> int:
    """What makensis calls with the uninstaller that it has just made; the exit code."""
    try:
        if what == "--take-out":
            shutil.copyfile(uninstaller, outside)
        else:
            check_signed(Path(outside), Path(uninstaller))
            shutil.copyfile(outside, uninstaller)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
