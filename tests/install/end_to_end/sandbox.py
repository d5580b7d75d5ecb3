"""A sandbox for the whole program: the publishers on loopback, a GPU and a driver, an elevation helper.

`python program.py CONFIG ARGUMENTS` is the program in it; everything that is not named here is the product's own.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from gpu_assistant.app import App
from gpu_assistant.catalog.store import Catalog, load_catalog
from gpu_assistant.core.machine import OperatingSystem
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.versions import Version
from gpu_assistant.install.elevation.client import ElevationClient
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.install.steps.nvidia_driver import NvidiaDriverInstall
from gpu_assistant.install.steps.vc_redist import VcRedistInstall
from gpu_assistant.system.nvml import library as nvml_library
from tests.fakes.redist import CUDNN_VERSION, TOOLKIT, Redist
from tests.install.elevation.helper import tried_rights

if TYPE_CHECKING:
    from gpu_assistant.install.steps.context import InstallContext

if sys.platform == "win32":
    from gpu_assistant.system.windows.system import WindowsSystem as ThisSystem
else:
    from gpu_assistant.system.linux.system import LinuxSystem as ThisSystem


HELPER = Path(__file__).parents[1] / "elevation" / "helper.py"
SIGNED = HELPER.with_name("signed") / "nvidia.exe"
DRIVER = "617.99"
DRIVER_PATH = f"/Windows/{DRIVER}/{DRIVER}-desktop-win10-win11-64bit-international-nsd-dch-whql.exe"
TORCH_INDEX = "/whl/cpu"
HERE = "windows" if sys.platform == "win32" else "linux"
SERIES = ".".join(platform.python_version_tuple()[:2])


class SandboxConfig(Struct, frozen=True, kw_only=True):
    """`root`: an empty folder; `base`: the publishers' server; `library` answers in NVML's place; `torch`: version."""

    root: str
    base: str
    library: str
    torch: str

    @property
    def private_folder(self) -> Path:
        """A folder that nobody else writes."""
        return Path(self.root) / "run"

    @property
    def apt_get(self) -> Path:
        """What installs packages on Linux."""
        return Path(self.root) / "apt-get"

    @property
    def pkexec(self) -> Path:
        """What asks for rights on Linux."""
        return Path(self.root) / "pkexec"


def redist(config: SandboxConfig) -> Redist:
    """NVIDIA's archives, the same in every process."""
    return Redist(config.base, HERE)


def catalog(config: SandboxConfig) -> Catalog:
    """The real catalog, in which NVIDIA's and PyTorch's servers are on loopback, with the one toolkit and cuDNN there.

    A catalog's own files name no address there.
    """
    result = redist(config).catalog(load_catalog(resources_dir() / "catalog"))
    toolkits = tuple(each for each in result.cuda.toolkits if each.version.text == TOOLKIT)
    vars(result)["cuda"] = msgspec.structs.replace(result.cuda, toolkits=toolkits)
    cudnns = tuple(each for each in result.cudnn.releases if each.version.text == CUDNN_VERSION)
    vars(result)["cudnn"] = msgspec.structs.replace(result.cudnn, releases=cudnns)
    newest = next(p for p in result.drivers.packages if (p.system, p.channel) == ("windows", "studio") and p.sha256)
    sha256 = hashlib.sha256(SIGNED.read_bytes()).hexdigest()
    package = msgspec.structs.replace(newest, version=Version(DRIVER), url=config.base + DRIVER_PATH, sha256=sha256)
    others = tuple(p for p in result.drivers.packages if p.system != "windows")
    vars(result)["drivers"] = msgspec.structs.replace(result.drivers, packages=(package, *others))
    releases = tuple(
        msgspec.structs.replace(
            release,
            variants=tuple(
                msgspec.structs.replace(each, index_url=config.base + TORCH_INDEX) if each.variant == "cpu" else each
                for each in release.variants
            ),
        )
        if release.version.text == config.torch
        else release
        for release in result.pytorch.releases
    )
    vars(result)["pytorch"] = msgspec.structs.replace(result.pytorch, releases=releases)
    return result


class SandboxSystem(ThisSystem):
    """This computer, but for CUDA that somebody installed on it; on Linux an Ubuntu, whose session systemd runs."""

    def __init__(self, config: SandboxConfig) -> None:
        super().__init__()
        self._config = config

    def cuda_folders(self) -> tuple[Path, ...]:
        return ()

    def cudnn_folders(self) -> tuple[Path, ...]:
        return ()

    def container(self) -> None:
        """A container gets no driver, and the tests may run in one."""

    def cloud(self) -> None:
        """Rented computers have drivers of their own."""

    if sys.platform != "win32":

        def operating_system(self) -> OperatingSystem:
            here = super().operating_system()
            return msgspec.structs.replace(here, distro="ubuntu", distro_version="24.04", secure_boot=False)

        @property
        def variables(self) -> Any:
            from gpu_assistant.system.linux.environment import LinuxEnvironmentVariables, config_folder

            return LinuxEnvironmentVariables(
                config_folder(self._home, self._environ), Path(self._config.root) / "systemd"
            )


def elevation_client(config: SandboxConfig, system: SandboxSystem, work: InstallContext) -> ElevationClient:
    """The helper as a program of its own; Linux asks by the sandbox's own pkexec."""
    ask: Any = system.run_as_admin
    if sys.platform != "win32":
        from gpu_assistant.system.linux.elevation import run_as_admin

        ask = partial(run_as_admin, pkexec=config.pkexec)
    command = (sys.executable, str(HELPER), str(config.private_folder), str(config.apt_get))
    return ElevationClient(
        work.data.state, system, rights=tried_rights(config.private_folder), run_as_admin=ask, command=command
    )


def use(config: SandboxConfig) -> type[App]:
    """Let this process be in the sandbox; gives the program's services there."""
    vars(nvml_library)["EXTRA_LIBRARY_PATHS"] = (Path(config.library),)
    system, here = SandboxSystem(config), catalog(config)
    ask = partial(elevation_client, config, system)
    STEP_KINDS["nvidia-driver"] = NvidiaDriverInstall(ask)
    STEP_KINDS["vc-redist"] = VcRedistInstall(ask)

    class SandboxApp(App):
        def __init__(self, **given: Any) -> None:
            super().__init__(**given)
            vars(self).update(system=system, catalog=here)

    return SandboxApp
