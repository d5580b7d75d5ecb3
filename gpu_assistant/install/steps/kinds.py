"""All kinds of steps, in the order of a plan: a step comes after those that it needs."""

from __future__ import annotations

from .base import StepKind
from .conda_environment import CondaEnvironment
from .cuda_installer import RunFileInstaller, WindowsInstaller
from .cuda_redist import CudaRedistInstall, CudnnInstall
from .cuda_wheels import CudaWheelsInstall
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

# A kind's name is in plan files, journals and texts and does not change; the module and the class are named by the
# terms of the field. Where the two differ:
#
#   kind              class                    module
#   check-space       Preflight                preflight
#   resolve           PackageResolution        resolve
#   download          PackageDownload          download
#   cuda-toolkit      CudaRedistInstall        cuda_redist           NVIDIA's archives, unpacked
#   cudnn             CudnnInstall             cuda_redist
#   cuda-wheels       CudaWheelsInstall        cuda_wheels           NVIDIA's Python packages, in the environment
#   cuda-run          RunFileInstaller         cuda_installer        NVIDIA's own installer on Linux
#   cuda-installer    WindowsInstaller         cuda_installer        and on Windows
#   variables         EnvironmentVariables     environment_variables
#   verify            EnvironmentVerification  verify
ALL_KINDS: tuple[StepKind, ...] = (
    Preflight(),
    PythonRuntimeInstall(),
    CondaEnvironment(),
    PackageResolution(),
    PackageDownload(),
    PythonPackagesInstall(),
    CudaWheelsInstall(),
    CudaRedistInstall(),
    RunFileInstaller(),
    CudnnInstall(),
    VcRedistInstall(),
    WindowsInstaller(),
    # May need a restart: what can be done without the driver is done before, the verification after it.
    NvidiaDriverInstall(),
    EnvironmentVerification(),
    # The user's account is changed when all that it shall find has been proven.
    EnvironmentVariables(),
    # No other step needs it.
    Wsl2Install(),
)

STEP_KINDS: dict[str, StepKind] = {kind.name: kind for kind in ALL_KINDS}
