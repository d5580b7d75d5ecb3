"""What to do with a complete offline folder, on the computer with internet and then on the one without."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ...core.errors import AppError
from ...core.recommendation import SOURCE_WARNINGS
from ...texts.format import join_list
from ...texts.localized import Texts
from ...texts.terminal import PROGRAM_NAME, Terminal
from .. import language
from ..widgets.buttons import Button
from ..widgets.cards import Banner, Card
from ..widgets.console import CommandBox
from ..widgets.layouts import FlowLayout
from ..widgets.numbered_steps import Instruction, NumberedStep, NumberedSteps
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
GROUP_GAP = 12  # pixels between the steps of the two computers, besides the card's spacing
WSL_CODE = "wsl2-install"  # of the step for which Windows downloads what it installs
# The wheel is installed as docs/download.md describes.
WHEEL_ENVIRONMENT = "~/gpu-assistant"
WHEEL_COMMAND = (
    f"python3 -m venv {WHEEL_ENVIRONMENT} && {WHEEL_ENVIRONMENT}/bin/python -m pip install ./{{installer_name}}"
)


class BundleReadyCard(Card):
    """What to do with a complete folder, in the order in which it is done: on the computer with internet, then on the
    one without. What helps where a step fails is folded away, and so are the command for it and the checksum;
    `unfolded` brings the last widget of what was opened.
    """

    unfolded = Signal(QWidget)

    def __init__(self) -> None:
        super().__init__()
        self._copy_step, self._installer_step, self._driver_file_step = (NumberedStep() for _ in range(3))
        self._install_step, self._driver_step, self._parts_step = (NumberedStep() for _ in range(3))
        self._open_step, self._guided_driver_step = NumberedStep(), NumberedStep()
        self.here_steps = NumberedSteps((self._copy_step, self._installer_step, self._driver_file_step))
        self.there_steps = NumberedSteps(
            (self._install_step, self._driver_step, self._parts_step, self._open_step, self._guided_driver_step)
        )
        self.driver_button = DriverButton()
        self._driver_step.add_widget(self.driver_button)
        self._terminal_hint, self._no_internet_hint, self._settings_hint = (
            Instruction("small-strong") for _ in range(3)
        )
        self._hints = self._terminal_hint, self._no_internet_hint, self._settings_hint
        self.folder_banner = Banner("error", inset=True)
        self._sources_banner, self._command_label = Banner("warn", inset=True), label("small-strong")
        self.command_box, self._checksum_label = CommandBox(), label("small")
        self.another_button = Button(kind="ghost", icon_name="undo", small=True, flush="left")
        self.trouble_button = Button(kind="ghost", trailing_icon="down", small=True, flush="left")
        self.trouble_button.clicked.connect(self._toggle_trouble)
        self.details_button = Button(kind="ghost", trailing_icon="down", small=True, flush="left")
        self.details_button.clicked.connect(self._toggle_details)
        self._shows_trouble = self._shows_details = False
        self._details: tuple[QWidget, ...] = (self._command_label, self.command_box, self._checksum_label)
        self.column.addWidget(self.here_steps)
        self.column.addSpacing(GROUP_GAP)
        self.column.addWidget(self.there_steps)
        self.column.addWidget(self._sources_banner)
        self.column.addWidget(self.folder_banner)
        self.folder_banner.hide()
        buttons_layout = FlowLayout(spacing=16, line_spacing=0)
        for button in (self.another_button, self.trouble_button, self.details_button):
            buttons_layout.addWidget(button)
        self.column.addSpacing(4)
        self.column.addLayout(buttons_layout)
        hints_layout = QVBoxLayout()
        hints_layout.setSpacing(14)
        for hint in self._hints:
            hints_layout.addWidget(hint)
        self.column.addLayout(hints_layout)
        for widget in self._details:
            self.column.addWidget(widget)
        self._checksum_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._update_folded()
        self._runner = JobRunner(self)
        self._runner.failed.connect(self._show_folder_error)

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """What Tab reaches, in the order of reading."""
        steps = [part for step in (*self.here_steps.steps, *self.there_steps.steps) for part in step.controls]
        buttons = (self.another_button, self.trouble_button, self.details_button)
        hints = [part for hint in self._hints for part in hint.controls]
        return (*steps, *buttons, *hints, self.command_box.text_edit, self.command_box.copy_button)

    def set_bundle(self, bundle: CreatedBundle, texts: Texts) -> None:
        contents, driver = bundle.contents, bundle.driver
        name = bundle.order.folder.name or str(bundle.order.folder)
        installer_name = find_installer_name(contents, bundle.os)
        self.folder_banner.hide()
        self.here_steps.set_heading(self.tr("Next, on the computer with internet"))
        self.there_steps.set_heading(self.tr("Then, on the computer without internet"))
        self._copy_step.set_texts(
            self.tr("Copy the whole folder “{name}” to a USB stick (skip this if it is already on one).").format(
                name=name
            )
        )
        self._installer_step.set_texts(
            self.tr("Download the GPU Assistant installer to the same USB stick."),
            # A line of its own: a file's name must not be broken at its hyphen.
            f"{self._installer_note(contents, installer_name)}\n{installer_name}",
        )
        self._driver_file_step.set_texts(
            self._driver_file_text(driver), self.tr("The folder does not include the driver.")
        )
        self._install_step.set_texts(*self._install_texts(installer_name, texts))
        self._driver_step.set_texts(*self._driver_texts(driver))
        self._parts_step.set_texts(*self._parts_texts(contents))
        self._open_step.set_texts(*self._open_texts(name, installer_name))
        self._guided_driver_step.set_texts(*self._guided_driver_texts(driver))
        self.there_steps.number_from(self.here_steps.number_from(1))
        self._set_hints(installer_name, driver)
        self._place_driver_button(driver)
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
        self._update_folded()

    def internet_text(self, bundle: CreatedBundle) -> str:
        """That the other computer must go online once nevertheless, and for what; "" where it does not."""
        uses = []
        if is_wheel(find_installer_name(bundle.contents, bundle.os)):
            uses.append(self.tr("GPU Assistant"))
        if bundle.driver is not None and bundle.driver.source != "file":
            uses.append(self.tr("the NVIDIA driver"))
        if WSL_CODE in bundle.contents.excluded_codes:
            uses.append("WSL2")
        if not uses:
            return ""
        *others, last = uses
        first = join_list(others, language.texts().language)
        what = self.tr("{first} and {last}").format(first=first, last=last) if first else last
        return self.tr("The other computer must go online once, to install {what}.").format(what=what)

    def _set_hints(self, installer_name: str, driver: MissingDriver | None) -> None:
        """What to do where a step does not work, each only where it can happen."""
        has_command = PurePosixPath(installer_name).suffix == ".deb"
        has_packages = driver is not None and driver.source == "packages"
        self._terminal_hint.set_texts(
            self.tr("The installer does not open") if has_command else "",
            self.tr(
                "Open a terminal in the installer's folder and type the command below. Internet is needed only if your "
                "Linux lacks required packages."
            ),
            f"sudo apt install ./{installer_name}",
        )
        self._no_internet_hint.set_texts(
            self.tr("That computer cannot go online at all") if has_packages else "",
            self.tr(
                "As a last resort, download NVIDIA's own installer on this computer and take it along. It conflicts "
                "with your distribution's driver packages: if you want those later, remove it first."
            ),
        )
        self._settings_hint.set_texts(
            self.tr("You cannot find “Install from an offline folder”"),
            self.tr("It is also in Settings, under “Without internet”."),
        )

    def _place_driver_button(self, driver: MissingDriver | None) -> None:
        """Put where the driver is from into the step that needs it, or into the hint."""
        holders: tuple[Instruction, ...] = (self._driver_file_step, self._no_internet_hint, self._driver_step)
        for each in holders:
            each.remove_widget(self.driver_button)
        holder = next(holder for holder in holders if holder.text or holder is self._driver_step)
        holder.add_widget(self.driver_button)
        self.driver_button.set_driver(driver)

    def _installer_note(self, contents: BundleContents, installer_name: str) -> str:
        if is_wheel(installer_name):
            return self.tr("On GPU Assistant's download page, choose the file for other Linux systems:")
        if contents.platform.system == "windows":
            return self.tr("On GPU Assistant's download page, choose the file for Windows:")
        return self.tr("On GPU Assistant's download page, choose the file for Debian and Ubuntu:")

    def _install_texts(self, installer_name: str, texts: Texts) -> tuple[str, ...]:
        """How GPU Assistant is installed, a note, and a command if there is one."""
        if is_wheel(installer_name):
            return (
                self.tr("Connect the computer to the internet and install GPU Assistant from the copied file."),
                texts.translate("bundle.wheel-note"),
                WHEEL_COMMAND.format(installer_name=installer_name),
            )
        return (self.tr("If GPU Assistant is not installed yet, double-click the installer."),)

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
                self.tr("Connect it to the internet once, to install the NVIDIA driver."),
                self.tr(
                    "In the next step, GPU Assistant installs the driver from your Linux distribution's packages. A "
                    "phone sharing its connection over USB is enough."
                ),
            ),
            "page": (
                self.tr(
                    "Connect the computer to the internet, install the NVIDIA driver that its card needs, then restart."
                ),
                self.tr(
                    "The page below explains how; open GPU Assistant first to see which version is needed. A phone "
                    "sharing its connection over USB is enough."
                ),
            ),
            "guided": ("", ""),
        }[driver.source]

    def _parts_texts(self, contents: BundleContents) -> tuple[str, str]:
        """The step for what GPU Assistant has Windows download itself; empty if nothing."""
        if WSL_CODE not in contents.excluded_codes:
            return "", ""
        return (
            self.tr("Connect it to the internet once, to install WSL2."),
            self.tr("Windows downloads WSL2 during the setup."),
        )

    def _open_texts(self, name: str, installer_name: str) -> tuple[str, ...]:
        """How the folder is used, a note, and the command that opens a program installed from the wheel."""
        text = self.tr("Open GPU Assistant, press “Install from an offline folder” and choose “{name}”.").format(
            name=name
        )
        if not is_wheel(installer_name):
            return text, self.tr("All files are checked first; nothing is installed until you press “Install”.")
        note = self.tr(
            "All files are checked first; nothing is installed until you press “Install”. To open GPU Assistant, type "
            "in a terminal:"
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

    def _toggle_trouble(self) -> None:
        self._shows_trouble = not self._shows_trouble
        self._update_folded()
        if self._shows_trouble:
            self.unfolded.emit(self._settings_hint)

    def _toggle_details(self) -> None:
        self._shows_details = not self._shows_details
        self._update_folded()
        if self._shows_details:
            self.unfolded.emit(self._checksum_label)

    def _update_folded(self) -> None:
        for hint in self._hints:
            hint.setVisible(self._shows_trouble and bool(hint.text))
        for widget in self._details:
            widget.setVisible(self._shows_details)
        self.trouble_button.setText(self.tr("If something does not work"))
        self._show_fold(self.trouble_button, expanded=self._shows_trouble)
        self.details_button.setText(self.tr("Command and checksum"))
        self._show_fold(self.details_button, expanded=self._shows_details)

    def _show_fold(self, button: Button, *, expanded: bool) -> None:
        button.set_icon(trailing_icon="up" if expanded else "down")
        button.setAccessibleDescription(self.tr("expanded") if expanded else self.tr("collapsed"))

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


class DriverButton(Button):
    """Opens the official address of a driver, which is its tool tip; hidden where none is missing or known."""

    def __init__(self) -> None:
        super().__init__(kind="ghost", trailing_icon="open", small=True, flush="left")
        self.url = ""
        self.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self.url)))

    def set_driver(self, driver: MissingDriver | None) -> None:
        """Show where a driver is from."""
        self.url = (driver.url if driver is not None else None) or ""
        self.setVisible(bool(self.url))
        self.setToolTip(self.url)
        is_file = PurePosixPath(urlsplit(self.url).path).suffix in INSTALLER_SUFFIXES
        is_nvidia = driver is not None and driver.source != "page"
        page_text = self.tr("Open NVIDIA's page") if is_nvidia else self.tr("Open the page")
        self.setText(self.tr("Download it from NVIDIA") if is_file else page_text)
