"""What to do with a complete offline folder, on the computer with internet and then on the one without."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from ...core.errors import AppError
from ...core.recommendation import SOURCE_WARNINGS
from ...texts.localized import Texts
from ...texts.terminal import PROGRAM_NAME, Terminal
from .. import language
from ..widgets.base import Breakpoints
from ..widgets.buttons import Button
from ..widgets.cards import Banner, Card
from ..widgets.console import CommandBox
from ..widgets.numbered_steps import NumberedStep, NumberedSteps
from ..widgets.text import label
from ..wizard.pages.recommendation.notices import INSTALLER_SUFFIXES
from ..worker import FunctionJob, JobRunner
from .create import CreatedBundle

if TYPE_CHECKING:
    from ...core.machine import OperatingSystem
    from ...install.bundle.format import BundleContents
    from ...install.bundle.missing_driver import MissingDriver
    from ...system.base import Desktop

# As installers/windows/build.py and installers/linux/build.py name them. Windows runs its installer on ARM, too; for
# other kinds of Linux there is the wheel.
INSTALLER_NAMES = {
    ("windows", "x86_64"): "GPU-Assistant-Setup-{version}.exe",
    ("linux", "x86_64"): "gpu-assistant_{version}_amd64.deb",
}
DEBIAN_PACKAGES = ("debian", "ubuntu")  # ids of os-release: derived distributions name one of them
WHEEL_NAME = "gpu_assistant-{version}-py3-none-any.whl"
# The wheel is installed as docs/download.md describes.
WHEEL_ENVIRONMENT = "~/gpu-assistant"
WHEEL_COMMAND = (
    f"python3 -m venv {WHEEL_ENVIRONMENT} && {WHEEL_ENVIRONMENT}/bin/python -m pip install ./{{installer_name}}"
)


class BundleReadyCard(Card):
    """What to do with a complete folder, in the order in which it is done: on the computer with internet, then on the
    one without. The command for it and the checksum of its list are folded away.
    """

    def __init__(self) -> None:
        super().__init__(" ")
        self._copy_step, self._installer_step, self._driver_file_step = (NumberedStep() for _ in range(3))
        self._install_step, self._driver_step, self._parts_step = (NumberedStep() for _ in range(3))
        self._open_step, self._guided_driver_step = NumberedStep(), NumberedStep()
        self.here_steps = NumberedSteps((self._copy_step, self._installer_step, self._driver_file_step))
        self.there_steps = NumberedSteps(
            (self._install_step, self._driver_step, self._parts_step, self._open_step, self._guided_driver_step)
        )
        self.driver_source = DriverSource()
        self._driver_step.add_widget(self.driver_source)
        self.folder_banner = Banner("error", inset=True)
        self._sources_banner, self._command_label = Banner("warn", inset=True), label("small-strong")
        self.command_box, self._checksum_label = CommandBox(), label("small")
        self.another_button = Button(kind="ghost", icon_name="undo", flush="left")
        self.details_button = Button(kind="ghost", icon_name="terminal", flush="left")
        self.details_button.clicked.connect(self._toggle_details)
        self._shows_details = False
        self._details: tuple[QWidget, ...] = (self._command_label, self.command_box, self._checksum_label)
        self.column.addWidget(self.here_steps)
        self.column.addSpacing(6)
        self.column.addWidget(self.there_steps)
        self.column.addWidget(self._sources_banner)
        self.column.addWidget(self.folder_banner)
        self.folder_banner.hide()
        self._buttons_layout = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._buttons_layout.setSpacing(12)
        for button in (self.another_button, self.details_button):
            self._buttons_layout.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self._buttons_layout.addStretch(1)
        self.column.addSpacing(2)
        self.column.addLayout(self._buttons_layout)
        for widget in self._details:
            self.column.addWidget(widget)
        self._checksum_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._shape = Breakpoints(self)
        self._shape.changed.connect(self._update_layout)
        self._update_layout()
        self._update_details()
        self._runner = JobRunner(self)
        self._runner.failed.connect(self._show_folder_error)

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """What Tab reaches, in the order of reading."""
        command = (self.command_box.text_edit, self.command_box.copy_button)
        return (self.driver_source.button, self.another_button, self.details_button, *command)

    def set_bundle(self, bundle: CreatedBundle, texts: Texts) -> None:
        contents, driver = bundle.contents, bundle.driver
        name = bundle.order.folder.name or str(bundle.order.folder)
        installer_name = find_installer_name(contents, bundle.os)
        self.folder_banner.hide()
        self.set_title(self.tr("What to do next"))
        self.here_steps.set_heading(self.tr("On the computer with internet"))
        self.there_steps.set_heading(self.tr("On the computer without internet"))
        self._copy_step.set_texts(
            self.tr("Copy the whole folder “{name}” to a USB stick.").format(name=name),
            self.tr("Skip this if you prepared it on a USB stick."),
        )
        self._installer_step.set_texts(
            self._installer_text(contents, installer_name),
            self.tr("You can get this file from GPU Assistant's download page:"),
            installer_name,
        )
        self._driver_file_step.set_texts(
            self._driver_file_text(driver), self.tr("The folder does not include the driver.")
        )
        self._install_step.set_texts(*self._install_texts(contents, installer_name, texts))
        self._driver_step.set_texts(*self._driver_texts(driver))
        self._parts_step.set_texts(*self._parts_texts(contents))
        self._open_step.set_texts(*self._open_texts(name, installer_name))
        self._guided_driver_step.set_texts(*self._guided_driver_texts(driver))
        self.there_steps.number_from(self.here_steps.number_from(1))
        self._place_driver_source(driver)
        warnings = texts.localize_recommendation(bundle.recommendation).warnings
        # A Chinese full stop has its own space.
        space = "" if texts.language == "zh_CN" else " "
        notices = [f"{w.text}{space}{w.fix or ''}".rstrip() for w in warnings if w.code.startswith(SOURCE_WARNINGS)]
        self._sources_banner.set("warn", "\n".join(notices))
        self._sources_banner.setVisible(bool(notices))
        self._command_label.setText(
            self.tr(
                "Or open a terminal on the computer without internet in the folder that contains “{name}”, and type:"
            ).format(name=name)
        )
        terminal = Terminal(system=contents.platform.system)
        command = terminal.command_line([PROGRAM_NAME, "install", "--bundle", name])
        self.command_box.set_text(f"{WHEEL_ENVIRONMENT}/bin/{command}" if is_wheel(installer_name) else command)
        template = self.tr("{release} for {computer}, {count} files. Checksum of the list: {mark}")
        self._checksum_label.setText(
            template.format(
                release=contents.request.label,
                computer=contents.platform.label,
                count=len(contents.files),
                mark=bundle.checksum,
            )
        )
        self.another_button.setText(self.tr("Prepare another folder"))
        self._update_details()

    def _place_driver_source(self, driver: MissingDriver | None) -> None:
        """Put where the driver is from into the step that needs it."""
        driver_step = self._driver_file_step if self._driver_file_step.text else self._driver_step
        for step in (self._driver_file_step, self._driver_step):
            step.remove_widget(self.driver_source)
        driver_step.add_widget(self.driver_source)
        self.driver_source.set_driver(driver)

    def _installer_text(self, contents: BundleContents, installer_name: str) -> str:
        if is_wheel(installer_name):
            return self.tr("Copy the GPU Assistant file for other Linux systems to the same USB stick.")
        if contents.platform.system == "windows":
            return self.tr("Copy the GPU Assistant installer for Windows to the same USB stick.")
        return self.tr("Copy the GPU Assistant installer for Debian and Ubuntu to the same USB stick.")

    def _install_texts(self, contents: BundleContents, installer_name: str, texts: Texts) -> tuple[str, ...]:
        """How GPU Assistant is installed, a note, and a command if there is one."""
        if is_wheel(installer_name):
            return (
                self.tr("Connect the computer to the internet and install GPU Assistant from the copied file."),
                texts.translate("bundle.wheel-note"),
                WHEEL_COMMAND.format(installer_name=installer_name),
            )
        text = self.tr("Double-click the installer to install GPU Assistant.")
        if contents.platform.system == "windows":
            return text, self.tr("Skip this if GPU Assistant is already installed.")
        note = self.tr(
            "Skip this if GPU Assistant is already installed. Internet is needed only if your Linux lacks packages "
            "that it uses. If double-clicking does not work, open a terminal in the installer's folder and type:"
        )
        return text, note, f"sudo apt install ./{installer_name}"

    def _driver_file_text(self, driver: MissingDriver | None) -> str:
        """The step for a driver that the user brings along; empty if there is none."""
        if driver is None or driver.source != "file":
            return ""
        if driver.version is None:
            return self.tr(
                "Download the newest NVIDIA driver for the graphics card of the computer without internet to the same "
                "USB stick."
            )
        return self.tr("Download NVIDIA driver {version} to the same USB stick.").format(version=driver.version)

    def _driver_texts(self, driver: MissingDriver | None) -> tuple[str, str]:
        """The step for the missing driver before GPU Assistant is opened over there; empty if none."""
        if driver is None:
            return "", ""
        return {
            "file": (self.tr("Double-click the NVIDIA driver's file to install it, then restart."), ""),
            "packages": (
                self.tr("Connect the computer to the internet."),
                self.tr(
                    "GPU Assistant installs the NVIDIA driver from your Linux distribution's packages, which the "
                    "folder cannot include. A phone sharing its connection over USB is enough."
                ),
            ),
            "page": (
                self.tr(
                    "Connect the computer to the internet, install the NVIDIA driver that its card needs, then restart."
                ),
                self.tr(
                    "The folder does not include the driver. The page below explains how to install it; open GPU "
                    "Assistant first to see which version is needed. A phone sharing its connection over USB is enough."
                ),
            ),
            "guided": ("", ""),
        }[driver.source]

    def _parts_texts(self, contents: BundleContents) -> tuple[str, str]:
        """The step for what GPU Assistant has Windows download itself; empty if nothing."""
        if "wsl2-install" not in contents.excluded_codes:
            return "", ""
        return (
            self.tr("Connect the computer to the internet."),
            self.tr("During the setup, Windows downloads WSL2 itself; the folder cannot include it."),
        )

    def _open_texts(self, name: str, installer_name: str) -> tuple[str, ...]:
        """How the folder is used, a note, and the command that opens a program installed from the wheel."""
        text = self.tr("Open GPU Assistant, press “Install from an offline folder” and choose “{name}”.").format(
            name=name
        )
        if not is_wheel(installer_name):
            return text, self.tr(
                "All files are checked first; nothing is installed until you press “Install”. If there is no such "
                "button: it is in Settings, under “Without internet”."
            )
        note = self.tr(
            "All files are checked first; nothing is installed until you press “Install”. If there is no such button: "
            "it is in Settings, under “Without internet”. To open GPU Assistant, type in a terminal:"
        )
        return text, note, f"{WHEEL_ENVIRONMENT}/bin/{PROGRAM_NAME}"

    def _guided_driver_texts(self, driver: MissingDriver | None) -> tuple[str, str]:
        """The step for the driver about which GPU Assistant tells over there; empty if none."""
        if driver is None or driver.source != "guided":
            return "", ""
        return (
            self.tr(
                "Install the NVIDIA driver as GPU Assistant explains, restart, and open GPU Assistant again to finish."
            ),
            self.tr(
                "The folder does not include the driver, so this needs internet. A phone sharing its connection over "
                "USB is enough."
            ),
        )

    def _toggle_details(self) -> None:
        self._shows_details = not self._shows_details
        self._update_details()

    def _update_details(self) -> None:
        for widget in self._details:
            widget.setVisible(self._shows_details)
        self.details_button.setText(
            self.tr("Hide command and checksum") if self._shows_details else self.tr("Show command and checksum")
        )

    def _update_layout(self) -> None:
        direction = QBoxLayout.Direction.TopToBottom if self._shape.is_tight else QBoxLayout.Direction.LeftToRight
        self._buttons_layout.setDirection(direction)

    def show_folder(self, system: Desktop, folder: Path) -> None:
        """Open the folder in the file manager."""
        if not self._runner.running:
            self.folder_banner.hide()
            self._runner.start(FunctionJob(lambda: system.open_folder(folder)))

    def _show_folder_error(self, error: AppError) -> None:
        self.folder_banner.set("error", language.texts().error_text(error))
        self.folder_banner.show()


def find_installer_name(contents: BundleContents, os: OperatingSystem) -> str:
    """The file that installs GPU Assistant there. A Linux that does not name itself is taken for one with Debian's
    packages.
    """
    if contents.platform.system == "windows":
        return INSTALLER_NAMES["windows", "x86_64"].format(version=contents.program)
    names = {name.casefold() for name in (os.distro, *(os.distro_like or ())) if name}
    has_packages = not names or not names.isdisjoint(DEBIAN_PACKAGES)
    name = INSTALLER_NAMES.get(("linux", contents.platform.arch), WHEEL_NAME) if has_packages else WHEEL_NAME
    return name.format(version=contents.program)


def is_wheel(installer_name: str) -> bool:
    """Whether the file is the wheel, which is installed by a command and opened by its path."""
    return installer_name.endswith(".whl")


class DriverSource(QWidget):
    """A button for the official address of a driver, which is its tool tip, below a note."""

    def __init__(self) -> None:
        super().__init__()
        self.url = ""
        self._note_label = label("small")
        self.button = Button(kind="ghost", trailing_icon="open", small=True, flush="left")
        self.button.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self.url)))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._note_label)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)

    def set_driver(self, driver: MissingDriver | None) -> None:
        """Show where a driver is from; hidden where none is missing, or no address is known."""
        self.url = (driver.url if driver is not None else None) or ""
        self.setVisible(bool(self.url))
        self.button.setToolTip(self.url)
        self._note_label.setText(
            self.tr(
                "No internet there at all? As a last resort, download NVIDIA's own installer on this computer and take "
                "it along. It conflicts with the distribution's packages: remove it before you install the driver "
                "from there."
            )
        )
        self._note_label.setVisible(driver is not None and driver.source == "packages")
        is_file = PurePosixPath(urlsplit(self.url).path).suffix in INSTALLER_SUFFIXES
        is_nvidia = driver is not None and driver.source != "page"
        page_text = self.tr("Open NVIDIA's page") if is_nvidia else self.tr("Open the page")
        self.button.setText(self.tr("Download it from NVIDIA") if is_file else page_text)
