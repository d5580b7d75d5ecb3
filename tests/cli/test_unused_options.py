"""What was typed and would change nothing is refused in one sentence, in both languages, before anything is asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpu_assistant.cli.main import run
from tests.cli.conftest import ROOT, one_sentence

MACHINES = ROOT / "tests/machines"
WINDOWS, LINUX = str(MACHINES / "windows11-rtx4060-566.json"), str(MACHINES / "ubuntu-h100.json")
PLAIN = str(MACHINES / "linux-cpu-only.json")


def refused(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str, language: str = "en") -> str:
    code = run([*arguments, "--lang", language, "--data-dir", str(folder / "data")])
    heard = capsys.readouterr()
    assert (code, heard.out) == (2, ""), heard.err
    assert one_sentence(heard.err)
    return heard.err.strip()


@pytest.mark.parametrize("command", [("recommend",), ("plan",), ("install", "--dry-run")], ids=" ".join)
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--machine", LINUX, "--wsl2", "install"), "part of Windows"),
        (("--machine", WINDOWS, "--wsl2", "install"), "only TensorFlow needs WSL2"),
        (("--machine", LINUX, "--toolkit", "installer"), "only the goals cuda-dev and all"),
        (("--machine", LINUX, "--toolkit", "archives"), "only the goals cuda-dev and all"),
        (("--machine", PLAIN, "--goal", "all", "--toolkit", "installer"), "no CUDA Toolkit is installed"),
        (("--machine", LINUX, "--channel", "game-ready"), "only Windows drivers"),
        (("--machine", PLAIN, "--way", "works-now"), "there is only one way"),
    ],
    ids=["wsl-linux", "wsl-pytorch", "installer", "archives", "no-card", "channel", "way"],
)
def test_unused_choice_is_refused(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    command: tuple[str, ...],
    arguments: tuple[str, ...],
    expected: str,
) -> None:
    message = refused(capsys, tmp_path, *command, *arguments)
    assert expected in message
    assert arguments[-2] in message
    chinese = refused(capsys, tmp_path, *command, *arguments, language="zh_CN")
    assert re.search(r"[\u4e00-\u9fff]", chinese)
    assert arguments[-2] in chinese


def test_wsl2_for_tensorflow_on_linux(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ("plan", "--machine", LINUX, "--goal", "tensorflow", "--wsl2", "install")
    assert "WSL2" in refused(capsys, tmp_path, *arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--plan", "p.json", "--goal", "all"),
        ("--plan", "p.json", "--goal", "pytorch"),
        ("--plan", "p.json", "--env", "somewhere"),
        ("--plan", "p.json", "--environment", "venv"),
        ("--plan", "p.json", "--machine", WINDOWS),
        ("--resume", "--machine", WINDOWS),
        ("--resume", "--python", "3.12"),
        ("--resume", "--plan", "p.json"),
        ("--bundle", "folder", "--toolkit", "installer"),
        ("--bundle", "folder", "--wsl2", "install"),
        ("--bundle", "folder", "--channel", "studio"),
        ("--bundle", "folder", "--mirrors", "first"),
        ("--bundle", "folder", "--resume"),
    ],
    ids=" ".join,
)
def test_plan_options_conflict_with_plan_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    message = refused(capsys, tmp_path, "install", "--yes", *arguments)
    assert {word for word in arguments if word.startswith("--")} <= set(message.replace(",", " ").split()), message


def test_machine_option_before_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ("--machine", WINDOWS, "install", "--yes", "--plan", "p.json")
    assert "--machine" in refused(capsys, tmp_path, *arguments)


@pytest.mark.parametrize(("language", "here"), [("en", "this computer"), ("zh_CN", "这台电脑")])
@pytest.mark.parametrize("goal", ["pytorch", "tensorflow", "all"])
@pytest.mark.parametrize("machine", [WINDOWS, LINUX, PLAIN], ids=["windows", "linux", "plain"])
def test_simulated_machine_wording(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, machine: str, goal: str, language: str, here: str
) -> None:
    for command in ("recommend", "plan"):
        code = run(
            [command, "--machine", machine, "--goal", goal, "--lang", language, "--data-dir", str(tmp_path / "data")]
        )
        heard = capsys.readouterr()
        assert code == 0, heard.err
        # The one that speaks of both: whose folders are shown.
        lines = [line for line in heard.out.splitlines() if not line.startswith(("Simulated", "模拟"))]
        assert here not in "\n".join(lines).lower()
    run(["plan", "--machine", machine, "--python", "3.2", "--lang", language, "--data-dir", str(tmp_path / "data")])
    assert here not in capsys.readouterr().err
