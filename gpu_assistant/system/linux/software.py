"""Where Python interpreters, conda, CUDA Toolkits and cuDNN are installed on Linux."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..paths import unique_folders, unique_interpreters
from ..variables import absolute_path_folders, find_on_path

_INTERPRETER_NAME = re.compile(r"python(3(\.\d+)?)?")
_CONDA_HOMES = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba")


def python_candidates(home: Path, environ: Mapping[str, str], root: Path = Path("/")) -> tuple[Path, ...]:
    """Possible Python interpreters, those on PATH first; each once."""
    return unique_interpreters(_interpreter_paths(home, environ, root))


def find_conda(home: Path, environ: Mapping[str, str], root: Path = Path("/")) -> Path | None:
    """conda's program where its installers put it; it need not be on PATH."""
    programs = (prefix / "bin/conda" for prefix in _conda_prefixes(home, environ, root))
    return next((program for program in programs if program.is_file()), None)


def cuda_folders(environ: Mapping[str, str], root: Path) -> tuple[Path, ...]:
    """Where NVIDIA's installers and the distributions put toolkits, CUDA_HOME, and the folder of the nvcc on PATH."""
    from_variables = [Path(value) for name in ("CUDA_HOME", "CUDA_PATH") if (value := environ.get(name))]
    # NVIDIA's packages link /usr/local/cuda-13 to /usr/local/cuda-13.0, after which the release is named.
    by_release = sorted(root.glob("usr/local/cuda-*"), key=lambda folder: (folder.is_symlink(), folder))
    default_folders = [*by_release, root / "usr/local/cuda", *sorted(root.glob("opt/cuda*"))]
    nvcc = find_on_path(("nvcc",), environ)
    nvcc_root = nvcc.resolve().parent.parent if nvcc is not None else None
    # An nvcc without headers beside it (a wrapper in /usr/local/bin) is no toolkit.
    from_nvcc = [nvcc_root] if nvcc_root is not None and (nvcc_root / "include/cuda.h").is_file() else []
    return unique_folders([*default_folders, *from_variables, *from_nvcc])


def cudnn_folders(environ: Mapping[str, str], root: Path, machine: str) -> tuple[Path, ...]:
    """The compiler's and the linker's default folders, and those inside toolkits; `machine` is uname's ("x86_64")."""
    multiarch = f"{machine}-linux-gnu"
    default_folders = [
        *(root / "usr/include", root / "usr/include" / multiarch),
        *(root / "usr/lib" / multiarch, root / "usr/lib64", root / "usr/local/lib"),
    ]
    toolkit_folders = [folder / part for folder in cuda_folders(environ, root) for part in ("include", "lib64", "lib")]
    return unique_folders([*default_folders, *toolkit_folders])


def _interpreter_paths(home: Path, environ: Mapping[str, str], root: Path) -> Iterator[Path]:
    folders = [*absolute_path_folders(environ), root / "usr/bin", root / "usr/local/bin", home / ".local/bin"]
    for folder in dict.fromkeys(folders):
        yield from _interpreters_in(folder)
    data_home = Path(environ.get("XDG_DATA_HOME") or home / ".local/share")
    version_managers = (
        (data_home / "uv/python", "*/bin"),
        (Path(environ.get("PYENV_ROOT") or home / ".pyenv") / "versions", "*/bin"),
        (home / ".asdf/installs/python", "*/bin"),
        (data_home / "mise/installs/python", "*/bin"),
    )
    for folder, pattern in version_managers:
        for bin_folder in sorted(folder.glob(pattern)):
            yield bin_folder / "python3"
    for prefix in _conda_prefixes(home, environ, root):
        yield prefix / "bin/python"


def _interpreters_in(folder: Path) -> Iterator[Path]:
    try:
        names = sorted(path.name for path in folder.iterdir() if _INTERPRETER_NAME.fullmatch(path.name))
    except OSError:
        return
    # "python3" before "python3.11": the shorter name is the one that a person knows.
    yield from (folder / name for name in sorted(names, key=lambda name: (name != "python3", name)))


def _conda_prefixes(home: Path, environ: Mapping[str, str], root: Path) -> Iterator[Path]:
    if program := environ.get("CONDA_EXE"):
        yield Path(program).parent.parent
    for name in _CONDA_HOMES:
        yield from (home / name, root / "opt" / name)
    yield root / "opt/conda"
    # conda lists every environment that it creates in this file.
    try:
        text = (home / ".conda/environments.txt").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    yield from (Path(line.strip()) for line in text.splitlines() if line.strip())
