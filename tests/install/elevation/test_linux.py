"""The elevation helper on Linux, through a pkexec that really starts the helper: what it does, refuses and answers."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import AppError, ElevationDenied
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.install.elevation.client import ElevationClient, helper_command
from gpu_assistant.install.elevation.protocol import HELPER_FLAG
from tests.fakes.system import FakeSystem
from tests.install.elevation.helper import programs, tried_rights

if sys.platform == "win32":
    pytest.skip("pkexec and apt-get; test_signed has Windows' side", allow_module_level=True)

from gpu_assistant.system.linux.elevation import LinuxElevatedSystem, run_as_admin, run_to_end_as_admin

pytestmark = pytest.mark.linux
CATALOG = load_catalog(resources_dir() / "catalog")
HELPER = Path(__file__).with_name("helper.py")

# What pkexec does once the person said yes, said no, or when nobody could ask.
PKEXEC = """#!/bin/sh
[ "$1" = --disable-internal-agent ] || exit 99
shift
echo "$@" >>"{log}"
[ {code} = 0 ] || exit {code}
exec "$@"
"""

# Behaves like apt-get as far as the helper looks: a trial with -s, and what it would remove.
APT_GET = """#!/bin/sh
printf '%s\\n' "$*" >>"{log}"
env >"{log}.environ"
case " $* " in
    *" -s "*) printf 'Inst something\\n{trial}\\n'; exit {trial_code} ;;
    *" update "*) exit 100 ;;
esac
echo "Setting up nvidia"
exit {code}
"""


def program(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


class HelperSandbox:
    def __init__(self, folder: Path, *, pkexec: int = 0, trial: str = "", trial_code: int = 0, code: int = 0) -> None:
        self.base, self.own = folder / "run", folder / "own"
        self.base.mkdir()
        self.own.mkdir()
        self.prompts, self.log = folder / "prompts", folder / "apt"
        self.log.touch()
        asks = program(folder / "pkexec", PKEXEC.format(log=self.prompts, code=pkexec))
        self.apt = program(
            folder / "apt-get", APT_GET.format(log=self.log, trial=trial, trial_code=trial_code, code=code)
        )
        self.client = ElevationClient(
            self.own,
            FakeSystem(),
            rights=tried_rights(self.base),
            run_as_admin=partial(run_as_admin, pkexec=asks),
            command=(sys.executable, str(HELPER), str(self.base), str(self.apt)),
        )


def test_packages_are_installed_noninteractively(tmp_path: Path) -> None:
    sandbox = HelperSandbox(tmp_path)
    answer = sandbox.client.install_linux_packages(
        ["nvidia-driver-580-open", "linux-modules-nvidia-580-open-generic"], None, CATALOG
    )
    assert (answer.exit_code, answer.lines[-1]) == (0, "Setting up nvidia")
    update, trial, install = sandbox.log.read_text().splitlines()
    assert update.endswith(" update")
    assert trial.endswith(" install -- nvidia-driver-580-open linux-modules-nvidia-580-open-generic")
    assert install.startswith("-q -y ")
    assert install.endswith(" install -- nvidia-driver-580-open linux-modules-nvidia-580-open-generic")
    assert "DEBIAN_FRONTEND=noninteractive\n" in (tmp_path / "apt.environ").read_text()
    assert not list(sandbox.own.iterdir())


def test_answer_is_writable_by_helper_only(tmp_path: Path) -> None:
    folder = tried_rights(tmp_path).create_private_folder("private")
    assert folder.stat().st_mode & 0o777 == 0o755
    assert folder.stat().st_uid == os.geteuid()


def test_private_folder_is_removed_afterwards(tmp_path: Path) -> None:
    sandbox = HelperSandbox(tmp_path)
    assert sandbox.client.install_linux_packages(["nvidia-driver-580"], None, CATALOG).exit_code == 0
    assert not list(sandbox.base.iterdir())


def test_apt_failure_is_answered(tmp_path: Path) -> None:
    sandbox = HelperSandbox(tmp_path, trial_code=100)
    with pytest.raises(AppError) as caught:
        sandbox.client.install_linux_packages(["nvidia-driver-580"], None, CATALOG)
    assert (caught.value.code, caught.value.data["status"]) == ("driver-packages-failed", 100)


def test_other_driver_branches_may_be_removed(tmp_path: Path) -> None:
    sandbox = HelperSandbox(tmp_path, trial=r"Remv nvidia-driver-550 [550.1]\nRemv libnvidia-gl-550 [550.1]")
    assert sandbox.client.install_linux_packages(["nvidia-driver-580"], None, CATALOG).exit_code == 0


def test_other_packages_may_not_be_removed(tmp_path: Path) -> None:
    sandbox = HelperSandbox(tmp_path, trial=r"Remv nvidia-driver-550 [550.1]\nRemv ubuntu-desktop [1.2]")
    with pytest.raises(AppError) as caught:
        sandbox.client.install_linux_packages(["nvidia-driver-580"], None, CATALOG)
    assert (caught.value.code, caught.value.data) == ("driver-would-remove", {"packages": "ubuntu-desktop"})
    assert len(sandbox.log.read_text().splitlines()) == 2


@pytest.mark.parametrize(("least", "fine"), [("580.65.06", True), ("580.95.5", True), ("580.96", False)])
def test_planned_version_is_checked(tmp_path: Path, least: str, fine: bool) -> None:
    sandbox = HelperSandbox(
        tmp_path, trial="Inst nvidia-driver-580 (580.95.05-0ubuntu0.24.04.2 Ubuntu:24.04/noble [amd64])"
    )
    if fine:
        assert sandbox.client.install_linux_packages(["nvidia-driver-580"], least, CATALOG).exit_code == 0
        return
    with pytest.raises(AppError) as caught:
        sandbox.client.install_linux_packages(["nvidia-driver-580"], least, CATALOG)
    assert (caught.value.code, caught.value.data) == ("driver-too-old-here", {"version": "580.95.05", "minimum": least})
    assert len(sandbox.log.read_text().splitlines()) == 2


@pytest.mark.parametrize("name", ["openssh-server", "nvidia-driver-580-evil", "nvidia-driver-5800", "nvidia-driver-"])
def test_unknown_packages_are_refused(tmp_path: Path, name: str) -> None:
    sandbox = HelperSandbox(tmp_path)
    with pytest.raises(AppError) as caught:
        sandbox.client.install_linux_packages(["nvidia-driver-580", name], None, CATALOG)
    assert caught.value.code == "door-request"
    assert not sandbox.log.read_text()


@pytest.mark.parametrize("code", [126, 127])
def test_refused_rights_change_nothing(tmp_path: Path, code: int) -> None:
    sandbox = HelperSandbox(tmp_path, pkexec=code)
    with pytest.raises(ElevationDenied) as caught:
        sandbox.client.install_linux_packages(["nvidia-driver-580"], None, CATALOG)
    assert caught.value.exit_code == 5
    assert not sandbox.log.read_text()
    assert not list(sandbox.base.iterdir())
    assert not list(sandbox.own.iterdir())


def test_missing_pkexec_is_an_error(tmp_path: Path) -> None:
    sandbox = HelperSandbox(tmp_path)
    (tmp_path / "pkexec").unlink()
    with pytest.raises(ElevationDenied) as caught:
        sandbox.client.install_linux_packages(["nvidia-driver-580"], None, CATALOG)
    assert caught.value.code == "rights-no-way"


def test_windows_requests_are_refused(tmp_path: Path) -> None:
    sandbox = HelperSandbox(tmp_path)
    setup = program(tmp_path / "setup.exe", "MZ")
    for call in (lambda: sandbox.client.install_windows_driver(setup, None), sandbox.client.create_restore_point):
        with pytest.raises(AppError) as caught:
            call()
        assert (caught.value.code, caught.value.data) == ("door-request", {"detail": "linux"})


def test_crashed_helper_is_no_answer(tmp_path: Path) -> None:
    sandbox = HelperSandbox(tmp_path)
    sandbox.base.rmdir()
    with pytest.raises(AppError) as caught:
        sandbox.client.install_linux_packages(["nvidia-driver-580"], None, CATALOG)
    assert caught.value.code == "door-no-answer"


def system_at(folder: Path, asks: Path) -> FakeSystem:
    """An Ubuntu of this user, on which pkexec is `asks`."""
    from gpu_assistant.core.machine import OperatingSystem
    from gpu_assistant.system.linux.system import LinuxSystem

    linux = LinuxSystem()
    system = FakeSystem(
        operating_system=OperatingSystem(system="linux", distro="ubuntu", distro_version="24.04"),
        run=linux.run,
        root=folder,
    )
    system.run_to_end_as_admin = lambda argv: run_to_end_as_admin(argv, linux.run_to_end, asks)  # type: ignore[method-assign]
    return system


class AskingSandbox:
    """A program that is not installed: only apt-get itself is run with rights."""

    def __init__(self, folder: Path, *, pkexec: int = 0, **apt: Any) -> None:
        self.prompts, self.log = folder / "prompts", folder / "apt"
        self.log.touch()
        self.prompts.touch()
        asks = program(folder / "pkexec", PKEXEC.format(log=self.prompts, code=pkexec))
        self.apt = program(
            folder / "apt-get", APT_GET.format(log=self.log, **{"trial": "", "trial_code": 0, "code": 0} | apt)
        )
        self.client = ElevationClient(
            folder / "own", system_at(folder, asks), rights=tried_rights(folder), programs=programs(self.apt)
        )


def test_program_that_is_not_installed_never_runs_as_root(tmp_path: Path) -> None:
    sandbox = AskingSandbox(tmp_path)
    answer = sandbox.client.install_linux_packages(["nvidia-driver-580"], None, CATALOG)
    assert (answer.exit_code, answer.lines[-1]) == (0, "Setting up nvidia")
    # One question, for apt-get by its full path with fixed options and names of the catalog; the simulation needs none.
    (asked,) = sandbox.prompts.read_text().splitlines()
    assert asked.split()[0] == str(sandbox.apt)
    assert asked.endswith(" install -- nvidia-driver-580")
    assert not any(name in asked for name in (sys.executable, "gpu_assistant", HELPER_FLAG))


def test_lists_are_updated_where_they_do_not_serve(tmp_path: Path) -> None:
    sandbox = AskingSandbox(tmp_path, trial_code=100)
    with pytest.raises(AppError, match="driver-packages-failed"):
        sandbox.client.install_linux_packages(["nvidia-driver-580"], None, CATALOG)
    (asked,) = sandbox.prompts.read_text().splitlines()
    assert asked.endswith(" update")


def test_run_that_was_cut_off_asks_for_dpkg_and_for_apt_get_once_each(tmp_path: Path) -> None:
    sandbox = AskingSandbox(tmp_path)
    dpkg = program(tmp_path / "dpkg", f'#!/bin/sh\nrm "{tmp_path}/updates/0000"\nexit 1\n')
    (tmp_path / "updates").mkdir()
    (tmp_path / "updates/0000").touch()
    # As apt-get: unmet dependencies until it is told to complete them.
    words = "E: Unmet dependencies. Try 'apt --fix-broken install' with no packages (or specify a solution)."
    with sandbox.apt.open("r+") as file:
        script = file.read().replace(
            'case "', f'case " $* " in *" --fix-broken "*) ;; *) echo "{words}" >&2; exit 100 ;; esac\ncase "', 1
        )
        file.seek(0)
        file.write(script)
    assert sandbox.client.install_linux_packages(["nvidia-driver-580"], None, CATALOG).exit_code == 0
    first, second = sandbox.prompts.read_text().splitlines()
    assert first == f"{dpkg} --force-confdef --force-confold --configure -a"
    assert second.split()[0] == str(sandbox.apt)
    assert second.endswith(" --fix-broken install -- nvidia-driver-580")


@pytest.mark.parametrize("code", [126, 127])
def test_refused_apt_get_changes_nothing(tmp_path: Path, code: int) -> None:
    sandbox = AskingSandbox(tmp_path, pkexec=code)
    with pytest.raises(ElevationDenied) as caught:
        sandbox.client.install_linux_packages(["nvidia-driver-580"], None, CATALOG)
    assert caught.value.code == "rights-refused"
    assert all(" -s " in f" {line} " for line in sandbox.log.read_text().splitlines())


def test_unknown_package_asks_for_nothing(tmp_path: Path) -> None:
    sandbox = AskingSandbox(tmp_path)
    with pytest.raises(AppError, match="door-request"):
        sandbox.client.install_linux_packages(["openssh-server"], None, CATALOG)
    assert not sandbox.prompts.read_text()


def test_other_requests_of_a_program_that_is_not_installed_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ElevationDenied, match="rights-not-installed"):
        AskingSandbox(tmp_path).client.enable_wsl_platform()


class TestInstalledHelper:
    """Which launcher may be the helper: one that only root can exchange."""

    @pytest.fixture
    def home(self) -> Iterator[Path]:
        if os.geteuid() != 0:
            pytest.skip("only root makes files of root's")
        folder = Path(tempfile.mkdtemp(dir="/usr/lib", prefix="gpu-assistant-test-"))
        folder.chmod(0o755)
        program(folder / "gpu-assistant", "#!/bin/sh")
        yield folder
        shutil.rmtree(folder)

    def test_package_of_root_is_the_helper(self, home: Path) -> None:
        assert helper_command(LinuxElevatedSystem(), home) == (str(home / "gpu-assistant"), HELPER_FLAG)

    @pytest.mark.parametrize("mode", [0o775, 0o757])
    def test_folder_that_others_write_is_refused(self, home: Path, mode: int) -> None:
        home.chmod(mode)
        assert helper_command(LinuxElevatedSystem(), home) is None

    def test_program_of_a_user_is_refused(self, home: Path) -> None:
        os.chown(home / "gpu-assistant", 1000, 1000)
        assert helper_command(LinuxElevatedSystem(), home) is None

    def test_link_is_refused(self, home: Path) -> None:
        (home / "gpu-assistant").rename(home / "real")
        (home / "gpu-assistant").symlink_to(home / "real")
        assert helper_command(LinuxElevatedSystem(), home) is None

    def test_program_in_an_environment_has_no_helper(self, tmp_path: Path) -> None:
        assert helper_command(LinuxElevatedSystem(), tmp_path) is None
        assert helper_command(LinuxElevatedSystem(), None) is None
