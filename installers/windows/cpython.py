"""The CPython that the Windows program is shipped with: read from a folder or a zip, or the pinned official one."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from stage import BuildError, Python


def find(given: Path, scratch: Path) -> Python:
    """A CPython for x86-64 Windows: an installed one, or the embeddable package, as a folder or a zip.

    `scratch` is where archives are unpacked. Raises BuildError.
    """
    if given.is_file():
        home = scratch / "python"
        with zipfile.ZipFile(given) as archive:
            archive.extractall(home)
    else:
        home = given
    libraries = [file for file in home.glob("python3*.dll") if file.stem.lower() != "python3"]
    if len(libraries) != 1:
        raise BuildError(f"{given} holds no CPython for Windows: there must be one python3XX.dll in it.")
    minor = f"3.{libraries[0].stem[len('python3') :]}"
    library = home / "Lib"
    if not library.is_dir():
        packed = home / f"{libraries[0].stem}.zip"
        if not packed.is_file():
            raise BuildError(f"{given} has neither a folder Lib nor {packed.name}: take the embeddable package.")
        library = scratch / "Lib"
        with zipfile.ZipFile(packed) as archive:
            archive.extractall(library)
    extensions = home / "DLLs" if (home / "DLLs").is_dir() else home
    licence = next((file for file in (home / "LICENSE.txt", library / "LICENSE.txt") if file.is_file()), None)
    return Python("windows", minor, home, library, extensions, licence)
