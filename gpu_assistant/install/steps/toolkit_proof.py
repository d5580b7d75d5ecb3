"""What is to be proven of the CUDA Toolkit of an environment: which one it is, and which host compilers it takes."""

from __future__ import annotations

from pathlib import Path

from ...catalog.records.cuda import parse_cuda_header, parse_cudnn_header
from ...catalog.store import Catalog
from ...core.paths import DataDir
from ...core.recommendation import PartAdvice, Recommendation
from ...core.versions import Version
from ...system.base import System
from ...verify.cuda_program import CudnnFiles, ToolkitProof
from ..files.installed_packages import SITE_PACKAGES_GLOBS
from .cuda_installer import default_folder_name, installed_version, run_file_folder
from .cuda_redist import separate_cudnn_folder, toolkit_folder


def make_toolkit_proof(
    recommendation: Recommendation | None, environment: Path, catalog: Catalog, data: DataDir, system: System
) -> ToolkitProof | None:
    """The proof of the toolkit that was recommended, also before the environment has its name; None without one. Its
    folder is None where the toolkit is not found: it may have been deleted since.
    """
    if recommendation is None or recommendation.cuda_toolkit.action == "none":
        return None
    version = Version.parse(recommendation.cuda_toolkit.version)
    if version is None:  # a manifest may hold anything
        return None
    host_compiler, newest_gnu = catalog.cuda.host_compiler(version), catalog.cuda.newest_gnu(version)
    operating_system, cudnn = system.operating_system(), recommendation.cudnn
    return ToolkitProof(
        folder=_find_folder(recommendation.cuda_toolkit, environment, catalog, data, system),
        version=version.text,
        was_here=recommendation.cuda_toolkit.action == "keep",
        cudnn=separate_cudnn_folder(data.toolkits, cudnn.version, version.major) if cudnn.version is not None else None,
        kept_cudnn=_find_kept_cudnn(cudnn, system),
        newest_gnu=newest_gnu if operating_system.system == "linux" else None,
        lowest_msvc=host_compiler.lowest.text if host_compiler is not None else None,
        below_msvc=host_compiler.below.text if host_compiler is not None and host_compiler.below is not None else None,
        install_compiler=catalog.cuda.compiler_command(operating_system),
        install_older_compiler=catalog.cuda.compiler_command(operating_system, newest_gnu),
    )


def _find_folder(advice: PartAdvice, environment: Path, catalog: Catalog, data: DataDir, system: System) -> Path | None:
    """The toolkit's folder with its compiler."""
    version, wheels = Version.parse(advice.version), catalog.cuda.wheels
    if version is None:
        return None
    candidates: list[Path] = []
    if advice.way == "wheels" and wheels is not None:
        relative_folder = wheels.folder.format(major=version.major)
        candidates = [folder / relative_folder for glob in SITE_PACKAGES_GLOBS for folder in environment.glob(glob)]
    elif advice.action == "install":
        installer_settings = catalog.cuda.installer_settings(system.name)
        name = default_folder_name(installer_settings, version.text) if installer_settings is not None else None
        if advice.way is None:
            candidates = [toolkit_folder(data.toolkits, version.text)]
        elif system.name == "linux":
            candidates = [run_file_folder(data.toolkits, version.text)]
        else:
            candidates = [folder for folder in system.cuda_folders() if folder.name == name]
    else:
        candidates = [folder for folder in system.cuda_folders() if _is_of_version(folder, version)]
    compiler = Path("bin") / system.executable("nvcc")
    return next((folder for folder in candidates if (folder / compiler).is_file()), None)


def _find_kept_cudnn(advice: PartAdvice, system: System) -> CudnnFiles | None:
    """The cuDNN that was here before: NVIDIA's packages for Linux put header and library where compiler and linker look
    by default, its installer for Windows below folders named after the CUDA versions: include\\13.0, lib\\13.0\\x64.
    """
    if advice.action != "keep":
        return None
    folders = system.cudnn_folders()
    for folder in folders:
        if parse_cudnn_header(_read_text(folder / "cudnn_version.h")) != advice.version:
            continue
        if system.windows is None:
            library = next((path for each in folders if (path := each / "libcudnn.so").is_file()), None)
            dll_folder = None
        else:
            root = folder.parent if folder.name.lower() == "include" else folder.parent.parent
            series = folder.relative_to(root / "include")
            library = next(iter(sorted((root / "lib" / series).glob("**/cudnn.lib"))), None)
            dll_folder = root / "bin" / series
        if library is not None:
            return CudnnFiles(include=folder, library=library, dll_folder=dll_folder)
    return None


def _is_of_version(folder: Path, version: Version) -> bool:
    """By the toolkit's version.json, else by its header, which has major and minor only."""
    known = Version.parse(installed_version(folder))
    if known is not None:
        return known == version
    return Version.parse(parse_cuda_header(_read_text(folder / "include" / "cuda.h"))) == version.series


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
