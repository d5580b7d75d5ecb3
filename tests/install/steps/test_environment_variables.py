"""Environment variables on the system's own ground: this Linux's file, that Windows' registry."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.core.errors import UsageError
from gpu_assistant.core.plan import Plan, Step
from gpu_assistant.install.journal import log
from gpu_assistant.install.journal.log import EffectStarted, PathEntryAdded, VariableSet
from gpu_assistant.system.base import UserEnvironmentVariables

from ..sandbox import end, states
from ..step_kinds import SmallSandbox

KEY = r"Software\GpuAssistantInstallTest"


@pytest.fixture
def variables(tmp_path: Path) -> Iterator[UserEnvironmentVariables]:
    """The real ones, in a place of the test's own."""
    if sys.platform == "win32":
        import winreg

        from gpu_assistant.system.windows.environment import WindowsEnvironmentVariables

        winreg.CreateKey(winreg.HKEY_CURRENT_USER, KEY).Close()
        yield WindowsEnvironmentVariables(KEY)
        winreg.DeleteKey(winreg.HKEY_CURRENT_USER, KEY)
        return
    from gpu_assistant.system.linux.environment import SYSTEMD_RUNNING_FOLDER, LinuxEnvironmentVariables

    (tmp_path / "root" / SYSTEMD_RUNNING_FOLDER).mkdir(parents=True)
    yield LinuxEnvironmentVariables(tmp_path / "config", tmp_path / "root")


def state(tmp_path: Path) -> Any:
    """All that is written down for the user, byte for byte."""
    if sys.platform == "win32":
        import winreg

        with winreg.OpenKey(winreg.HKEY_CURRENT_USER, KEY) as key:
            return sorted(winreg.EnumValue(key, n) for n in range(winreg.QueryInfoKey(key)[1]))
    return {path.name: path.read_bytes() for path in (tmp_path / "config").rglob("*.conf")}


@pytest.fixture
def small(tmp_path: Path, variables: UserEnvironmentVariables) -> SmallSandbox:
    return SmallSandbox(tmp_path, variables)


def only_variables(sandbox: SmallSandbox) -> Plan:
    plan = sandbox.plan()
    step = msgspec.structs.replace(plan.steps[3], needs=())
    return msgspec.structs.replace(plan, steps=(step,))


def test_variables_are_set_once_and_restored(
    small: SmallSandbox, variables: UserEnvironmentVariables, tmp_path: Path
) -> None:
    old = "%HOME%/x" if sys.platform == "win32" else "$HOME/x"
    variables.set("CUDA_PATH", old, expand=True)
    variables.add_to_path(tmp_path / "mine")
    before = state(tmp_path)
    plan, toolkit = only_variables(small), small.data.toolkits / "cuda"
    assert states(small.install(plan)) == {"variables": "done"}
    result = variables.get("CUDA_PATH")
    assert result is not None
    assert result.value == str(toolkit)
    assert variables.is_on_path(toolkit / "bin")
    assert variables.is_on_path(tmp_path / "mine")
    complete = state(tmp_path)
    assert states(small.install(plan)) == {"variables": "skipped"}
    assert state(tmp_path) == complete
    effects = [
        e.effect
        for path in log.journal_paths(small.data)
        for e in log.read_records(path)
        if isinstance(e, EffectStarted)
    ]
    backup = [(e.previous, e.previous_expand) for e in effects if isinstance(e, VariableSet)]
    assert backup == [(old, True)]
    assert [e.folder for e in effects if isinstance(e, PathEntryAdded)] == [str(toolkit / "bin"), str(toolkit / "lib")]
    assert end(small.uninstall()).state == "done"
    assert state(tmp_path) == before


def test_user_without_variables(small: SmallSandbox, tmp_path: Path) -> None:
    before = state(tmp_path)
    small.install(only_variables(small))
    assert state(tmp_path) != before
    small.uninstall()
    assert state(tmp_path) == before


@pytest.mark.parametrize(
    "spec", [{"path": "{inside}"}, {"set": ["CUDA_PATH"]}, {"set": {"CUDA_PATH": 1}}, {"run": "calc.exe"}]
)
def test_a_spec_of_another_shape_is_refused(small: SmallSandbox, spec: dict[str, Any], tmp_path: Path) -> None:
    plan = msgspec.structs.replace(
        small.plan(), steps=(Step(id="variables", kind="variables", code="variables", spec=spec),)
    )
    before = state(tmp_path)
    with pytest.raises(UsageError) as caught:
        small.install(plan)
    assert caught.value.code == "plan-refused"
    assert state(tmp_path) == before
