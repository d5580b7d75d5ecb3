"""NSIS's plug-ins: the DLLs that the setup program and the uninstaller unpack into the temporary folder and load there.

Those of NSIS bear no signature, and Smart App Control looks at them as at every other file. So makensis works with a
copy of its folder (NSISDIR) in which there are no plug-ins but those that are named here, of the same bytes or signed
(`signing.py`): a script that calls another one does not compile.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from stage import BuildError

TARGET = "amd64-unicode"  # setup.nsi's
# Not nsExec.dll: it starts a copy of itself in the temporary folder, changed to a program, which breaks its signature.
NAMES = ("System.dll", "nsDialogs.dll")
OTHER_FOLDERS = ("Contrib", "Include", "Stubs")


def plugins_folder(nsis: Path) -> Path:
    """Where the plug-ins lie below NSIS's folder."""
    return nsis / "Plugins" / TARGET


def copy_nsis(makensis: Path, folder: Path) -> None:
    """Copy NSIS, as far as the setup program needs it, into the new folder `folder`. Raises BuildError."""
    folder.mkdir()
    script = folder / "folder.nsi"
    script.write_text('!echo "${NSISDIR}"\n', encoding="utf-8")
    said = subprocess.run(
        [str(makensis), "-V1", "-PPO", str(script)], capture_output=True, text=True, encoding="utf-8", check=False
    )
    found = re.search(r'^!echo "(.+)"', said.stdout, re.MULTILINE)
    if found is None or not all((plugins_folder(Path(found[1])) / name).is_file() for name in NAMES):
        raise BuildError(f"{makensis} has no plug-ins for {TARGET}: build on Debian, with its package nsis.")
    for name in OTHER_FOLDERS:
        shutil.copytree(Path(found[1], name), folder / name)
    plugins_folder(folder).mkdir(parents=True)
    for name in NAMES:
        shutil.copyfile(plugins_folder(Path(found[1])) / name, plugins_folder(folder) / name)


def makensis_environ(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Variables with which makensis takes that copy for its own folder."""
    return {**environ, "NSISDIR": str(folder)}
