"""What is taken back, what is left and said, what needs rights or a restart: with cheap steps and real effects."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError, ElevationDenied, RebootRequired
from gpu_assistant.core.plan import Event, StepEvent
from gpu_assistant.install.journal import log
from gpu_assistant.texts.localized import Texts

from ..sandbox import end, states
from ..step_kinds import SmallSandbox, step

RESUME = ("/opt/gpu-assistant", "install", "--resume")


@pytest.fixture
def small(tmp_path: Path) -> SmallSandbox:
    return SmallSandbox(tmp_path)


def steps_with_code(events: list[Event], code: str) -> list[str]:
    return [event.id for event in events if isinstance(event, StepEvent) and event.code == code]


def test_repeated_run_is_a_noop_and_reverts_once(small: SmallSandbox) -> None:
    before = small.seen()
    small.install()
    complete = small.seen()
    assert set(states(small.install()).values()) == {"skipped"}
    assert small.seen() == complete
    events = small.uninstall()
    assert set(states(events).values()) == {"done"}
    assert small.seen() == before
    for event in events:
        assert "{" not in str(getattr(Texts("en").localize_event(event), "message", ""))


def test_user_modified_effects_are_kept_and_reported(small: SmallSandbox) -> None:
    small.install()
    (small.outside / "note.txt").write_text("mine now", encoding="utf-8")
    small.variables.set("CUDA_PATH", "/my/own")
    small.variables.set("PATH", small.variables.get("PATH").value + ";/mine", expand=True)  # type: ignore[union-attr]
    events = small.uninstall()
    assert len(steps_with_code(events, "progress.left-changed")) == 2
    assert (small.outside / "note.txt").read_text(encoding="utf-8") == "mine now"
    assert small.variables.get("CUDA_PATH").value == "/my/own"  # type: ignore[union-attr]
    assert small.variables.get("PATH").value == "/mine"  # type: ignore[union-attr]


def test_foreign_files_are_kept(small: SmallSandbox) -> None:
    small.install()
    tree = small.outside / "deep" / "tree"
    (tree / "inside" / "thesis.txt").write_text("all of it", encoding="utf-8")
    pair = (tree / "__pycache__", tree / "inside" / "__pycache__")
    for folder in pair:
        folder.mkdir()
    (pair[0] / "mine.cpython-311.pyc").write_bytes(b"")
    events = small.uninstall()
    assert steps_with_code(events, "progress.left-files")
    assert [path.relative_to(tree).as_posix() for path in tree.rglob("*")] == ["inside", "inside/thesis.txt"]
    assert [path.name for path in tree.parent.iterdir()] == ["tree"]


def test_link_in_place_of_folder_is_not_followed(small: SmallSandbox) -> None:
    small.install()
    inside = small.outside / "deep" / "tree" / "inside"
    own = small.root / "own"
    inside.rename(own)
    try:
        inside.symlink_to(own, target_is_directory=True)
    except OSError:
        pytest.skip("links need rights here")
    small.uninstall()
    assert (own / "one.txt").read_text(encoding="utf-8") == "one"


def test_shared_effect_is_reverted_with_last_environment(small: SmallSandbox) -> None:
    before = small.seen()
    other = small.outside / "other"
    small.install()
    small.install(small.plan(step("more", "test-file", path=str(small.outside / "b.txt"), text="b"), environment=other))
    toolkit = small.data.toolkits / "cuda"
    events = small.uninstall()
    assert steps_with_code(events, "progress.left-needed")
    assert (toolkit / "inside" / "one.txt").is_file()
    assert small.variables.is_on_path(toolkit / "bin")
    small.uninstall(other)
    assert small.seen() == before


def test_refused_rights_skip_only_dependent_steps(small: SmallSandbox) -> None:
    allowed = small.root / "allowed"
    plan = small.plan(
        step("driver", "test-administrator", allowed=str(allowed)),
        step("after", "test-file", needs=("driver",), path=str(small.outside / "after.txt"), text="a"),
        step("beside", "test-file", path=str(small.outside / "beside.txt"), text="b"),
    )
    with pytest.raises(ElevationDenied) as caught:
        small.install(plan)
    events = caught.value.events  # type: ignore[attr-defined]
    assert (caught.value.exit_code, caught.value.code) == (5, "rights-left-out")
    assert caught.value.data["steps"] == "driver, after"
    assert [states(events)[name] for name in ("driver", "after", "beside")] == ["failed", "skipped", "done"]
    assert "administrator" in str(Texts("en").localize_event(end(events)))
    stopped = log.interrupted_install(small.data)
    assert stopped is not None
    assert stopped.step == "driver"
    allowed.touch()
    assert states(small.install(stopped.plan))["after"] == "done"
    assert log.interrupted_install(small.data) is None


def test_install_resumes_after_restart(small: SmallSandbox) -> None:
    restarted = small.root / "restarted"
    before = small.seen()
    plan = small.plan(
        step("driver", "test-restart", restarted=str(restarted)),
        step("last", "test-file", path=str(small.outside / "last.txt"), text="x"),
    )
    with pytest.raises(RebootRequired) as caught:
        small.install(plan, login_command=RESUME)
    last = end(caught.value.events)  # type: ignore[attr-defined]
    assert (last.state, caught.value.exit_code, caught.value.code) == ("reboot-needed", 4, "restart-needed")
    assert small.login_command.get() == RESUME
    stopped = log.interrupted_install(small.data)
    assert stopped is not None
    assert (stopped.state, stopped.plan) == ("reboot-needed", plan)
    restarted.touch()
    events = small.install(stopped.plan, login_command=RESUME)
    assert (states(events)["tree"], states(events)["driver"], states(events)["last"]) == ("skipped", "skipped", "done")
    assert small.login_command.get() is None
    small.uninstall()
    assert small.seen() == before


def test_uninstall_instead_of_restart(small: SmallSandbox) -> None:
    before = small.seen()
    with pytest.raises(RebootRequired):
        small.install(
            small.plan(step("driver", "test-restart", restarted=str(small.root / "no"))), login_command=RESUME
        )
    small.uninstall()
    assert small.login_command.get() is None
    assert small.seen() == before
    assert log.interrupted_install(small.data) is None


def test_restart_without_command_asks_to_resume_manually(small: SmallSandbox) -> None:
    with pytest.raises(RebootRequired) as caught:
        small.install(small.plan(step("driver", "test-restart", restarted=str(small.root / "no"))))
    assert caught.value.code == "restart-by-hand"
    assert "--resume" in Texts("en").error_text(caught.value)


def test_uninstall_of_foreign_folder_is_refused(small: SmallSandbox) -> None:
    with pytest.raises(AppError) as caught:
        small.uninstall()
    assert caught.value.code == "environment-missing"
