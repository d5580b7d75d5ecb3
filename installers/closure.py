"""Which modules a program can reach by its import statements, read from bytecode without running anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from importlib.machinery import ExtensionFileLoader, FileFinder, SourceFileLoader, SourcelessFileLoader
from modulefinder import ModuleFinder
from pathlib import Path
from types import CodeType
from typing import Any

# What modulefinder calls its kinds of modules; the standard library keeps the numbers to itself.
_SOURCE, _COMPILED, _EXTENSION, _PACKAGE = 1, 2, 3, 5


class Closure(ModuleFinder):
    """Follows imports along `path` for another computer's Python of the same minor version.

    `reached` says of each module where it lies and who asked for it first. What is built into the
    interpreter, what does not exist and what is excluded (names with wildcards) is left out.
    """

    def __init__(self, path: Sequence[Path], *, extension: Sequence[str], excluded: Iterable[str] = ()) -> None:
        super().__init__(path=[str(folder) for folder in path])
        self.reached: dict[str, tuple[Path, str]] = {}
        self._excluded = tuple(excluded)
        self._loaders = (
            (ExtensionFileLoader, list(extension)),
            (SourceFileLoader, [".py"]),
            (SourcelessFileLoader, [".pyc"]),
        )
        self._finders: dict[str, FileFinder] = {}
        self._asking = ["the program itself"]

    def add(self, name: str) -> bool:
        """Take a module (and its parents) in as a root; whether it is there."""
        try:
            self.import_hook(name)
        except ImportError:
            return False
        return name in self.reached

    def find_module(self, name: str, path: Any, parent: Any = None) -> Any:  # noqa: ANN401 - modulefinder's own
        """Where a module lies; raises ImportError."""
        full = f"{parent.__name__}.{name}" if parent is not None else name
        if any(fnmatchcase(full, each) or full.startswith(f"{each}.") for each in self._excluded):
            raise ImportError(full)
        for folder in path if path is not None else self.path:
            finder = self._finders.setdefault(folder, FileFinder(folder, *self._loaders))
            spec = finder.find_spec(full)
            if spec is None or spec.origin is None:
                continue
            if isinstance(spec.loader, ExtensionFileLoader):
                return None, spec.origin, ("", "rb", _EXTENSION)
            if spec.submodule_search_locations is not None:
                return None, str(Path(spec.origin).parent), ("", "", _PACKAGE)
            kind = _SOURCE if isinstance(spec.loader, SourceFileLoader) else _COMPILED
            return Path(spec.origin).open("rb"), spec.origin, (Path(spec.origin).suffix, "rb", kind)
        raise ImportError(full)

    def load_module(self, fqname: str, fp: Any, pathname: Any, file_info: Any) -> Any:  # noqa: ANN401
        """Note a module, then read what it imports."""
        if file_info[2] != _PACKAGE and fqname not in self.reached:
            self.reached[fqname] = (Path(pathname), self._asking[-1])
        return super().load_module(fqname, fp, pathname, file_info)

    def load_package(self, fqname: str, pathname: str) -> Any:  # noqa: ANN401
        """A package: its `__init__`, whether in source or compiled."""
        module: Any = self.add_module(fqname)
        module.__file__ = pathname
        module.__path__ = [pathname]
        for suffix, kind in ((".py", _SOURCE), (".pyc", _COMPILED)):
            file = Path(pathname) / f"__init__{suffix}"
            if file.is_file():
                self.reached.setdefault(fqname, (file, self._asking[-1]))
                with file.open("rb") as opened:
                    self.load_module(fqname, opened, str(file), (suffix, "rb", kind))
                break
        return module

    def _safe_import_hook(self, name: str, caller: Any, fromlist: Any, level: int = -1) -> None:  # noqa: ANN401
        # modulefinder takes a relative name for the absolute one of the same letters: "._abc" for the built-in "_abc".
        absolute = self.badmodules.pop(name, None) if level > 0 else None
        super()._safe_import_hook(name, caller, fromlist, level)  # type: ignore[misc]
        if absolute is not None:
            self.badmodules[name] = absolute

    def scan_code(self, co: CodeType, m: Any) -> None:  # noqa: ANN401
        """Follow one module's imports, in functions too."""
        self._asking.append(m.__name__)
        try:
            super().scan_code(co, m)
        finally:
            self._asking.pop()
