"""What a sentence says to type can be typed: wherever the program lies, and for the data folder that was named."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_assistant.texts.localized import Texts
from gpu_assistant.texts.terminal import Terminal

HOME = "C:\\Users\\张 三\\AppData\\Local\\Programs\\GPU Assistant\\gpu-assistant.exe"


@pytest.mark.linux
@pytest.mark.skipif(sys.platform != "linux", reason="the program is a shell script; Windows' quotes are below")
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_data_dir_is_part_of_command_and_it_runs(tmp_path: Path, language: str) -> None:
    programs, data = tmp_path / "bin", tmp_path / "my $data"
    programs.mkdir()
    program = programs / "gpu-assistant"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gpu_assistant --lang {language} "$@"\n')
    program.chmod(0o755)
    environ = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    environ.pop("GPU_ASSISTANT_DATA_DIR", None)

    def typed(*arguments: str) -> str:
        ran = subprocess.run(arguments, env=environ, capture_output=True, text=True, check=False, timeout=60)
        assert ran.returncode == 1
        return ran.stderr

    text = typed("gpu-assistant", "install", "--resume", "--data-dir", str(data))
    (line,) = re.findall("“(gpu-assistant [^”]*)”", text)
    assert line == f"gpu-assistant install --data-dir '{data}'"
    again = typed("sh", "-c", line.replace(" install", " install --resume"))
    assert again == text


def test_default_data_dir_is_left_out() -> None:
    plain = Texts("en").translate("error.nothing-to-resume")
    assert "“gpu-assistant install”" in plain
    assert Texts("en", terminal=Terminal(system="linux")).translate("error.nothing-to-resume") == plain


def test_windows_path_works_in_both_shells() -> None:
    terminal = Terminal(system="windows", program=HOME, data_dir="D:\\my data")
    text = Texts("zh_CN", terminal=terminal).translate("step.python-packages.undo", {"env": "E:\\env {1}"})
    # PowerShell takes what begins with a quote for a text, and runs this; cmd runs both.
    program = 'C:\\Users\\"张 三"\\AppData\\Local\\Programs\\"GPU Assistant"\\gpu-assistant.exe'
    assert f'“{program} uninstall --env "E:\\env {{1}}" --data-dir "D:\\my data"”' in text


def test_command_for_other_computer_is_plain() -> None:
    terminal = Terminal(system="linux", program="/opt/x/gpu-assistant", data_dir="/data")
    for typed in ("detect --json", "bundle create"):
        text = f"Do “gpu-assistant {typed}” there."
        assert terminal.fill_commands(text, str) == text


@pytest.mark.parametrize(
    ("system", "arguments", "line"),
    [
        ("windows", ("a", "C:\\x y"), 'a "C:\\x y"'),
        ("windows", ("C:\\x y\\a b.exe", "--c"), 'C:\\"x y"\\"a b.exe" --c'),
        ("linux", ("a", "/x y"), "a '/x y'"),
        ("linux", ("gpu-assistant", "plan", "--data-dir", "/e"), "gpu-assistant plan --data-dir /e"),
    ],
)
def test_command_is_quoted_for_its_system(system: str, arguments: tuple[str, ...], line: str) -> None:
    assert Terminal(system=system, data_dir="/d").command_line(arguments) == line
