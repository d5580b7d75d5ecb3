"""NVIDIA's libraries as a process sees them: what CUDA's driver says, which copy of a library is loaded, what an import
that failed means, which packages share a file. Runs in an environment's own Python.

That the driver is too old is an error of CUDA's runtime alone (35): the driver itself starts, and says which CUDA it
supports. What the dynamic linker says was recorded from NVIDIA's own libraries (tests/fixtures/cuda).
"""

from __future__ import annotations

import ctypes
import os
import re
import struct
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .child_protocol import CheckWriter
    from .child_runtime import imported_libraries
    from .cuda_errors import CUDA_ERRORS, NO_DEVICE, hidden_devices
elif __package__:
    from .child_runtime import imported_libraries
    from .cuda_errors import CUDA_ERRORS, NO_DEVICE, hidden_devices
else:  # part of a program, beside which it lies
    from child_runtime import imported_libraries
    from cuda_errors import CUDA_ERRORS, NO_DEVICE, hidden_devices

CHECK_ID = "cuda-libraries"
LOADED_FILES = Path("/proc/self/maps")
# Libraries of the CUDA Toolkit, cuDNN and NCCL, on Linux and on Windows.
_NVIDIA_LIBRARY = re.compile(
    r"(?:lib)?(?:cublas|cudart|cudnn|cufft|cufile|cupti|curand|cusolver|cusparse|nccl|nvblas|nvjitlink|nvrtc|nvshmem)"
    r"[\w.-]*(?:\.so(?:\.\d+)*|\.dll)",
    re.IGNORECASE,
)
# What TensorFlow loads, once a driver answers (tsl/platform/default/dso_loader.cc).
_TENSORFLOW_LIBRARIES = ("libcublas.so", "libcudnn.so", "libcufft.so", "libcusolver.so", "libcusparse.so")
_MISSING = re.compile(r"(?P<library>[\w.+-]+\.so[\w.]*): cannot open shared object file")
# torch/__init__.py, _load_dll_libraries: what Windows says in the user's language, then the file that did not load.
_NOT_LOADED = re.compile(r'Error loading "(?P<path>[^"]+)" or one of its dependencies')
ERROR_MOD_NOT_FOUND, ERROR_PROC_NOT_FOUND = 126, 127  # winerror.h
_UNFIT = re.compile(
    r"undefined symbol: \S+?(?:, version (?P<version>lib\S+))?$|version `(?P<needed>lib\S+)' not found", re.MULTILINE
)


def driver_failure(built_for: str | None, *, no_device: str) -> dict[str, str]:
    """Why CUDA's driver gives no card to a program that was built for this CUDA ("12.5.1", on Windows "64_112"): the
    `reason`, with the `case` of its text and what that names; {} where the driver starts and is new enough. `no_device`
    is the reason where the driver finds no card.
    """
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return {"reason": "@verify.reason.no-driver"}
    status = int(driver.cuInit(0))
    if status in CUDA_ERRORS:
        return {"reason": CUDA_ERRORS[status]}
    needed, supported = _cuda_major(built_for), _supported_cuda(driver)
    # A driver runs every minor version of its CUDA and all older ones, as the runtime sees it, too.
    if needed is not None and 0 < supported // 1000 < needed:
        return {
            "reason": "@verify.reason.driver-too-old-tensorflow",
            "case": "driver-too-old",
            "needed": str(needed),
            "supported": f"{supported // 1000}.{supported % 1000 // 10}",
        }
    if status == NO_DEVICE:
        return {"reason": "@verify.reason.hidden-devices" if hidden_devices() else no_device}
    return {"reason": f"{_error_name(driver, status)} ({status})"} if status else {}


def _cuda_major(version: str | None) -> int | None:
    """The major of a CUDA version as TensorFlow's build has it."""
    match = re.match(r"(?:64_)?(\d\d)", version or "")
    return int(match[1]) if match is not None else None


def _supported_cuda(driver: ctypes.CDLL) -> int:
    """The newest CUDA that a driver supports, 11040 for 11.4; 0 if it does not say."""
    version = ctypes.c_int()
    return version.value if driver.cuDriverGetVersion(ctypes.byref(version)) == 0 else 0


def _error_name(driver: ctypes.CDLL, status: int) -> str:
    """The driver's own name of an error."""
    name = ctypes.c_char_p()
    driver.cuGetErrorName(status, ctypes.byref(name))
    return (name.value or b"CUDA").decode("ascii", "replace")


def import_failure(error: BaseException) -> dict[str, str]:
    """The case of an import that failed for a library of NVIDIA's, with the library's name; {} for another cause."""
    message = str(error)
    not_loaded = _NOT_LOADED.search(message)
    if not_loaded is not None:
        return _windows_failure(Path(not_loaded["path"]), getattr(error, "winerror", None))
    missing, unfit = _MISSING.search(message), _UNFIT.search(message)
    if missing is not None and _is_nvidia(missing["library"]):
        return {"case": "library-missing", "library": missing["library"]}
    library = (unfit["version"] or unfit["needed"] or message.partition(":")[0]) if unfit is not None else ""
    name = re.split(r"[\\/]", library.strip())[-1]
    return {"case": "libraries-mixed", "library": name} if _is_nvidia(name) else {}


def _windows_failure(library: Path, code: int | None) -> dict[str, str]:
    """The same of a DLL that Windows did not load. Its error names the file that was asked for, which is there, never
    the one that this file imports and that is missing.
    """
    if code == ERROR_MOD_NOT_FOUND:
        missing = _missing_import(library)
        return {} if missing is None else {"case": "library-missing", "library": missing}
    is_mixed = code == ERROR_PROC_NOT_FOUND and _is_nvidia(library.name)
    return {"case": "libraries-mixed", "library": library.name} if is_mixed else {}


def _missing_import(library: Path) -> str | None:
    """The first of NVIDIA's libraries that this one, or one that it imports, imports and that is nowhere where torch
    lets Windows look: beside it, and in the folders of PATH.
    """
    folders = [library.parent, *(Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder)]
    waiting, seen = [library], set()
    while waiting:
        try:
            names = sorted(imported_libraries(waiting.pop()))
        except (OSError, ValueError, IndexError, struct.error):
            continue  # not a library of this computer's kind
        for name in names:
            path = next((folder / name for folder in folders if (folder / name).is_file()), None)
            if path is None and _is_nvidia(name):
                return name
            if path is not None and path.parent == library.parent and name.lower() not in seen:
                seen.add(name.lower())
                waiting.append(path)
    return None


def missing_tensorflow_libraries() -> tuple[str, ...]:
    """What TensorFlow should have loaded and has not; () outside Linux."""
    loaded = [path.name for path in _loaded_files()]
    if not loaded:
        return ()
    return tuple(name for name in _TENSORFLOW_LIBRARIES if not any(each.startswith(name) for each in loaded))


def check_libraries(writer: CheckWriter, *, only_faults: bool = False) -> None:
    """Check that NVIDIA's packages share no library, and that the environment's own copies are the ones in use.

    Says nothing where the environment has none of NVIDIA's libraries; with `only_faults` also where all is well.
    """
    own = _own_libraries()
    if not own:
        return
    if not only_faults:
        writer.send(begin=CHECK_ID)
    shared, foreign = _shared_library(), sorted(_foreign_copies(own))
    if shared is not None:
        library, packages = shared
        writer.report(
            CHECK_ID, "warn", value=packages, case="shared", library=library, reason="@verify.reason.libraries-shared"
        )
    elif foreign:
        path, *others = foreign
        writer.report(
            CHECK_ID, "warn", value=str(path), count=len(others) + 1, reason="@verify.reason.libraries-foreign"
        )
    elif not only_faults:
        writer.report(CHECK_ID, "pass", value=len(own))


def _is_nvidia(name: str) -> bool:
    return _NVIDIA_LIBRARY.fullmatch(name) is not None


def _own_libraries() -> dict[str, Path]:
    """The libraries of NVIDIA's in this environment's packages, by file name."""
    own: dict[str, Path] = {}
    for entry in map(Path, sys.path):
        if entry.name not in ("site-packages", "dist-packages") or not entry.is_relative_to(sys.prefix):
            continue
        for folder in (entry / "nvidia", entry / "torch" / "lib"):
            for path in folder.rglob("*"):
                if _is_nvidia(path.name) and "stubs" not in path.parts:
                    own.setdefault(path.name.lower(), path)
    return own


def _shared_library() -> tuple[str, str] | None:
    """A library that belongs to two packages, the later of which has overwritten the other's, and their names with
    versions; None where each has its own.
    """
    owners: dict[str, str] = {}
    for distribution in metadata.distributions():
        name = str(distribution.metadata["Name"] or "")
        if not name.startswith("nvidia"):
            continue
        package = f"{name} {distribution.version}"
        for file in distribution.files or ():
            if _is_nvidia(file.name) and owners.setdefault(str(file), package) != package:
                return file.name, ", ".join(sorted((owners[str(file)], package)))
    return None


def _foreign_copies(own: dict[str, Path]) -> Iterator[Path]:
    """Files that this process has loaded in the place of the environment's own copies."""
    environment = Path(sys.prefix).resolve()
    loaded = _loaded_files() if sys.platform != "win32" else _loaded_modules(own)
    for path in loaded:
        own_copy = own.get(path.name.lower())
        # A toolkit in the environment has a second name for some of them.
        if own_copy is None or path.resolve().is_relative_to(environment) or _is_same_file(path, own_copy):
            continue
        yield path


def _is_same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _loaded_files() -> set[Path]:
    """NVIDIA's libraries that are mapped into this process, on Linux."""
    try:
        lines = LOADED_FILES.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return set()
    # address permissions offset device inode path
    paths = {Path(columns[5]) for columns in (line.split(None, 5) for line in lines) if len(columns) == 6}
    return {path for path in paths if _is_nvidia(path.name)}


def _loaded_modules(names: Iterable[str]) -> Iterator[Path]:
    """The files of those of these libraries that this process has loaded, on Windows."""
    kernel: Any = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
    kernel.GetModuleHandleW.argtypes, kernel.GetModuleHandleW.restype = (ctypes.c_wchar_p,), ctypes.c_void_p
    kernel.GetModuleFileNameW.argtypes = (ctypes.c_void_p, ctypes.c_wchar_p, ctypes.c_uint32)
    text = ctypes.create_unicode_buffer(32768)
    for name in names:
        handle = kernel.GetModuleHandleW(name)
        if handle and kernel.GetModuleFileNameW(handle, text, len(text)):
            yield Path(text.value)
