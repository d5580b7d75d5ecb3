"""What a person's computer holds outside of the program's own folders, byte for byte."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# What Windows, and its stand-in, itself write about the programs that ran; Wintrust at the first look at a signature.
NOISE = re.compile(
    r"\\(Wine|Console|Cached|MuiCache|Explorer|Fonts|Direct3D|Internet Settings|Volatile Environment|Wintrust)(\\|$)",
    re.IGNORECASE,
)
MACHINE_KEYS = (
    r"SYSTEM\CurrentControlSet\Control\Session Manager\Environment",
    *(rf"Software\Microsoft\Windows\CurrentVersion\{name}" for name in ("Run", "RunOnce", "Uninstall", "App Paths")),
)


def files(folder: Path, *, without: Path | None = None) -> dict[str, str | None]:
    """Every file's sha256 below a folder, but for those below another one; a folder has none."""
    result: dict[str, str | None] = {}
    for here, folders, names in os.walk(folder):
        path = Path(here)
        folders[:] = [name for name in folders if path / name != without]
        for name in (*folders, *names):
            one = path / name
            if one.is_symlink():
                result[str(one)] = str(one.readlink())
            else:
                result[str(one)] = hashlib.sha256(one.read_bytes()).hexdigest() if name in names else None
    return result


if sys.platform == "win32":
    import ctypes
    import winreg

    LARGEST = 1 << 20

    def registry() -> dict[str, tuple[int, bytes] | None]:
        """All of the user's, and what of the computer's tells of installed programs: types and raw bytes."""
        values = dict(_walk(winreg.HKEY_CURRENT_USER, "HKCU", ""))
        for key in MACHINE_KEYS:
            values |= dict(_walk(winreg.HKEY_LOCAL_MACHINE, "HKLM", key))
        return values

    def _walk(root: int, name: str, key: str) -> Iterator[tuple[str, tuple[int, bytes] | None]]:
        here = f"{name}\\{key}" if key else name
        if NOISE.search(here):
            return
        try:
            opened = winreg.OpenKey(root, key)
        except OSError:
            return
        with opened:
            yield here, None
            for value in _values(opened):
                yield f"{here}: {value[0]}", value[1:]
            children = [winreg.EnumKey(opened, place) for place in range(winreg.QueryInfoKey(opened)[0])]
        for child in children:
            yield from _walk(root, name, f"{key}\\{child}" if key else child)

    def _values(opened: winreg.HKEYType) -> Iterator[tuple[str, int, bytes]]:
        """winreg makes texts of them, and takes their ends for its own."""
        ask = ctypes.windll.advapi32.RegEnumValueW
        name, data = ctypes.create_unicode_buffer(1 << 14), ctypes.create_string_buffer(LARGEST)
        for place in range(winreg.QueryInfoKey(opened)[1]):
            letters, kind, size = ctypes.c_ulong(len(name)), ctypes.c_ulong(), ctypes.c_ulong(LARGEST)
            status = ask(
                ctypes.c_void_p(int(opened.handle)),
                place,
                name,
                ctypes.byref(letters),
                None,
                ctypes.byref(kind),
                data,
                ctypes.byref(size),
            )
            assert status == 0, (place, status)
            yield name.value, kind.value, data.raw[: size.value]

    @contextmanager
    def users_own(values: dict[str, str]) -> Iterator[None]:
        """The user's variables are these, with parts that Windows fills in, as long as it lasts."""
        access = winreg.KEY_READ | winreg.KEY_WRITE
        with winreg.CreateKeyEx(winreg.HKEY_CURRENT_USER, "Environment", 0, access) as key:
            before: dict[str, tuple[object, int]] = {}
            for name in values:
                with suppress(FileNotFoundError):
                    before[name] = winreg.QueryValueEx(key, name)
            try:
                for name, value in values.items():
                    winreg.SetValueEx(key, name, 0, winreg.REG_EXPAND_SZ, value)
                yield
            finally:
                for name in values:
                    if name in before:
                        winreg.SetValueEx(key, name, 0, before[name][1], before[name][0])
                    else:
                        winreg.DeleteValue(key, name)

    def seen() -> dict[str, object]:
        """Registry, and the user's profile but for temporary files."""
        profile = files(Path(os.environ["USERPROFILE"]), without=Path(os.environ["TEMP"]))
        return {**registry(), **profile}

else:

    @contextmanager
    def users_own(values: dict[str, str]) -> Iterator[None]:
        """Nothing to keep."""
        yield

    def seen() -> dict[str, object]:
        """The user's home."""
        return dict(files(Path.home()))


def difference(before: dict[str, object], after: dict[str, object]) -> list[str]:
    """What came, went or changed."""
    return [
        f"{name}: {before.get(name, 'nothing')!r:.300} -> {after.get(name, 'nothing')!r:.300}"
        for name in sorted(before.keys() | after.keys())
        if (name in before, before.get(name)) != (name in after, after.get(name))
    ]
