"""Makes the shipped launcher stand in for python.exe: `as_python.py` as the program's `__main__`, beside its real one.

Run by `.ci/windows-setup`, so that tests run in the process that the launcher makes: its manifest, its code page, its
Python, the shipped modules. It understands `-c CODE` and `-m MODULE` as Python does; all else goes to the program,
whose own `__main__` was renamed to `program_main`. REPOSITORY_AND_LIBRARIES names what the tests alone ask for.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

FOLDERS = os.environ["REPOSITORY_AND_LIBRARIES"].split(os.pathsep)


class NotShipped(MetaPathFinder):
    """Finds modules that are not shipped inside packages that are."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Asked last."""
        package = fullname.rpartition(".")[0].replace(".", "\\")
        return None if path is None else PathFinder.find_spec(fullname, [f"{each}\\{package}" for each in FOLDERS])


sys.path += FOLDERS
sys.meta_path.append(NotShipped())
# -X, -I, -u: how the program starts a Python of an environment; the launcher has set its own already.
while sys.argv[1:2] and sys.argv[1] in ("-I", "-u", "-X"):
    del sys.argv[1 : 3 if sys.argv[1] == "-X" else 2]
match sys.argv[1:]:
    case ["-c", code, *_]:
        del sys.argv[1]
        sys.argv[0:2] = ["-c"]
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    case ["-m", module, *_] if module != "gpu_assistant":
        del sys.argv[1:3]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    case _:
        if sys.argv[1:3] == ["-m", "gpu_assistant"]:
            del sys.argv[1:3]
        from gpu_assistant.program_main import main  # type: ignore[import-not-found]

        sys.exit(main())
