"""Walks through every page in the program as it is shipped, then says what was loaded: `tour.py` as its `__main__`.

Run by `.ci/windows_setup.py`, which puts this file in place of the program's own `__main__`, so that the launcher,
the shipped Python and the shipped modules are the ones under test. Arguments: REPOSITORY LIBRARY OUT; LIBRARY is a
whole standard library for what the tests alone ask for.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import sys
import tempfile
from pathlib import Path


def libraries() -> list[str]:
    """The DLLs and extension modules in this process, by full path."""
    kernel = ctypes.WinDLL("kernel32")
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    kernel.K32EnumProcessModules.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_void_p)
    kernel.K32GetModuleFileNameExW.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_wchar_p, ctypes.c_ulong)
    handles, size = (ctypes.c_void_p * 2048)(), ctypes.c_ulong()
    process = kernel.GetCurrentProcess()
    if not kernel.K32EnumProcessModules(process, handles, ctypes.sizeof(handles), ctypes.byref(size)):
        raise OSError("the modules of this process cannot be listed")
    result = []
    for handle in handles[: size.value // ctypes.sizeof(ctypes.c_void_p)]:
        name = ctypes.create_unicode_buffer(32768)
        kernel.K32GetModuleFileNameExW(process, handle, name, len(name))
        result.append(name.value)
    return result


def main(repository: str, library: str, out: str) -> None:
    """The tour."""
    sys.path += [repository, library]
    # Only the real screen's plugin is shipped; the scenes take pictures without one.
    os.environ["QT_QPA_PLATFORM"] = "windows"
    from gpu_assistant.gui import theme
    from tests.gui import main_scenes, screenshots

    with tempfile.TemporaryDirectory() as folder:
        studio = screenshots.Studio(Path(folder))

        # By turns: each page is looked at once, and every kind of page in both.
        faces = itertools.cycle([("zh_CN", "dark"), ("en", "light")])

        def look(widget: object, _name: str) -> None:
            code, colours = next(faces)
            studio.language.set(code)
            theme.set_theme(studio.qt, colours)
            studio.settle(0.1)
            widget.grab()  # type: ignore[attr-defined]

        studio.save = look  # type: ignore[method-assign]
        for name in screenshots.SCENES:
            print(name, flush=True)
            screenshots.shoot(studio, name)
        seen = set()
        for name, (page, *_, state) in main_scenes.SCENES.items():
            # Scenes without a state of their own differ in their figures alone.
            if state is None and page in seen:
                continue
            seen.add(page)
            print(name, flush=True)
            main_scenes.shoot(studio, name, Path(tempfile.mkdtemp(dir=folder)))
        loaded = {name: getattr(module, "__file__", None) for name, module in sorted(sys.modules.items())}
        Path(out).write_text(json.dumps({"modules": loaded, "libraries": libraries()}, indent=1), encoding="utf-8")


main(*sys.argv[1:])
