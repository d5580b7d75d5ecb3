"""Whether this Python has the packages that put a release together: asked before minutes of work, not after."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def require_release_extra(script: str) -> None:
    """Raise SystemExit, saying what to run, where `script` (its path in the checkout) lacks a package."""
    missing = [name for name in _wanted() if not _is_installed(name)]
    if missing:
        python = ".venv\\Scripts\\python" if sys.platform == "win32" else ".venv/bin/python"
        setup = "py dev.py" if sys.platform == "win32" else "python3 dev.py"
        sys.exit(
            f"This Python lacks packages that a release is made with: {', '.join(missing)}.\n"
            f"They are in .venv after `{setup} test --version`; then run `{python} {script}`."
        )


def _wanted() -> list[str]:
    """The program's own packages and those of the extra `release`, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["release"]]
    return list(dict.fromkeys(re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in lines))


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
