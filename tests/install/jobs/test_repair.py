"""A finished environment that was damaged since: the same install makes it anew, and loses nothing of the user's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.app import App
from gpu_assistant.core.errors import AppError, Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import Event
from gpu_assistant.core.results import Check, Checks
from gpu_assistant.install.files.installed_packages import corrupt_files, wheel_packages
from gpu_assistant.install.files.staging import old_path
from gpu_assistant.install.host import PreviewContext
from gpu_assistant.install.journal.log import Journal
from gpu_assistant.install.plan.planner import preview
from gpu_assistant.install.steps import verify as proof
from gpu_assistant.system.locks import environment_lock
from gpu_assistant.texts.localized import Texts

from .. import tiny_wheels
from ..files.test_foreign_files import added_to, last, put, remains, shown, site, upgraded
from ..sandbox import Sandbox, end, states
from .test_uninstall import uninstall

BALLAST = bytes(range(256)) * 2000


def damage(sandbox: Sandbox) -> None:
    """One file gone, one cut short in its place, which is the same file as the one that uv keeps unpacked."""
    (site(sandbox) / "tinydep" / "__init__.py").unlink()
    with (site(sandbox) / "torch" / "ballast.bin").open("r+b") as file:
        file.truncate(10)


def furnish(sandbox: Sandbox) -> None:
    """What a user puts into an environment."""
    put(sandbox, tiny_wheels.wheel("tinyhat", "3.0"))
    added_to(sandbox.environment / "thesis.txt")
    (sandbox.environment / "mydata" / "empty").mkdir(parents=True, exist_ok=True)


def is_sound(sandbox: Sandbox) -> None:
    assert (site(sandbox) / "tinydep" / "__init__.py").is_file()
    assert (site(sandbox) / "torch" / "ballast.bin").read_bytes() == BALLAST
    assert (site(sandbox) / "tinyhat" / "__init__.py").is_file()
    assert (site(sandbox) / "tinyhat-3.0.dist-info" / "RECORD").is_file()
    assert (sandbox.environment / "thesis.txt").is_file()
    assert (sandbox.environment / "mydata" / "empty").is_dir()


def beside(sandbox: Sandbox) -> set[str]:
    return {path.name for path in sandbox.environment.parent.iterdir()}


def repaired(sandbox: Sandbox) -> Event:
    events = sandbox.install()
    assert (end(events).state, states(events)["pytorch"]) == ("done", "done")
    return last(events, "verify")


def flip_bytes(file: Path) -> None:
    """Other bytes in the same file, with its size and its time."""
    status = file.stat()
    with file.open("r+b") as opened:
        opened.write(b"flipped")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def checked_files(sandbox: Sandbox) -> Check:
    """What `verify --files` says of them."""
    job = App(data_dir=str(sandbox.data.root)).setup.verify(sandbox.environment, files=True)
    return next(check for check in job.run(JobContext()).checks if check.id == "files")


def test_flipped_bytes_do_not_reach_the_next_environment(sandbox: Sandbox) -> None:
    sandbox.install()
    file = site(sandbox) / "torch" / "ballast.bin"
    flip_bytes(file)
    uninstall(sandbox)
    assert end(sandbox.install()).state == "done"
    assert file.read_bytes() == BALLAST


def test_flipped_bytes_are_found(sandbox: Sandbox) -> None:
    sandbox.install()
    progress: list[tuple[int, int]] = []
    assert (
        corrupt_files(
            sandbox.environment, wheel_packages(sandbox.environment), progress=lambda *each: progress.append(each)
        )
        == ()
    )
    assert progress[-1][0] == progress[-1][1] > len(BALLAST)
    file = site(sandbox) / "torch" / "ballast.bin"
    flip_bytes(file)
    (site(sandbox) / "tinydep" / "__init__.py").unlink()
    names = [each.relative_to(sandbox.environment).as_posix() for each in (site(sandbox) / "tinydep/__init__.py", file)]
    assert list(corrupt_files(sandbox.environment, wheel_packages(sandbox.environment))) == names
    check = checked_files(sandbox)
    assert (check.state, check.value) == ("fail", 2)


@pytest.mark.parametrize(
    "name", ["site-packages/evil.pth", "site-packages/torch/backdoor.py", "site-packages/evil.so", "bin/python3-config"]
)
def test_added_file_is_named(sandbox: Sandbox, name: str) -> None:
    sandbox.install()
    assert checked_files(sandbox).state == "pass"
    folder, _, rest = name.partition("/")
    place = {"site-packages": site(sandbox), "bin": sandbox.system.environment_python(sandbox.environment).parent}
    file = place[folder] / rest
    added_to(file)
    check = checked_files(sandbox)
    assert (check.state, check.value, check.data["reason"]) == (
        "warn",
        1,
        file.relative_to(sandbox.environment).as_posix(),
    )
    for language in ("en", "zh_CN"):
        checks = Checks(schema="gpu-assistant/checks/1", verdict="warn", checks=(check,))
        (told,) = Texts(language).localize_checks(checks).checks
        assert file.name in str(told.text)


def test_packages_and_files_of_the_user_are_no_finding(sandbox: Sandbox) -> None:
    sandbox.install()
    furnish(sandbox)
    python = sandbox.system.environment_python(sandbox.environment)
    assert sandbox.system.run([python, "-c", "import torch"], timeout=60).returncode == 0  # writes compiled copies
    assert checked_files(sandbox).state == "pass"


def test_checking_files_can_be_cancelled(sandbox: Sandbox) -> None:
    sandbox.install()
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        corrupt_files(sandbox.environment, wheel_packages(sandbox.environment), cancel)


def test_environment_that_another_program_uses_is_left_alone(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.install()
    with environment_lock(sandbox.environment.parent / "." / sandbox.environment.name):
        for change in (sandbox.install, lambda: uninstall(sandbox)):
            with pytest.raises(AppError) as refused:
                change()
            assert refused.value.code == "environment-busy"
    assert remains(sandbox.environment)
    uninstall(sandbox)


@pytest.mark.parametrize("variable", ["TMPDIR", "TEMP", "TMP", "XDG_RUNTIME_DIR"])
def test_environment_is_held_whatever_the_other_programs_folders(
    sandbox: Sandbox, tmp_path: Path, variable: str
) -> None:
    """Another process with another data folder and another place for temporary files."""
    sandbox.install()
    (tmp_path / "temporary").mkdir()
    hold = (
        "import sys; from pathlib import Path; from gpu_assistant.system.locks import environment_lock\n"
        "with environment_lock(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, str(sandbox.environment)],
        env={**os.environ, variable: str(tmp_path / "temporary"), "GPU_ASSISTANT_DATA_DIR": str(tmp_path / "another")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        for change in (sandbox.install, lambda: uninstall(sandbox)):
            with pytest.raises(AppError) as refused:
                change()
            assert refused.value.code == "environment-busy"
        holder.kill()
    uninstall(sandbox)


def test_damaged_environment_is_rebuilt_with_user_files(sandbox: Sandbox) -> None:
    sandbox.install()
    furnish(sandbox)
    damage(sandbox)
    text: Any = repaired(sandbox)
    is_sound(sandbox)
    assert text.code == "progress.repaired-kept"
    assert {Path(name).name for name in text.data["files"].split(", ")} == {"__init__.py", "ballast.bin"}
    remaining = sandbox.environment.with_name("env-kept")
    assert text.data["path"] == str(remaining)
    assert [Path(name).name for name in remains(remaining)] == ["ballast.bin"]
    assert beside(sandbox) == {"env", "env-kept"}
    for language in ("en", "zh_CN"):
        assert str(remaining) in str(Texts(language).localize_event(text).message)  # type: ignore[union-attr]
    # It is as good as new: the next one finds nothing to do, and a removal takes all of it.
    assert states(sandbox.install())["pytorch"] == "skipped"
    assert shown(sandbox)[0].data["packages"] == "tinyhat 3.0"
    uninstall(sandbox)
    assert remains(sandbox.environment) == ["mydata/empty/", "thesis.txt"]


def test_repair_of_missing_files_leaves_nothing_aside(sandbox: Sandbox) -> None:
    sandbox.install()
    (site(sandbox) / "tinydep" / "__init__.py").unlink()
    text: Any = repaired(sandbox)
    assert text.code == "progress.repaired"
    assert beside(sandbox) == {"env"}
    uninstall(sandbox)
    assert not sandbox.environment.parent.exists()


def test_missing_package_is_reinstalled(sandbox: Sandbox) -> None:
    sandbox.install()
    for name in ("numpy", "numpy-1.0.dist-info"):
        shutil.rmtree(site(sandbox) / name)
    text: Any = repaired(sandbox)
    assert text.data["files"] == "numpy"
    assert (site(sandbox) / "numpy" / "__init__.py").is_file()


def test_user_changes_are_not_damage(sandbox: Sandbox) -> None:
    sandbox.install()
    upgraded(sandbox)
    furnish(sandbox)
    scripts = sandbox.system.environment_program(sandbox.environment, "pip").parent
    added_to(scripts / "activate")
    (site(sandbox) / "torch" / "__init__.py").touch()
    assert states(sandbox.install())["pytorch"] == "skipped"
    assert (site(sandbox) / "numpy-2.0.dist-info").is_dir()


def test_damaged_environment_stays_if_new_one_fails(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox.install()
    furnish(sandbox)
    damage(sandbox)
    before = remains(sandbox.environment)

    def refuse(*_given: object) -> None:
        raise AppError("environment-broken", path=str(sandbox.environment), detail="pip")

    with monkeypatch.context() as patched:
        patched.setattr(proof, "check_environment_starts", refuse)
        with pytest.raises(AppError):
            sandbox.install()
    assert remains(sandbox.environment) == before
    assert not old_path(sandbox.environment).exists()
    repaired(sandbox)
    is_sound(sandbox)


# Under Wine, where each installation takes three seconds, every third.
STEP = 1 if sys.platform == "linux" else 3


def test_kill_at_each_rename_loses_nothing(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename
    sandbox.install()
    for stop in count(1, STEP):
        furnish(sandbox)
        damage(sandbox)
        moves = count(1)

        def cut(self: Path, target: Path, moves: count[int] = moves, stop: int = stop) -> Path:
            if any(part.startswith(".env.") for part in (*self.parts, *Path(target).parts)) and next(moves) == stop:
                raise KeyboardInterrupt
            return rename(self, target)

        with monkeypatch.context() as patched:
            patched.setattr(Path, "rename", cut)
            patched.setattr(Journal, "end_run", lambda *_given: None)
            try:
                sandbox.install()
            except KeyboardInterrupt:
                pass
            else:
                break
        sandbox.install()
        is_sound(sandbox)
        assert not [name for name in beside(sandbox) if name.startswith(".")]
        for path in sandbox.environment.parent.glob("env-kept*"):
            assert [Path(name).name for name in remains(path)] == ["ballast.bin"]
    assert stop > 5


def test_truncated_cache_is_rebuilt(sandbox: Sandbox) -> None:
    """Another environment's damage must not come into a new one by way of what uv keeps unpacked."""
    sandbox.install()
    with (site(sandbox) / "torch" / "ballast.bin").open("r+b") as file:
        file.truncate(10)
    uninstall(sandbox)
    other = sandbox.environment.with_name("other")
    sandbox.install(sandbox.plan(environment=other))
    (ballast,) = other.rglob("torch/ballast.bin")
    assert ballast.read_bytes() == BALLAST


@pytest.mark.parametrize(
    ("note", "text"), [("gpu-assistant.json", "{"), ("gpu-assistant.json", None), ("pylock.toml", None)]
)
def test_environment_with_damaged_metadata_is_rebuilt(sandbox: Sandbox, note: str, text: str | None) -> None:
    sandbox.install()
    furnish(sandbox)
    (sandbox.environment / note).unlink()
    if text is not None:
        (sandbox.environment / note).write_text(text, encoding="utf-8")
    plan = preview(sandbox.plan(), PreviewContext(sandbox.system, sandbox.data, sandbox.catalog))
    now = {step.id: step.now for step in plan.steps}["pytorch"]
    assert now is not None
    assert (now.code, now.data["files"]) == ("now.damaged", note)
    label: Any = repaired(sandbox)
    assert (label.code, label.data["files"]) == ("progress.repaired", note)
    assert beside(sandbox) == {"env"}
    is_sound(sandbox)
    assert states(sandbox.install())["pytorch"] == "skipped"


def test_damaged_metadata_is_not_replaced_by_other_versions(sandbox: Sandbox) -> None:
    sandbox.install()
    (sandbox.environment / "gpu-assistant.json").write_text("{", encoding="utf-8")
    tiny_wheels.index(sandbox.server, "torch", [sandbox.torch, tiny_wheels.torch("9.0.0+cpu")])
    with pytest.raises(AppError) as caught:
        sandbox.install(sandbox.plan(version="9.0.0"))
    assert caught.value.code == "environment-differs"
    uninstall(sandbox)
    assert not sandbox.environment.exists()


def test_environment_without_file_manifest_is_refused(sandbox: Sandbox) -> None:
    sandbox.install()
    for note in ("gpu-assistant.json", "gpu-assistant-files.txt"):
        (sandbox.environment / note).unlink()
    before = remains(sandbox.environment)
    for act in (sandbox.install, lambda: uninstall(sandbox), lambda: shown(sandbox)):
        with pytest.raises(AppError) as caught:
            act()
        assert caught.value.code == "environment-without-notes"
    assert remains(sandbox.environment) == before
    shutil.rmtree(sandbox.environment)
    assert states(sandbox.install())["pytorch"] == "done"
