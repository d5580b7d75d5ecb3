"""What each kind of step does, one file for each kind."""

from __future__ import annotations

from .check_space import CheckSpace
from .conda_environment import CondaEnvironment
from .cuda_installer import CudaInstaller
from .cuda_run import CudaRun
from .cuda_toolkit import CudaToolkit
from .cudnn import Cudnn
from .download import Download
from .kind import Kind
from .nvidia_driver import NvidiaDriver
from .python_packages import PythonPackages
from .python_runtime import PythonRuntime
from .resolve import Resolve
from .variables import Variables
from .vc_redist import VcRedist
from .verify import Verify
from .wsl2 import Wsl2

# In the order in which a plan has them: what another one needs comes before it.
ALL: tuple[Kind, ...] = (
    CheckSpace(),
    PythonRuntime(),
    CondaEnvironment(),
    Resolve(),
    Download(),
    PythonPackages(),
    CudaToolkit(),
    CudaRun(),
    Cudnn(),
    Variables(),
    VcRedist(),
    CudaInstaller(),
    # May want a restart: everything that can be done before it is done, and the proof comes after it.
    NvidiaDriver(),
    Verify(),
    # Beside all of it, and nothing waits for it.
    Wsl2(),
)

KINDS: dict[str, Kind] = {kind.name: kind for kind in ALL}
