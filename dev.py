"""Sets the program up in this folder and starts it, or its tests. Needs nothing but Python 3.11 or newer.

python3 dev.py open [ARGUMENTS]     set up (first time), then open the program
python3 dev.py test [ARGUMENTS]     set up (first time), then run the tests; ARGUMENTS go to pytest
python3 dev.py lock                 write requirements/*.txt anew from pyproject.toml
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
WINDOWS = os.name == "nt"
PYTHON = VENV / ("Scripts/python.exe" if WINDOWS else "bin/python")
LOCKS = {"open": HERE / "requirements/run.txt", "test": HERE / "requirements/dev.txt"}

# What Qt's wheels expect of a Linux desktop: library -> Debian's package.
QT_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xinerama.so.0": "libxcb-xinerama0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
}


def main(arguments: list[str]) -> int:  # noqa: PLR0911 - each way out is one line
    """Set up what is missing and run the asked part; returns its exit code."""
    if sys.version_info < (3, 11):  # noqa: UP036 - the one file that an old Python may meet
        print(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}.", file=sys.stderr)
        return 2
    if not arguments or arguments[0] not in ("open", "test", "lock"):
        print(__doc__, file=sys.stderr)
        return 2
    part, *rest = arguments
    try:
        if part == "lock":
            set_up("test")
            lock()
            return 0
        set_up(part)
        if part == "test":
            # Processes side by side: one a core, each with tests of its own; who is done first takes from the others.
            together = ("--numprocesses=auto", "--dist=worksteal")
            return subprocess.call([PYTHON, "-m", "pytest", *together, *rest], cwd=HERE)
        return subprocess.call([PYTHON, "-m", "gpu_assistant", *rest])
    except subprocess.CalledProcessError as error:
        print(f"Setting up stopped at: {' '.join(map(str, error.cmd))}", file=sys.stderr)
        print("See what it says above, mend that, then run the same again; it goes on from here.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. Run the same again to go on.", file=sys.stderr)
        return 3


def set_up(part: str) -> None:
    """Make `.venv` and install the locked packages, unless that was done already."""
    system_packages()
    stamp = VENV / ".locks"
    mine = f"{part} {digest(LOCKS[part])} {digest(HERE / 'pyproject.toml')}"
    done = stamp.read_text(encoding="utf-8").splitlines() if stamp.exists() else []
    if mine in done and PYTHON.exists():
        return
    print("Setting up; the first time this takes a minute or two", file=sys.stderr)
    if not done:
        # No stamp: there is none yet, or a set-up was cut off in the middle. A fresh start is quick and sure.
        run(sys.executable, "-m", "venv", "--clear", VENV)
    pip = (PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--require-hashes", "-r", LOCKS[part])
    run(*pip, "--no-deps", "--no-build-isolation", "--editable", HERE)
    stamp.write_text("\n".join([*done, mine]) + "\n", encoding="utf-8")


def system_packages() -> None:
    """On Debian and its children: install the libraries that Qt's wheels expect, after sudo has asked."""
    if WINDOWS or sys.platform == "darwin":
        return
    missing = {package for library, package in QT_LIBRARIES.items() if not loads(library)}
    try:
        import ensurepip  # noqa: F401 - Debian packs it apart
    except ImportError:
        missing.add("python3-venv")
    if not missing:
        return
    apt = shutil.which("apt-get")
    if apt is None:
        print(f"These libraries are missing; install them with your package manager: {', '.join(sorted(missing))}")
        return
    install = (apt, "install", "-y", "-qq", "--no-install-recommends", *sorted(missing))
    sudo = shutil.which("sudo")
    if os.geteuid() != 0 and sudo is None:
        print(f"Libraries are missing. As root, run: {' '.join(install)}; then run this again.", file=sys.stderr)
        return
    first = () if os.geteuid() == 0 or sudo is None else (sudo,)
    print(f"Installing {', '.join(sorted(missing))} with apt", file=sys.stderr)
    subprocess.run([*first, apt, "update", "-qq"], check=False)  # an old list may still do
    run(*first, *install)


def lock() -> None:
    """Resolve pyproject.toml for every supported system and Python; hashes, no addresses."""
    common = ("--universal", "--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate")
    compile_ = (PYTHON, "-m", "uv", "pip", "compile", "--quiet", "--no-config", *common)
    run(*compile_, "pyproject.toml", "--extra", "dev", "-o", LOCKS["test"])
    run(*compile_, "pyproject.toml", "--extra", "build", "-c", LOCKS["test"], "-o", LOCKS["open"])


def digest(path: Path) -> str:
    """sha256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def loads(library: str) -> bool:
    """Whether the dynamic loader finds a library."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def run(*command: str | Path) -> None:
    """Run a program; raises CalledProcessError when it fails."""
    subprocess.run(command, cwd=HERE, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
