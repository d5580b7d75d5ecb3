"""Microsoft's Visual C++ runtime, without which PyTorch and TensorFlow on Windows do not start."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.libraries import VcRuntimeRequirement
from ..catalog.versions import parse_version
from ..core.machine import Tools
from ..core.recommendation import RecommendationWarning as Caution
from .builds import Build
from .driver_cautions import make_warning
from .pick import TargetSystem
from .tensorflow import TensorFlowCandidate


def vc_runtime_warnings(target: TargetSystem, *, pytorch: Build | None, tensorflow: TensorFlowCandidate | None) -> Iterator[Caution]:
    """What is missing for those that come; one warning, for one installer mends it for both."""
    tools, catalog = target.machine.tools, target.catalog
    if target.machine.os.system != "windows" or tools is None:
        return
    requirements: list[tuple[str, VcRuntimeRequirement | None]] = []
    if pytorch is not None:
        requirements.append((pytorch.label, catalog.vc_requirement(pytorch.version)))
    if tensorflow is not None:
        requirements.append((f"TensorFlow {tensorflow.version}", catalog.tensorflow_vc_requirement(tensorflow.version)))
    for check in (_missing_runtime_warning, _outdated_runtime_warning):
        for label, requirement in requirements:
            warning = check(target, tools, label, requirement) if requirement is not None else None
            if warning is not None:
                yield warning
                return


def _missing_runtime_warning(target: TargetSystem, tools: Tools, label: str, requirement: VcRuntimeRequirement) -> Caution | None:
    """What the plan mends."""
    url = target.catalog.vc_redist.package.url
    installed_version, minimum_version = parse_version(tools.vc_redist), parse_version(requirement.lowest)
    installed_files = tools.vc_libraries
    missing = [file for file in requirement.needs_files if installed_files is not None and file not in installed_files]
    if tools.vc_redist is None:
        return make_warning("vc-missing", build=label, url=url)
    if missing:
        return make_warning("vc-files", build=label, installed=tools.vc_redist, files=", ".join(missing), url=url)
    if installed_version is not None and minimum_version is not None and installed_version < minimum_version:
        return make_warning("vc-old", build=label, installed=tools.vc_redist, needed=requirement.lowest, url=url)
    return None


def _outdated_runtime_warning(target: TargetSystem, tools: Tools, label: str, requirement: VcRuntimeRequirement) -> Caution | None:
    """What the newest release asks for is in the current runtime: one without it is older."""
    package, installed_files = target.catalog.vc_redist.package, tools.vc_libraries
    if not requirement.advise_current or installed_files is None:
        return None
    missing = [file for file in target.catalog.vc_redist.required_before[0].needs_files if file not in installed_files]
    if not missing:
        return None
    files = ", ".join(missing)
    return make_warning("vc-not-current", build=label, installed=tools.vc_redist, files=files, url=package.url)
