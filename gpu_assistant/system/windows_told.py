"""Windows' answers once its registry and files have been read; the same for a computer that was recorded."""

from __future__ import annotations

from pathlib import Path

from .services import WslStatus
from .windows_facts import WindowsFacts


class WindowsFactAnswers:
    """Those of `base.System`'s questions that `WindowsFacts` answers alone."""

    _facts: WindowsFacts

    def nvidia_smi(self) -> Path | None:
        """In System32."""
        return self._facts.nvidia_smi()

    def cuda_folders(self) -> tuple[Path, ...]:
        """Of NVIDIA's installer, the registry and the variables."""
        return self._facts.cuda_folders()

    def cudnn_folders(self) -> tuple[Path, ...]:
        """NVIDIA's own and those inside toolkits."""
        return self._facts.cudnn_folders()

    def visual_cpp(self) -> str | None:
        """As its installer wrote it down."""
        return self._facts.visual_cpp()

    def system32_folder(self) -> Path | None:
        """System32."""
        return self._facts.system32_folder()

    def wsl(self) -> WslStatus:
        """By its services and what its program wrote down."""
        return self._facts.wsl()

    def vswhere(self) -> Path | None:
        """Of Visual Studio's installer."""
        return self._facts.vswhere()

    def msvc_folders(self) -> tuple[Path, ...]:
        """Visual Studio's usual places."""
        return self._facts.msvc_folders()

    def proxy(self) -> str | None:
        """From the environment, else from Windows' settings."""
        return self._facts.proxy()

    def pending_reboot(self) -> bool | None:
        """By the keys of servicing and Windows Update."""
        return self._facts.pending_reboot()

    def virtual_machine(self) -> bool | None:
        """By the maker's words."""
        return self._facts.virtual_machine()
