"""How a conda environment is activated on Linux.

Source: conda's own `bin/activate`, which takes an environment's folder.
"""

from __future__ import annotations

import shlex
from pathlib import PurePath


def linux_activation_script(environment: PurePath, conda_root: PurePath) -> dict[PurePath, str]:
    """A file that activates an environment as a venv's does, for bash and zsh; `root` is conda's own folder."""
    command = shlex.join([str(conda_root / "bin" / "activate"), str(environment)])
    return {environment / "bin" / "activate": f". {command}\n"}
