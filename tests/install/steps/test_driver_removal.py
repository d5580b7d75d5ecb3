"""A driver from the distribution's packages is removed where the user asks for it: what we added, and no more."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core.errors import AppError, ElevationDenied, RebootRequired
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import Event, Step, StepEvent
from gpu_assistant.install.elevation import packages
from gpu_assistant.install.elevation.client import ElevationClient
from gpu_assistant.install.jobs.purge import PurgeJob
from gpu_assistant.install.jobs.removal_summary import summarize_removal
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.steps.context import InstallContext
from gpu_assistant.texts.localized import Texts

from ..elevation.helper import programs, tried_rights
from .test_nvidia_driver import CATALOG, HELPER, Sandbox, linux_only, linux_step, use

pytestmark = linux_only
DRIVER, MODULES = "nvidia-driver-580-open", "linux-modules-nvidia-580-open-generic"
# With the driver comes a library; `shared-tool` was there before, as was `old-orphan`, which nothing needs any more.
APT_GET = """#!/bin/sh
db={db}
echo "$@" >>{log}
test -e {broken} && {{ cat {broken}; exit 100; }}
simulated= action= automatic= names=
for word; do
    case $word in
    -s) simulated=1 ;;
    install | remove | update | autoremove) action=$word ;;
    --autoremove) automatic=1 ;;
    [a-z]*) test -n "$action" && names="$names $word" ;;
    esac
done
if [ "$action" = install ]; then
    test -e {rootless} && names="$names sudo"
    for name in $names libcuda1 shared-tool; do
        test -e $db/$name && continue
        echo "Inst $name (580.95.05-0ubuntu1 Ubuntu:24.04)"
        test -n "$simulated" || touch $db/$name
    done
    test -z "$simulated" -a -e {half} && exit 100
elif [ "$action" = autoremove ]; then
    test -e $db/old-orphan && echo "Remv old-orphan [1.0]"
elif [ "$action" = remove ]; then
    test -n "$automatic" && names="$names libcuda1 shared-tool old-orphan"
    case "$* $automatic" in *"NeverAutoRemove::=^sudo$"*1) ;; *1) names="$names sudo" ;; esac
    case "$names$simulated" in *sudo*1) ;; *sudo*) echo "E: Sub-process /usr/bin/dpkg returned an error code (1)"
        exit 100 ;;
    esac
    case "$names" in *libcuda1*) names="$names game-with-cuda" ;; esac
    for name in $names; do
        test -e $db/$name || continue
        echo "Remv $name [580.95.05-0ubuntu1]"
        test -n "$simulated" || rm $db/$name
    done
fi
exit 0
"""
DPKG_QUERY = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
for name; do test -e {db}/$name && printf 'ii \\t%s\\tamd64\\n' "$name"; done
exit 1
"""


class Computer(Sandbox):
    """A computer whose packages are files in a folder."""

    def __init__(self, root: Path, **more: Any) -> None:
        super().__init__(root, **more)
        self.db, self.log = root / "db", root / "apt"
        # What fails everything; what fails installing at its end; a computer without sudo, with which the driver comes.
        self.broken, self.half, self.rootless = root / "broken", root / "half", root / "rootless"
        self.db.mkdir()
        for name in ("shared-tool", "old-orphan"):
            (self.db / name).touch()
        places = {"db": self.db, "log": self.log, "broken": self.broken, "half": self.half}
        places["rootless"] = self.rootless
        self.dpkg_query = root / "dpkg-query"
        for path, text in ((self.apt, APT_GET), (self.dpkg_query, DPKG_QUERY)):
            path.write_text(text.format(**places), encoding="utf-8")
            path.chmod(0o755)

    def door(self, work: InstallContext) -> ElevationClient:
        client = super().door(work)
        return ElevationClient(
            work.data.state,
            work.system,
            rights=tried_rights(self.base),
            run_as_admin=client._run_as_admin,  # noqa: SLF001 - the tried pkexec
            command=(sys.executable, str(HELPER), str(self.base), str(self.apt)),
            programs=programs(self.apt),
        )

    def installed(self) -> set[str]:
        return {path.name for path in self.db.iterdir()}

    def install_driver(self) -> Step:
        step = linux_step(self)
        with pytest.raises(RebootRequired):
            self.install(step)
        return step

    def removal(self, *, driver: bool = True) -> UninstallJob:
        return UninstallJob(self.root / "env", self.data, self.system, driver_catalog=self.catalog if driver else None)

    def remove(self, *, driver: bool = True) -> list[Event]:
        events: list[Event] = []
        self.removal(driver=driver).run(JobContext(report=events.append))
        return events


@pytest.fixture
def computer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Computer:
    created = Computer(tmp_path)
    use(created, monkeypatch)
    monkeypatch.setattr(packages, "DPKG_QUERY", created.dpkg_query)
    return created


def codes(job: UninstallJob | PurgeJob) -> list[str]:
    return [step.code for step in job.steps() if "driver" in step.code]


BEFORE = {"shared-tool", "old-orphan"}


def test_what_we_added_is_removed_and_nothing_else(computer: Computer) -> None:
    computer.install_driver()
    assert computer.installed() == BEFORE | {DRIVER, MODULES, "libcuda1"}
    steps = computer.removal().steps()
    (shown,) = [step for step in steps if step.code == "remove-driver"]
    assert computer.installed() == BEFORE | {DRIVER, MODULES, "libcuda1"}, "showing changes nothing"
    for language in ("en", "zh_CN"):
        texts = Texts(language)
        for part in ("title", "what", "undo"):
            assert "{" not in texts.translate(f"step.remove-driver.{part}", shown.data)
        (line,) = [line for line in summarize_removal(steps) if line.code == "removal.remove-driver"]
        assert "580.95.05" in texts.message_text(line)
    events = computer.remove()
    assert computer.installed() == BEFORE
    assert f"remove -- libcuda1 {MODULES} {DRIVER}" in computer.log.read_text("utf-8")
    (end,) = [event for event in events if isinstance(event, StepEvent) and event.code == "progress.driver-removed"]
    assert end.state == "done"
    with pytest.raises(AppError) as caught:
        computer.remove()
    assert caught.value.code == "environment-missing"


def test_a_driver_that_stayed_can_go_later(computer: Computer) -> None:
    computer.install_driver()
    assert codes(computer.removal(driver=False)) == ["leave-driver-packages"]
    computer.remove(driver=False)
    assert DRIVER in computer.installed()
    assert codes(computer.removal()) == ["remove-driver"]
    computer.remove()
    assert computer.installed() == BEFORE


def test_what_an_earlier_run_began_goes_too(computer: Computer) -> None:
    computer.half.touch()
    with pytest.raises(AppError):
        computer.install(linux_step(computer))
    computer.half.unlink()
    computer.install_driver()  # finds everything there: its own record is empty
    computer.remove()
    assert computer.installed() == BEFORE


def test_all_takes_the_driver_away_too_where_asked(computer: Computer) -> None:
    computer.install_driver()
    assert codes(PurgeJob(computer.data, computer.system, keep_environments=False)) == ["leave-driver-packages"]
    job = PurgeJob(computer.data, computer.system, keep_environments=False, driver_catalog=CATALOG)
    assert codes(job) == ["remove-driver"]
    job.run(JobContext())
    assert computer.installed() == BEFORE


def test_sudo_that_came_with_the_driver_stays_and_does_not_stop_its_removal(computer: Computer) -> None:
    """Debian's sudo refuses to be removed while root has no password, and with it goes the whole removal."""
    computer.rootless.touch()
    computer.install_driver()
    assert computer.installed() == BEFORE | {DRIVER, MODULES, "libcuda1", "sudo"}
    computer.remove()
    assert computer.installed() == BEFORE | {"sudo"}


def test_record_that_names_sudo_among_the_driver_s_packages_removes_the_rest(computer: Computer) -> None:
    computer.rootless.touch()
    computer.install_driver()
    (journal,) = computer.data.journal.glob("*.jsonl")
    text = journal.read_text("utf-8")
    journal.write_text(text.replace("libcuda1", "libcuda1 sudo"), encoding="utf-8")
    computer.remove()
    assert computer.installed() == BEFORE | {"sudo"}


def test_a_driver_that_was_there_before_is_not_ours(computer: Computer) -> None:
    for name in (DRIVER, MODULES, "libcuda1"):
        (computer.db / name).touch()
    computer.install_driver()
    computer.here = "580.95.05"
    assert codes(computer.removal()) == ["leave-driver-packages"]
    computer.remove()
    assert DRIVER in computer.installed()


def test_packages_that_something_else_needs_stay(computer: Computer) -> None:
    computer.install_driver()
    (computer.db / "game-with-cuda").touch()
    before = computer.installed()
    with pytest.raises(AppError) as caught:
        computer.remove()
    assert (caught.value.code, caught.value.data["packages"]) == ("driver-needed", "game-with-cuda")
    assert computer.installed() == before
    (computer.db / "game-with-cuda").unlink()
    computer.remove()
    assert computer.installed() == BEFORE


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1 (apt)", "driver-removal-locked"),
        ("E: Sub-process /usr/bin/dpkg returned an error code (1)", "driver-not-removed"),
    ],
)
def test_a_removal_that_fails_is_said_and_goes_on_next_time(computer: Computer, said: str, code: str) -> None:
    computer.install_driver()
    computer.broken.write_text(said + "\n", encoding="utf-8")
    with pytest.raises(AppError) as caught:
        computer.remove()
    assert caught.value.code == code
    for language in ("en", "zh_CN"):
        assert "{" not in Texts(language).error_text(caught.value)
    computer.broken.unlink()
    computer.remove()
    assert computer.installed() == BEFORE


def test_refused_rights_leave_the_driver_and_remove_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    computer = Computer(tmp_path)
    use(computer, monkeypatch)
    monkeypatch.setattr(packages, "DPKG_QUERY", computer.dpkg_query)
    computer.install_driver()
    computer._program(computer.pkexec, "exit 126")  # noqa: SLF001
    with pytest.raises(ElevationDenied) as caught:
        computer.remove()
    assert caught.value.code == "rights-left-out"
    assert DRIVER in computer.installed()
    assert codes(computer.removal()) == ["remove-driver"]


@pytest.mark.parametrize("name", ["bash", "old-orphan"])
def test_a_journal_cannot_name_other_packages(computer: Computer, name: str) -> None:
    """Only what apt-get itself removes because of the driver, and only names: the record is not trusted."""
    computer.install_driver()
    (journal,) = computer.data.journal.glob("*.jsonl")
    text = journal.read_text("utf-8")
    assert "libcuda1" in text
    (computer.db / name).touch()
    journal.write_text(text.replace("libcuda1", name), encoding="utf-8")
    computer.remove()
    assert computer.installed() == BEFORE | {"libcuda1", name}
