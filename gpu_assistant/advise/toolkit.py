"""The CUDA Toolkit and cuDNN for those who compile CUDA code, and the C++ compiler that nvcc needs for that.

`advise_toolkit` keeps what is installed and fits the chips, the driver and PyTorch's own CUDA, else names what to
install. `compiler_warnings` tells whether Microsoft's or GNU's compiler is missing or refused by the toolkit.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.records.cuda import ToolkitRelease
from ..catalog.records.libraries import CudnnRelease
from ..catalog.store import Catalog
from ..core.machine import SystemName
from ..core.recommendation import PartAdvice, RecommendationWarning
from ..core.types import Value
from ..core.versions import Capability, Version, version_key
from .candidates import Candidate, TargetSystem
from .drivers import find_minimum_driver, is_reachable, stricter_minimum

# Where Debian's, Ubuntu's and Arch's own packages put the toolkit; NVIDIA's installers put theirs below /usr/local.
_DISTRIBUTION_FOLDERS = ("/usr/lib", "/opt/cuda")


class ToolkitAdvice(Struct, frozen=True, kw_only=True):
    """What to do about both parts.

    `is_other_minor`: the toolkit is of another minor than PyTorch's CUDA; `minimum_driver` is for its programs;
    `broken_toolkits` are installed without nvcc; `installable_version` is the toolkit to install if none were here;
    `is_impossible`: none fits the GPU; `is_chip_unknown`: nobody knows whether the chosen one compiles for it;
    `is_blocked_by_glibc`: one would fit, if its headers did not clash with those of this Linux.
    """

    toolkit: PartAdvice = PartAdvice(action="none")
    cudnn: PartAdvice = PartAdvice(action="none")
    is_other_minor: bool = False
    minimum_driver: Version | None = None
    broken_toolkits: str | None = None
    installable_version: Version | None = None
    is_impossible: bool = False
    is_chip_unknown: bool = False
    is_blocked_by_glibc: bool = False


def advise_toolkit(target: TargetSystem, cuda: Version | None) -> ToolkitAdvice:
    """The toolkit that fits the chips, the driver and PyTorch's CUDA (None: PyTorch has none), and its cuDNN.

    An installed one that fits is kept: first one of PyTorch's minor, then one of its major, which PyTorch accepts.
    """
    incomplete = [t.version or t.path for t in target.machine.cuda_toolkits or () if t.nvcc is False]
    broken_toolkits = ", ".join(dict.fromkeys(incomplete)) or None
    if target.gpu is None or target.driver_state is None:
        return ToolkitAdvice(broken_toolkits=broken_toolkits)
    chips = target_chips(target)
    installed, installable = _best_installed(target, chips, cuda), _best_installable(target, chips, cuda)
    best = installed if installed is not None else installable
    if best is None:
        is_blocked = _best_installable(target, chips, cuda, any_glibc=True) is not None
        return ToolkitAdvice(broken_toolkits=broken_toolkits, is_impossible=True, is_blocked_by_glibc=is_blocked)
    # Nobody knows which cuDNN an unknown chip needs: an installed one stays, none is installed.
    cudnn = advise_cudnn(target, best.major, chips)
    return ToolkitAdvice(
        toolkit=PartAdvice(action="install" if installed is None else "keep", version=best.text),
        cudnn=cudnn if chips or cudnn.action == "keep" else PartAdvice(action="none"),
        is_other_minor=cuda is not None and best.series != cuda,
        minimum_driver=toolkit_minimum_driver(target, best.series),
        broken_toolkits=broken_toolkits,
        installable_version=installable,
    )


def target_chips(target: TargetSystem) -> tuple[Capability, ...]:
    """The chips that compiled code has to serve; none where the deciding one is unknown."""
    if target.gpu is None or target.gpu.capability is None:
        return target.other_chips
    return (target.gpu.capability, *target.other_chips)


def _best_installable(
    target: TargetSystem, chips: tuple[Capability, ...], cuda: Version | None, *, any_glibc: bool = False
) -> Version | None:
    """The newest of PyTorch's minor, else of its major; without PyTorch's CUDA the newest of all.

    Where those of PyTorch's minor clash with glibc, the nearest newer series that does not, of whatever major.
    """
    toolkits = list_toolkits(target.catalog, target.machine.os.system, target.arch, chips)
    versions = [toolkit.version for toolkit in toolkits]

    def is_fitting(version: Version) -> bool:
        return any_glibc or not clashes_with_glibc(target, version)

    of_minor = (version for version in versions if cuda is None or version.series == cuda)
    same_minor = next((v for v in of_minor if _can_run(target, v.series) and is_fitting(v)), None)
    if same_minor is not None or cuda is None:
        return same_minor
    runnable = [version for version in versions if _can_run(target, version.series)]
    fitting = [version for version in runnable if is_fitting(version)]
    if len(fitting) < len(runnable):
        nearest = min((version.series for version in fitting if version.series > cuda), default=None)
        return next((version for version in fitting if version.series == nearest), None)
    return next((version for version in fitting if version.major == cuda.major), None)


def clashes_with_glibc(target: TargetSystem, version: Version) -> bool:
    """Whether a toolkit's headers are known to clash with those of this Linux, so that nothing compiles."""
    glibc = target.glibc
    if glibc is None:
        return False
    rows = target.catalog.cuda.glibc_conflicts
    fails_from = next((row.fails_from for row in rows if version >= row.from_toolkit), None)
    return fails_from is not None and glibc >= fails_from


def _best_installed(target: TargetSystem, chips: tuple[Capability, ...], cuda: Version | None) -> Version | None:
    """The newest of PyTorch's minor, else of its major, among the complete toolkits on this computer that fit."""
    compatible = [
        version for version in _complete_toolkits(target) if is_toolkit_compatible(target, version.series, chips)
    ]
    same_minor = [version for version in compatible if version.series == cuda]
    preferred = same_minor or [version for version in compatible if cuda is None or version.major == cuda.major]
    return max(preferred, default=None)


def _complete_toolkits(target: TargetSystem) -> Iterator[Version]:
    """Those with a compiler whose headers fit this glibc. A distribution's own package has its patches for that."""
    for toolkit in target.machine.cuda_toolkits or ():
        version = Version.parse(toolkit.version)
        if not toolkit.nvcc or version is None:
            continue
        if not toolkit.path.startswith(_DISTRIBUTION_FOLDERS) and clashes_with_glibc(target, version):
            continue
        yield version


@lru_cache(maxsize=512)
def list_toolkits(
    catalog: Catalog, system: SystemName, arch: str, chips: tuple[Capability, ...]
) -> tuple[ToolkitRelease, ...]:
    """The released toolkits that compile for the chips and have an installer for the system, newest first."""
    return tuple(
        toolkit
        for toolkit in catalog.cuda.toolkits
        if not toolkit.preview
        and any((i.system, i.arch) == (system, arch) for i in toolkit.installers)
        and compiles_for(toolkit, chips)
    )


def compiles_for(toolkit: ToolkitRelease, chips: tuple[Capability, ...]) -> bool:
    """Whether a toolkit is known to compile for all of the chips."""
    lowest, highest = toolkit.lowest_capability, toolkit.highest_capability
    return all(
        chip in toolkit.also_capabilities or (lowest is not None and highest is not None and lowest <= chip <= highest)
        for chip in chips
    )


def may_compile(toolkit: ToolkitRelease, chips: tuple[Capability, ...]) -> bool:
    """Whether the newest chip that a toolkit compiles for is unknown, and none of the chips is too old for it."""
    lowest = toolkit.lowest_capability
    return toolkit.highest_capability is None and all(lowest is None or chip >= lowest for chip in chips)


def has_installer(target: TargetSystem) -> bool:
    """Whether an installer of any toolkit is known for this platform."""
    platform = (target.machine.os.system, target.arch)
    return any((i.system, i.arch) == platform for t in target.catalog.cuda.toolkits for i in t.installers)


def is_toolkit_compatible(target: TargetSystem, series: Version, chips: tuple[Capability, ...]) -> bool:
    """Whether a toolkit of this series compiles for the chips, and its programs run on a driver for them."""
    releases = (t for t in target.catalog.cuda.toolkits if t.version.series == series)
    return any(compiles_for(t, chips) for t in releases) and _can_run(target, series)


def toolkit_minimum_driver(target: TargetSystem, series: Version) -> Version | None:
    """The lowest driver for programs that a toolkit compiles."""
    system = target.driver_state.system if target.driver_state is not None else target.machine.os.system
    return find_minimum_driver(target.catalog, series, system, "binary")


def _can_run(target: TargetSystem, series: Version) -> bool:
    minimum, state = toolkit_minimum_driver(target, series), target.driver_state
    if state is None or minimum is None:
        return False
    # Programs run on a driver that supports the chip, too.
    return is_reachable(state, stricter_minimum(minimum, state.first_driver))


def advise_cudnn(target: TargetSystem, major: int, chips: tuple[Capability, ...]) -> PartAdvice:
    """The cuDNN for a CUDA major and the chips: the newest installed one that fits, else the newest released."""
    installed = [
        c.version
        for c in target.machine.cudnn or ()
        if c.version is not None
        and any(supports_chips(r, major, chips) for r in find_cudnn_releases(target.catalog, c.version))
    ]
    if installed:
        return PartAdvice(action="keep", version=max(installed, key=version_key))
    newest = _newest_cudnn(target.catalog, target.machine.os.system, target.arch, major, chips)
    return PartAdvice(action="none") if newest is None else PartAdvice(action="install", version=newest.version.text)


@lru_cache(maxsize=512)
def _newest_cudnn(
    catalog: Catalog, system: SystemName, arch: str, major: int, chips: tuple[Capability, ...]
) -> CudnnRelease | None:
    """The newest release that fits and has an archive with a known hash; where none has one, the newest that fits is
    still the right one to name.
    """
    fitting = [release for release in catalog.cudnn.releases if supports_chips(release, major, chips)]
    platform = (system, arch, major)
    archived = (r for r in fitting if any((a.system, a.arch, a.cuda) == platform for a in r.archives))
    return next(archived, fitting[0] if fitting else None)


def find_cudnn_releases(catalog: Catalog, version: str) -> Iterator[CudnnRelease]:
    """The releases that a version stands for: "9.10.2" is 9.10.2.21."""
    prefix = version_key(version)
    for release in catalog.cudnn.releases:
        if prefix and release.version.parts[: len(prefix)] == prefix:
            yield release


def supports_chips(release: CudnnRelease, major: int, chips: tuple[Capability, ...]) -> bool:
    """Whether a cuDNN is known to work with a CUDA major on all of the chips."""
    lowest = release.lowest_capability.get(str(major))
    return not release.yanked and lowest is not None and all(chip >= lowest for chip in chips)


def bundled_toolkit(target: TargetSystem, candidate: Candidate | None, parts: ToolkitAdvice) -> Version | None:
    """The CUDA whose packages PyTorch itself requires on this system, where the toolkit is of the same series: its
    compiler joins them. As exact as the catalog knows it ("13.2.2", else "13.2"); None where there are none.
    """
    wheels, cuda = target.catalog.cuda.wheels, candidate.build.cuda if candidate is not None else None
    toolkit, system = Version.parse(parts.toolkit.version), target.machine.os.system
    if wheels is None or candidate is None or cuda is None or toolkit is None or toolkit.series != cuda:
        return None
    return (candidate.build.record.cuda or cuda) if wheels.come_with_pytorch(cuda, system) else None


def find_wheels_obstacle(
    target: TargetSystem, candidate: Candidate | None, parts: ToolkitAdvice, *, is_picked: bool
) -> str | None:
    """Why the toolkit cannot be installed as NVIDIA's Python packages: the end of a text's code, None if it can.

    `is_picked`: the user picked this very version. Beside PyTorch's own packages only that of the same update fits.
    """
    wheels, version, system = target.catalog.cuda.wheels, Version.parse(parts.toolkit.version), target.machine.os.system
    if wheels is None or version is None or not wheels.has_toolkit(version, system, target.arch):
        return "toolkit-no-wheels"
    cuda = candidate.build.cuda if candidate is not None else None
    bundled = bundled_toolkit(target, candidate, parts)
    if bundled is not None:
        return "toolkit-wheels-update" if is_picked and bundled not in (version, version.series) else None
    return "toolkit-wheels-series" if wheels.come_with_pytorch(cuda, system) else None


def prefers_wheels(target: TargetSystem, candidate: Candidate | None, parts: ToolkitAdvice) -> bool:
    """Whether PyTorch brings most of the toolkit in the environment, in an update that is known: the compiler and a
    few headers are a small part of what the archives are (docs/decisions/0020).
    """
    bundled = bundled_toolkit(target, candidate, parts)
    return bundled is not None and bundled != bundled.series


def with_wheels(
    target: TargetSystem, candidate: Candidate | None, parts: ToolkitAdvice, *, cudnn_picked: bool
) -> ToolkitAdvice:
    """The toolkit as NVIDIA's Python packages, in the update that PyTorch requires, and cuDNN likewise where programs
    can be linked with that package; beside PyTorch it is PyTorch's own, unless the user picked another version.
    """
    wheels, bundled = target.catalog.cuda.wheels, bundled_toolkit(target, candidate, parts)
    toolkit = replace(parts.toolkit, way="wheels")
    if bundled is not None and bundled != bundled.series:
        toolkit = replace(toolkit, version=bundled.text)
    cudnn = parts.cudnn
    own_cudnn = candidate.build.record.cudnn if candidate is not None and bundled is not None else None
    if wheels is not None and cudnn.action == "install" and target.machine.os.system in wheels.cudnn_systems:
        if bundled is None or (cudnn_picked and own_cudnn is not None and own_cudnn.text == cudnn.version):
            cudnn = replace(cudnn, way="wheels")
        elif not cudnn_picked and own_cudnn is not None:
            cudnn = PartAdvice(action="install", version=own_cudnn.text, way="wheels")
    return replace(parts, toolkit=toolkit, cudnn=cudnn)


def compiler_warnings(target: TargetSystem, parts: ToolkitAdvice) -> Iterator[RecommendationWarning]:
    """A C++ compiler that is missing, or that the toolkit refuses."""
    toolkit = Version.parse(parts.toolkit.version)
    if target.machine.tools is None or toolkit is None or parts.toolkit.action == "none":
        return
    if target.machine.os.system == "windows":
        yield from _msvc_warnings(target, toolkit)
    elif target.machine.os.system == "linux":
        yield from _gcc_warnings(target, toolkit)


def _msvc_warnings(target: TargetSystem, toolkit: Version) -> Iterator[RecommendationWarning]:
    msvc = target.machine.tools.msvc if target.machine.tools is not None else None
    supported = target.catalog.cuda.host_compiler(toolkit)
    if msvc is None:
        if supported is None:
            yield RecommendationWarning(code="msvc-missing-any", data={"toolkit": toolkit.text})
        else:
            command = target.catalog.cuda.compiler_command(target.machine.os)
            data = {"toolkit": toolkit.text, "products": supported.products}
            code, more = ("msvc-missing", {}) if command is None else ("msvc-missing-command", {"command": command})
            yield RecommendationWarning(code=code, data={**data, **more})
        return
    installed_version = Version.parse(msvc)
    if supported is None or installed_version is None:
        return
    if installed_version < supported.lowest or (supported.below is not None and installed_version >= supported.below):
        data = {"toolkit": toolkit.text, "msvc": msvc, "products": supported.products}
        yield RecommendationWarning(code="msvc-unfit", data={**data})


def _gcc_warnings(target: TargetSystem, toolkit: Version) -> Iterator[RecommendationWarning]:
    gcc = target.machine.tools.gcc if target.machine.tools is not None else None
    newest, package = target.catalog.cuda.newest_gnu(toolkit), target.catalog.cuda.gnu_package(target.machine.os)
    if gcc is None:
        command = target.catalog.cuda.compiler_command(target.machine.os)
        code = "gcc-missing-any" if newest is None else "gcc-missing" if command is None else "gcc-missing-command"
        yield RecommendationWarning(code=code, data={"toolkit": toolkit.text, "newest": newest, "command": command})
    elif newest is not None and is_too_new(gcc, newest):
        code, name = ("gcc-unfit", None) if package is None else ("gcc-unfit-package", package.format(major=newest))
        data: dict[str, Value] = {"toolkit": toolkit.text, "gcc": gcc, "newest": newest, "package": name}
        yield RecommendationWarning(code=code, data=data)


def impossible_toolkit_code(target: TargetSystem, parts: ToolkitAdvice) -> str:
    """The code of the texts for why no toolkit can be had."""
    if parts.is_blocked_by_glibc:
        return "toolkit-glibc"
    return "toolkit-impossible" if has_installer(target) else "toolkit-no-installer"


def is_too_new(gcc: str, newest: int) -> bool:
    """Whether a compiler's major is above the newest that a toolkit accepts; False for an unreadable version."""
    version = Version.parse(gcc)
    return version is not None and version.major > newest


def find_toolkit_for_compiler(target: TargetSystem, parts: ToolkitAdvice) -> Version | None:
    """Where the toolkit refuses the installed GNU compiler: the next series of the same major that accepts it, in its
    newest update.
    """
    tools, chosen = target.machine.tools, Version.parse(parts.toolkit.version)
    gcc = tools.gcc if tools is not None else None
    if gcc is None or chosen is None or target.machine.os.system != "linux" or parts.toolkit.action == "none":
        return None
    newest = target.catalog.cuda.newest_gnu(chosen)
    if newest is None or not is_too_new(gcc, newest):
        return None
    chips, match = target_chips(target), None
    for toolkit in list_toolkits(target.catalog, "linux", target.arch, chips):
        version = toolkit.version
        newest_supported = target.catalog.cuda.newest_gnu(version)
        # They come newest first: the last series that fits is the nearest, its first release the newest update.
        if (
            version.major == chosen.major
            and version > chosen
            and newest_supported is not None
            and not is_too_new(gcc, newest_supported)
            and is_toolkit_compatible(target, version.series, chips)
            and not clashes_with_glibc(target, version)
        ):
            match = version if match is None or match.series != version.series else match
    return match
