"""Holds what is shipped against what a tour of every page loaded: `shipped.py FILES LOADED FOLDER`.

Fails when something was loaded that is not on the list, or when a shipped DLL or extension module was neither loaded
nor has its reason in parts.json ("resting"). Says of each Python module that was not loaded who asks for it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path, PureWindowsPath

PARTS = Path(__file__).resolve().parent.parent / "installers" / "parts.json"


def main(files: str, loaded: str, folder: str) -> int:
    """The comparison; the exit code."""
    shipped = json.loads(Path(files).read_text(encoding="utf-8"))
    seen = json.loads(Path(loaded).read_text(encoding="utf-8"))
    resting = json.loads(PARTS.read_text(encoding="utf-8"))["resting"]
    home = PureWindowsPath("Z:" + folder.replace("/", "\\"))
    libraries = {
        path.relative_to(home).as_posix().lower()
        for path in map(PureWindowsPath, seen["libraries"])
        if path.is_relative_to(home)
    }
    binary = {each["path"].lower(): each for each in shipped if each["path"].lower().endswith((".dll", ".pyd"))}
    troubles = [f"loaded but not listed: {name}" for name in sorted(libraries - binary.keys()) if ".exe" not in name]
    quiet = []
    for name in sorted(binary.keys() - libraries):
        why = next((rule["why"] for rule in resting if fnmatchcase(name, rule["glob"].lower())), None)
        if why is None:
            troubles.append(f"shipped but loaded by no page and without a reason in parts.json: {name}")
        else:
            quiet.append(f"  {name}: {why}")
    modules = {each["module"]: each["why"] for each in shipped if each["module"]}
    missing = sorted(
        f"a module came from elsewhere: {name} ({file})"
        for name, file in seen["modules"].items()
        if name.split(".")[0] in {"gpu_assistant", "PySide6", "numpy", "pyqtgraph"}
        and file
        and name not in modules
        # A package that lies inside shiboken6's own library.
        and not file.startswith("shibokensupport/")
    )
    asleep = {name: why for name, why in modules.items() if name not in seen["modules"]}
    awake = len(modules) - len(asleep)
    print(f"shipped: {len(binary)} libraries, {len(modules)} modules; loaded: {len(libraries)}, {awake}")
    print(f"libraries that no page loads ({len(quiet)}):", *quiet, sep="\n")
    packages = Counter(name.split(".")[0] for name in asleep)
    print("modules that no page loads, by package:", dict(packages.most_common(12)))
    for trouble in (*troubles, *missing):
        print(trouble)
    return 1 if troubles or missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
