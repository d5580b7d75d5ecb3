"""What each kind of step does, one file for each kind."""

from __future__ import annotations

from .base import StepKind
from .conda_environment import CondaEnvironment
from .cuda_installer import RunFileInstaller, WindowsInstaller
from .cuda_redist import CudaRedistInstall, CudnnInstall
from .download import PackageDownload
from .environment_variables import EnvironmentVariables
from .nvidia_driver import NvidiaDriverInstall
from .preflight import Preflight
from .python_packages import PythonPackagesInstall
from .python_runtime import PythonRuntimeInstall
from .resolve import PackageResolution
from .vc_redist import VcRedistInstall
from .verify import EnvironmentVerification
from .wsl2 import Wsl2Install

# In the order in which a plan has them: what another one needs comes before it.
ALL_KINDS: tuple[StepKind, ...] = (
    Preflight(),
    PythonRuntimeInstall(),
    CondaEnvironment(),
    PackageResolution(),
    PackageDownload(),
    PythonPackagesInstall(),
    CudaRedistInstall(),
    RunFileInstaller(),
    CudnnInstall(),
    EnvironmentVariables(),
    VcRedistInstall(),
    WindowsInstaller(),
    # May want a restart: everything that can be done before it is done, and the proof comes after it.
    NvidiaDriverInstall(),
    EnvironmentVerification(),
    # Beside all of it, and nothing waits for it.
    Wsl2Install(),
)

STEP_KINDS: dict[str, StepKind] = {kind.name: kind for kind in ALL_KINDS}
