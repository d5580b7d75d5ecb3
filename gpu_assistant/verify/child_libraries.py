"""NVIDIA's libraries as a process sees them: what CUDA's driver says, which copy of a library is loaded, what an import
that failed means, which packages share a file. Runs in an environment's own Python.

CUDA's errors are known by their numbers (runtime and driver have the same ones), which no release changes:
https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html. What the dynamic linker says was recorded from
NVIDIA's own libraries (tests/fixtures/cuda).
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .child_protocol import CheckWriter

CHECK_ID = "cuda-libraries"
CUDA_ERRORS = {
    34: "@verify.reason.driver-stub",
    35: "@verify.reason.driver-too-old",
    802: "@verify.reason.driver-not-ready",
    803: "@verify.reason.driver-mismatch",
    804: "@verify.reason.driver-compat",
    999: "@verify.reason.driver-unknown",
}
NO_DEVICE = 100
VISIBLE_DEVICES = "CUDA_VISIBLE_DEVICES"
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
_UNFIT = re.compile(
    r"undefined symbol: \S+?(?:, version (?P<version>lib\S+))?$|version `(?P<needed>lib\S+)' not found", re.MULTILINE
)


def hidden_devices() -> bool:
    """Whether the environment hides every card from CUDA."""
    return os.environ.get(VISIBLE_DEVICES, "0").strip() in ("", "-1", "NoDevFiles")


def driver_failure() -> str | None:
    """Why CUDA's driver does not start, as the code of a text; None where it starts, or says nothing that is known."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return "@verify.reason.no-driver"
    status = driver.cuInit(0)
    if status == NO_DEVICE and hidden_devices():
        return "@verify.reason.hidden-devices"
    return CUDA_ERRORS.get(status)


def import_failure(error: BaseException) -> dict[str, str]:
    """The case of an import that failed for a library of NVIDIA's, with the library's name; {} for another cause."""
    message = str(error)
    missing, unfit = _MISSING.search(message), _UNFIT.search(message)
    if missing is not None and _is_nvidia(missing["library"]):
        return {"case": "library-missing", "library": missing["library"]}
    library = (unfit["version"] or unfit["needed"] or message.partition(":")[0]) if unfit is not None else ""
    name = re.split(r"[\\/]", library.strip())[-1]
    return {"case": "libraries-mixed", "library": name} if _is_nvidia(name) else {}


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
