"""What is installed on a Windows, and how it is set up: from its registry, its variables and its files.

Nothing here calls Windows: the registry and the files are passed in, so that a recorded computer answers like a real
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PureWindowsPath
from typing import Literal, Protocol
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from ...core.machine import Cloud, Container, Gpu
from .. import hardware_ids
from ..base import WslStatus
from ..paths import ONEDRIVE_VARIABLES, unique_folders, unique_interpreters
from ..variables import absolute_path_folders, proxy_from_environment, strip_credentials
from .parsing import is_proxy_bypassed, parse_display_adapter, select_proxy_setting

DEVICE_CLASSES_KEY = r"SYSTEM\CurrentControlSet\Control\Class"
VC_RUNTIME_KEYS = (
    r"SOFTWARE\Microsoft\VisualStudio\14.0\VC\Runtimes\X64",
    r"SOFTWARE\WOW6432Node\Microsoft\VisualStudio\14.0\VC\Runtimes\X64",
)
TOOLKITS_KEY = r"SOFTWARE\NVIDIA Corporation\GPU Computing Toolkit\CUDA"
INTERNET_SETTINGS_KEY = r"Software\Microsoft\Windows\CurrentVersion\Internet Settings"
# Its ProxySettingsPerUser is 0 where an administrator has set the proxy for the whole computer, in the same key of the
# machine: learn.microsoft.com/windows-hardware/customize/desktop/unattend/
# microsoft-windows-ie-clientnetworkprotocolimplementation-hklmproxyserver
INTERNET_POLICIES_KEY = r"SOFTWARE\Policies\Microsoft\Windows\CurrentVersion\Internet Settings"
REBOOT_KEYS = (
    r"SOFTWARE\Microsoft\Windows\CurrentVersion\Component Based Servicing\RebootPending",
    r"SOFTWARE\Microsoft\Windows\CurrentVersion\WindowsUpdate\Auto Update\RebootRequired",
)
SECURE_BOOT_KEY = r"SYSTEM\CurrentControlSet\Control\SecureBoot\State"
# Windows' own containers have this value, and a guest on Azure this key of its agent.
CONTROL_KEY, CONTAINER_VALUE = r"SYSTEM\CurrentControlSet\Control", "ContainerType"
AZURE_AGENT_KEY = r"SOFTWARE\Microsoft\Windows Azure"
# learn.microsoft.com/windows/apps/develop/smart-app-control/test-your-app-with-smart-app-control
SMART_APP_CONTROL_KEY = r"SYSTEM\CurrentControlSet\Control\CI\Policy"
SMART_APP_CONTROL_STATES: Mapping[int | None, Literal["off", "on", "evaluation"]] = {0: "off", 1: "on", 2: "evaluation"}
FIRMWARE_KEY = r"HARDWARE\DESCRIPTION\System\BIOS"
HARDWARE_CONFIG_KEY = r"SYSTEM\HardwareConfig\Current"
ONEDRIVE_ACCOUNTS_KEY = r"Software\Microsoft\OneDrive\Accounts"
GIT_KEY = r"SOFTWARE\GitForWindows"
# https://learn.microsoft.com/en-us/windows/win32/msi/uninstall-registry-key
UNINSTALL_KEY = r"SOFTWARE\Microsoft\Windows\CurrentVersion\Uninstall"
VS_2015_KEY = r"SOFTWARE\WOW6432Node\Microsoft\VisualStudio\14.0\Setup\VC"
WINDOWS_VERSION_KEY = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion"
SERVICES_KEY = r"SYSTEM\CurrentControlSet\Services"
# As WSL's own program asks whether the Virtual Machine Platform is there (microsoft/WSL, wslutil.cpp).
WSL_SERVICES, NEWER_WSL_SERVICES, OLDER_WSL_SERVICE = ("HNS", "vmcompute"), ("vfpext",), "LxssManager"
WINDOWS_11_22H2 = 22621
WSL_KEY, WSL_STATE_INSTALLED = r"SOFTWARE\Microsoft\Windows\CurrentVersion\Lxss", 1
CONDA_HOMES = ("miniconda3", "anaconda3", "miniforge3", "mambaforge")
PYTHON_KEYS = (r"SOFTWARE\Python", r"SOFTWARE\WOW6432Node\Python")  # PEP 514


class RegistryReader(Protocol):
    """The functions of `registry.py`, or a recorded registry: a missing or forbidden value reads as None."""

    MACHINE: int
    USER: int

    def text(self, root: int, key: str, name: str) -> str | None:
        """One text value, trimmed; an empty one is None."""
        ...

    def number(self, root: int, key: str, name: str) -> int | None:
        """One number; drivers store some of them as bytes."""
        ...

    def exists(self, root: int, key: str) -> bool:
        """Whether there is such a key."""
        ...

    def children(self, root: int, key: str) -> list[str]:
        """The names of a key's sub-keys."""
        ...


class PciDeviceEntry(Struct, frozen=True, kw_only=True):
    r"""A PCI device as SetupAPI lists it. `hardware_ids` include the compatible ids; `driver` is its key below the
    class ("{4d36e968-…}\0000").
    """

    hardware_ids: tuple[str, ...]
    device_class: str | None = None
    driver: str | None = None
    friendly_name: str | None = None
    description: str | None = None
    service: str | None = None


class WindowsFacts:
    """What a Windows' registry, variables and files tell; implements `base.WindowsComponents`.

    `local_path` turns a path as Windows writes it into one that can be opened here.
    """

    def __init__(
        self, registry: RegistryReader, environ: Mapping[str, str], *, local_path: Callable[[str], Path] = Path
    ) -> None:
        self._registry = registry
        self._environ = environ
        self._local_path = local_path

    def display_adapters(self, devices: Iterable[PciDeviceEntry]) -> tuple[Gpu, ...]:
        """Every display adapter on the PCI bus, in Windows' own order."""
        adapters = (gpu for device in devices if (gpu := self._display_adapter(device)) is not None)
        return tuple(replace(gpu, index=index) for index, gpu in enumerate(adapters))

    def _display_adapter(self, device: PciDeviceEntry) -> Gpu | None:
        registry, key = self._registry, f"{DEVICE_CLASSES_KEY}\\{device.driver}"
        driver_description = registry.text(registry.MACHINE, key, "DriverDesc") if device.driver else None
        memory = registry.number(registry.MACHINE, key, "HardwareInformation.qwMemorySize") if device.driver else None
        return parse_display_adapter(
            hardware_ids=device.hardware_ids,
            device_class=device.device_class,
            description=driver_description or device.friendly_name or device.description,
            service=device.service,
            memory_bytes=memory,
        )

    def python_candidates(self, home: Path) -> tuple[Path, ...]:
        """Possible Python interpreters, those on PATH first; each once.

        Stubs named python.exe that open the Store are left out; the Store's Python has a folder of its own beside them.
        """
        return unique_interpreters(self._interpreter_paths(home))

    def _interpreter_paths(self, home: Path) -> Iterator[Path]:
        environ = self._environ
        local_app_data = Path(environ.get("LOCALAPPDATA") or home / "AppData/Local")
        roaming_app_data = Path(environ.get("APPDATA") or home / "AppData/Roaming")
        store = local_app_data / "Microsoft/WindowsApps"
        for folder in absolute_path_folders(environ):
            if folder.name.casefold() != store.name.casefold():
                yield from (folder / "python.exe", folder / "python3.exe")
        yield from self._registered_interpreters()
        patterns = (
            (local_app_data / "Programs/Python", "Python3*/python.exe"),
            (Path(environ.get("SystemDrive", "C:") + "\\"), "Python3*/python.exe"),
            (roaming_app_data / "uv/python", "*/python.exe"),
            (home / ".pyenv/pyenv-win/versions", "*/python.exe"),
            (store, "PythonSoftwareFoundation.Python.3*/python.exe"),
        )
        for folder, pattern in patterns:
            yield from sorted(folder.glob(pattern))
        for prefix in self._conda_prefixes(home, local_app_data):
            yield prefix / "python.exe"

    def _registered_interpreters(self) -> Iterator[Path]:
        registry = self._registry
        for root in (registry.USER, registry.MACHINE):
            for python_key in PYTHON_KEYS:
                for company in registry.children(root, python_key):
                    if company == "PyLauncher":
                        continue
                    for tag in registry.children(root, f"{python_key}\\{company}"):
                        key = f"{python_key}\\{company}\\{tag}\\InstallPath"
                        if program := registry.text(root, key, "ExecutablePath"):
                            yield Path(program)
                        elif folder := registry.text(root, key, ""):
                            yield Path(folder) / "python.exe"

    def _conda_prefixes(self, home: Path, local_app_data: Path) -> Iterator[Path]:
        if program := self._environ.get("CONDA_EXE"):
            yield Path(program).parent.parent
        program_data = Path(self._environ.get("ProgramData", "C:\\ProgramData"))
        for name in CONDA_HOMES:
            yield from (home / name, local_app_data / name, program_data / name)
        try:
            text = (home / ".conda/environments.txt").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return
        yield from (Path(line.strip()) for line in text.splitlines() if line.strip())

    def cuda_folders(self) -> tuple[Path, ...]:
        """Where NVIDIA's installer puts toolkits, its registry keys and its variables (CUDA_PATH_V12_6 …)."""
        registry = self._registry
        default_folders = sorted(self._program_files().glob("NVIDIA GPU Computing Toolkit/CUDA/v*"))
        registered_folders = [
            self._local_path(folder)
            for version in sorted(registry.children(registry.MACHINE, TOOLKITS_KEY))
            if (folder := registry.text(registry.MACHINE, f"{TOOLKITS_KEY}\\{version}", "InstallDir"))
        ]
        variable_names = [
            *sorted(name for name in self._environ if name.startswith("CUDA_PATH_V")),
            *("CUDA_PATH", "CUDA_HOME"),
        ]
        folders_from_variables = [
            self._local_path(value) for name in variable_names if (value := self._environ.get(name))
        ]
        return unique_folders([*default_folders, *registered_folders, *folders_from_variables])

    def cudnn_folders(self) -> tuple[Path, ...]:
        """Headers and libraries in NVIDIA's own folder, and those inside toolkits."""
        cudnn_roots = sorted(self._program_files().glob("NVIDIA/CUDNN/v*"))
        cudnn_folders = [
            folder
            for cudnn_root in cudnn_roots
            for part in ("include", "bin")
            for folder in _with_subfolders(cudnn_root / part)
        ]
        toolkit_folders = [folder / part for folder in self.cuda_folders() for part in ("include", "bin")]
        return unique_folders([*cudnn_folders, *toolkit_folders])

    def nvidia_smi(self) -> Path | None:
        """In System32; older drivers had a folder of their own."""
        nvsmi_folder = self._program_files() / "NVIDIA Corporation" / "NVSMI"
        return next(
            (
                path
                for folder in (self.system32_folder(), nvsmi_folder)
                if (path := folder / "nvidia-smi.exe").is_file()
            ),
            None,
        )

    def system32_folder(self) -> Path:
        """System32."""
        return self._local_path(self._environ.get("SystemRoot") or "C:\\Windows") / "System32"

    def wsl(self) -> WslStatus:
        """Ready where the services for virtual machines exist, and WSL's program or its older service.

        Docker's distributions are left out: they are its own.
        """
        registry = self._registry
        build = registry.text(registry.MACHINE, WINDOWS_VERSION_KEY, "CurrentBuild") or ""
        required_services = [
            *WSL_SERVICES,
            *(NEWER_WSL_SERVICES if build.isdigit() and int(build) >= WINDOWS_11_22H2 else ()),
        ]
        has_virtualization = all(
            registry.exists(registry.MACHINE, f"{SERVICES_KEY}\\{name}") for name in required_services
        )
        has_program = registry.text(registry.MACHINE, f"{WSL_KEY}\\MSI", "InstallLocation") is not None
        has_lxss_service = registry.exists(registry.MACHINE, f"{SERVICES_KEY}\\{OLDER_WSL_SERVICE}")
        names = (
            registry.text(registry.USER, f"{WSL_KEY}\\{distribution_key}", "DistributionName")
            for distribution_key in registry.children(registry.USER, WSL_KEY)
            if registry.number(registry.USER, f"{WSL_KEY}\\{distribution_key}", "State") == WSL_STATE_INSTALLED
            and registry.number(registry.USER, f"{WSL_KEY}\\{distribution_key}", "Version") == 2
        )
        distributions = tuple(name for name in names if name is not None and not name.startswith("docker-desktop"))
        return WslStatus(ready=has_virtualization and (has_program or has_lxss_service), distributions=distributions)

    def visual_cpp(self) -> str | None:
        """From the registry, where its installer wrote it."""
        registry = self._registry
        for key in VC_RUNTIME_KEYS:
            major = registry.number(registry.MACHINE, key, "Major")
            minor = registry.number(registry.MACHINE, key, "Minor")
            if major is not None and minor is not None and registry.number(registry.MACHINE, key, "Installed") != 0:
                return f"{major}.{minor}"
        return None

    def installed_program(self, key: str) -> str | None:
        """From the entry that an installer writes for all users, below "Uninstall"."""
        return self._registry.text(self._registry.MACHINE, f"{UNINSTALL_KEY}\\{key}", "DisplayVersion")

    def vswhere(self) -> Path | None:
        """At the fixed place to which Visual Studio's installer puts it."""
        program = self._program_files_x86() / "Microsoft Visual Studio/Installer/vswhere.exe"
        return program if program.is_file() else None

    def msvc_folders(self) -> tuple[Path, ...]:
        """In the default places, and Visual Studio 2015's from the registry."""
        default_folders = [
            folder
            for program_files in (self._program_files(), self._program_files_x86())
            for folder in sorted(program_files.glob("Microsoft Visual Studio/*/*/VC"), reverse=True)
        ]
        vs_2015_folder = self._registry.text(self._registry.MACHINE, VS_2015_KEY, "ProductDir")
        return unique_folders([*default_folders, *([self._local_path(vs_2015_folder)] if vs_2015_folder else [])])

    def find_program(self, name: str, home: Path) -> Path | None:
        """git or conda where its own installer puts it; it need not be on PATH."""
        registry = self._registry
        candidates: Sequence[Path] = ()
        if name == "git":
            roots = (registry.MACHINE, registry.USER)
            install_folders = [
                self._local_path(text) for root in roots if (text := registry.text(root, GIT_KEY, "InstallPath"))
            ]
            candidates = [folder / "cmd" / "git.exe" for folder in (*install_folders, self._program_files() / "Git")]
        elif name == "conda":
            program_data = self._local_path(self._environ.get("ProgramData") or "C:\\ProgramData")
            local_app_data = home / "AppData" / "Local"
            conda_folders = [
                folder / folder_name for folder_name in CONDA_HOMES for folder in (home, local_app_data, program_data)
            ]
            conda_exe = self._environ.get("CONDA_EXE")
            candidates = [
                *([self._local_path(conda_exe)] if conda_exe else []),
                *(folder / "Scripts" / "conda.exe" for folder in conda_folders),
            ]
        return next((path for path in candidates if path.is_file()), None)

    def proxy(self) -> str | None:
        """From the environment, else from Windows' settings."""
        if (from_environment := proxy_from_environment(self._environ)) is not None:
            return from_environment
        address = self._proxy_setting("https")
        return strip_credentials(address) if address else None

    def machine_proxy(self, url: str) -> str | None:
        """The proxy for an address where it is set for the whole computer, which libraries that read the user's
        settings do not know: "http://proxy:8080"; "" for none. None where each user has settings of their own.
        """
        registry = self._registry
        if not self._has_machine_proxy():
            return None
        overrides = registry.text(registry.MACHINE, INTERNET_SETTINGS_KEY, "ProxyOverride") or ""
        address = "" if is_proxy_bypassed(url, overrides) else self._proxy_setting(urlsplit(url).scheme)
        return address if "://" in address or not address else f"http://{address}"

    def _has_machine_proxy(self) -> bool:
        return self._registry.number(self._registry.MACHINE, INTERNET_POLICIES_KEY, "ProxySettingsPerUser") == 0

    def _proxy_setting(self, scheme: str) -> str:
        """The proxy that is switched on, as it is written; "" for none."""
        registry = self._registry
        root = registry.MACHINE if self._has_machine_proxy() else registry.USER
        if not registry.number(root, INTERNET_SETTINGS_KEY, "ProxyEnable"):
            return ""
        return select_proxy_setting(registry.text(root, INTERNET_SETTINGS_KEY, "ProxyServer") or "", scheme)

    def pending_reboot(self) -> bool:
        """By the keys of servicing and Windows Update; pending file renames alone are common."""
        return any(self._registry.exists(self._registry.MACHINE, key) for key in REBOOT_KEYS)

    def is_secure_boot_enabled(self) -> bool | None:
        """From the registry, where the boot loader wrote it; None where it did not (no UEFI, or an old Windows)."""
        enabled = self._registry.number(self._registry.MACHINE, SECURE_BOOT_KEY, "UEFISecureBootEnabled")
        return enabled != 0 if enabled is not None else None

    def smart_app_control(self) -> Literal["off", "on", "evaluation"] | None:
        """From the registry; None where this Windows has none."""
        state = self._registry.number(self._registry.MACHINE, SMART_APP_CONTROL_KEY, "VerifiedAndReputablePolicyState")
        return SMART_APP_CONTROL_STATES.get(state)

    def is_laptop(self, has_battery: bool | None) -> bool | None:
        """By the firmware's chassis type, else by a battery."""
        text = self._registry.text(self._registry.MACHINE, HARDWARE_CONFIG_KEY, "EnclosureType")
        number = self._registry.number(self._registry.MACHINE, HARDWARE_CONFIG_KEY, "EnclosureType")
        chassis = number if number is not None else int(text, 10) if text is not None and text.isdecimal() else None
        return hardware_ids.is_laptop(chassis, has_battery=has_battery)

    def virtual_machine(self) -> bool | None:
        """By the firmware's names; the processor's hypervisor flag is also set on real computers with Hyper-V."""
        names = (
            self._registry.text(self._registry.MACHINE, FIRMWARE_KEY, name)
            for name in ("SystemManufacturer", "SystemProductName")
        )
        return hardware_ids.is_virtual_machine(*names)

    def container(self) -> Container | None:
        """By the value that Windows has in its own containers."""
        is_container = self._registry.number(self._registry.MACHINE, CONTROL_KEY, CONTAINER_VALUE) is not None
        return "other" if is_container else None

    def cloud(self) -> Cloud | None:
        """By the firmware's names; on Azure they are those of any Hyper-V, but its guest agent is there."""
        registry = self._registry
        names = (
            registry.text(registry.MACHINE, FIRMWARE_KEY, name)
            for name in ("SystemManufacturer", "SystemProductName", "BIOSVendor")
        )
        if (cloud := hardware_ids.cloud_provider(names)) is not None:
            return cloud
        has_agent = registry.exists(registry.MACHINE, AZURE_AGENT_KEY)
        return "azure" if has_agent and self.virtual_machine() else None

    def onedrive_folders(self) -> tuple[str, ...]:
        """The folders that OneDrive synchronizes, from its variables and its accounts; each once."""
        registry = self._registry
        folders = [value for name in ONEDRIVE_VARIABLES if (value := self._environ.get(name))]
        accounts = registry.children(registry.USER, ONEDRIVE_ACCOUNTS_KEY)
        account_folders = (
            registry.text(registry.USER, f"{ONEDRIVE_ACCOUNTS_KEY}\\{account}", "UserFolder") for account in accounts
        )
        folders += [folder for folder in account_folders if folder]
        return tuple({str(PureWindowsPath(folder)).casefold(): folder for folder in reversed(folders)}.values())[::-1]

    def _program_files(self) -> Path:
        return self._local_path(
            self._environ.get("ProgramW6432") or self._environ.get("ProgramFiles") or "C:\\Program Files"
        )

    def _program_files_x86(self) -> Path:
        return self._local_path(self._environ.get("ProgramFiles(x86)") or "C:\\Program Files (x86)")


def _with_subfolders(folder: Path) -> list[Path]:
    return [folder, *sorted(subfolder for subfolder in folder.glob("*") if subfolder.is_dir())]
