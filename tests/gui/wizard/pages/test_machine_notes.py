"""What else was noticed about a computer, and what could not be found out, in a beginner's words."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpu_assistant.core.machine import CudaToolkit, Machine, ProbeNote, Python, Tools, TorchBuild, User
from gpu_assistant.gui.wizard.pages.machine_summary import machine_notes
from tests.fakes.examples import plain_linux, rtx4060

pytestmark = pytest.mark.gui

NONE: frozenset[str] = frozenset()


def kinds(machine: Machine) -> list[str]:
    return [finding.kind for finding in machine_notes(machine, NONE)]


def notes_text(machine: Machine) -> str:
    return "\n".join(finding.text for finding in machine_notes(machine, NONE))


def test_no_notes_for_ordinary_computer(language) -> None:
    assert machine_notes(rtx4060(), NONE) == ()
    quiet = replace(rtx4060(), laptop=False, virtual_machine=False, remote_desktop=False, user=User(ascii=True))
    assert machine_notes(quiet, NONE) == ()


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"laptop": True}, "plugged in"),
        ({"virtual_machine": True}, "passes through"),
        ({"remote_desktop": True}, "remote desktop"),
        ({"container": "docker"}, "container (Docker)"),
        ({"cloud": "azure"}, "rented computer (Microsoft Azure)"),
        ({"user": User(home_too_long=True)}, "short path"),
        ({"user": User(ascii=False)}, "non-English characters"),
        ({"user": User(onedrive=("D:\\OneDrive",))}, "D:\\OneDrive"),
    ],
)
def test_each_condition_has_a_note(language, changed, expected) -> None:
    assert expected in notes_text(replace(rtx4060(), **changed))
    assert expected not in notes_text(rtx4060())


@pytest.mark.parametrize(("changed", "expected"), [({"vgpu": True}, "vGPU"), ({"mig": True}, "MIG")])
def test_virtual_and_divided_gpus_have_a_note(language, speak, changed, expected) -> None:
    machine = replace(rtx4060(), gpus=(replace(rtx4060().gpus[0], **changed),))
    assert f"({expected})" in notes_text(machine)
    speak("zh_CN")
    assert f"（{expected}）" in notes_text(machine)


def test_image_based_system_has_a_note(language) -> None:
    plain = plain_linux()
    assert "whole image" in notes_text(replace(plain, os=replace(plain.os, image_based=True)))
    assert "whole image" not in notes_text(replace(plain, os=replace(plain.os, image_based=False)))


def test_smart_app_control_is_noted_where_it_is_on(language) -> None:
    plain = rtx4060()
    for state, expected in (("on", True), ("evaluation", False), ("off", False), (None, False)):
        machine = replace(plain, os=replace(plain.os, smart_app_control=state))
        assert any("Smart App Control" in note.text for note in machine_notes(machine, NONE)) is expected


def test_secure_boot_note_only_on_linux_with_nvidia(language) -> None:
    windows, plain = rtx4060(), plain_linux()
    linux = replace(windows, os=replace(plain.os, secure_boot=True))
    assert "Secure Boot" in notes_text(linux)
    assert machine_notes(replace(plain, os=replace(plain.os, secure_boot=True)), NONE) == ()
    assert machine_notes(replace(windows, os=replace(windows.os, secure_boot=True)), NONE) == ()


def test_warnings_come_first(language) -> None:
    assert kinds(replace(rtx4060(), laptop=True, user=User(home_too_long=True, ascii=False))) == [
        "warn",
        "info",
        "info",
    ]


def test_broken_pytorch_is_named(language) -> None:
    broken = Python(path="C:\\old\\python.exe", version="3.9.1", torch=TorchBuild(version="1.9", error="ImportError"))
    assert "C:\\old\\python.exe" in notes_text(replace(rtx4060(), pythons=(broken,)))


def test_failed_probes_are_listed_once(language, speak) -> None:
    notes = (
        ProbeNote(probe="tools", code="detect.tools.slow"),
        ProbeNote(probe="cpu", code="detect.cpu.nobody-foresaw-this", detail="KeyError: 'x'"),
        ProbeNote(probe="disks", code="detect.disks.failed", detail="PermissionError"),
    )
    machine = replace(rtx4060(), notes=notes)
    texts = [finding.text for finding in machine_notes(machine, frozenset({"disks"}))]
    assert len(texts) == 2
    assert "git and conda took too long" in texts[0]
    assert "KeyError" not in texts[1]
    speak("zh_CN")
    assert "用时过长" in machine_notes(machine, NONE)[0].text


def test_incomplete_toolkit_is_named_with_consequence(language) -> None:
    toolkits = (
        CudaToolkit(version="12.6.3", path="/opt/cuda-whole", nvcc=True),
        CudaToolkit(version="12.4.1", path="/opt/cuda-no-compiler", nvcc=False),
        CudaToolkit(version=None, path="/opt/cuda-no-version", nvcc=True),
    )
    text = notes_text(replace(rtx4060(), cuda_toolkits=toolkits))
    assert "/opt/cuda-no-compiler" in text
    assert "/opt/cuda-no-version" in text
    assert "/opt/cuda-whole" not in text
    assert "PyTorch does not use it" in text


def test_conda_is_named(language) -> None:
    assert "conda 24.9.2" in notes_text(replace(rtx4060(), tools=Tools(conda="24.9.2")))
