"""A plan file, or a folder, that somebody made up: one sentence for a beginner, at once, and in a dry run too."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path, PureWindowsPath
from typing import Any

import pytest

from gpu_assistant.cli.main import run
from gpu_assistant.system.paths import reserved_path_part

WINDOWS = str(Path(__file__).resolve().parents[2] / "machines" / "windows11-rtx4060-nodriver.json")
Plan = dict[str, Any]
unix = pytest.mark.skipif(sys.platform == "win32", reason="links and paths of Unix")


def refused(
    capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str, language: str, exit_code: int = 2
) -> str:
    code = run(["install", "--dry-run", *arguments, "--lang", language, "--data-dir", str(folder / "data")])
    heard = capsys.readouterr()
    assert (code, heard.out) == (exit_code, ""), heard.err
    assert len(heard.err.strip().splitlines()) == 1
    assert not (folder / "data" / "journal").exists()
    return heard.err.strip()


@pytest.fixture
def made(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Plan:
    path = tmp_path / "made.json"
    command = ["plan", "--machine", WINDOWS, "--goal", "all", "--output", str(path)]
    assert run([*command, "--data-dir", str(tmp_path / "data")]) == 0
    capsys.readouterr()
    return json.loads(path.read_bytes())  # type: ignore[no-any-return]


def step(plan: Plan, kind: str) -> Plan:
    return next(each for each in plan["steps"] if each["kind"] == kind)


def deep() -> Plan:
    outer: Plan = {}
    inner = outer
    for _ in range(900):
        inner["a"] = {}
        inner = inner["a"]
    return outer


FAULTS: dict[str, tuple[Callable[[Plan], object], str, str]] = {
    "spec": (lambda p: step(p, "nvidia-driver")["spec"].update(version="1.0"), "NVIDIA driver", "planning again"),
    "file": (lambda p: step(p, "cudnn")["files"][0].update(url="https://x.example/x.zip"), "cuDNN", "planning again"),
    "gone": (lambda p: p["steps"].remove(step(p, "vc-redist")), "Visual C++", "planning again"),
    "release": (lambda p: p["recommendation"]["pytorch"].update(version="9.9.9"), "packages", "planning again"),
    "unknown": (lambda p: p["steps"][0].update(kind="shell"), "the list of steps", "shell"),
    "choice": (lambda p: p["recommendation"].update(choice={"pytorch": "9.9.9"}), "your own choices", "choice"),
    "letters": (lambda p: step(p, "verify").update(code="a\u202eb"), "hidden characters", "steps.code"),
    "deep": (lambda p: step(p, "verify").update(spec=deep()), "ste", "plan --output"),
    "computer": (lambda p: p.pop("machine"), "the computer that it is for", "machine"),
    "kind": (lambda p: p["steps"][0].update(bytes="many"), "damaged", "steps[0].bytes"),
    "wheels": (lambda p: p.update(wheelhouse="/nowhere"), "/nowhere", "wheelhouse"),
    "bundle": (lambda p: p.update(bundle="/nowhere"), "/nowhere", "bundle"),
}
FOUND_AT = ("computer", "unknown", "choice", "letters", "kind")


@pytest.mark.skipif("sys.platform == 'win32'", reason="its folders are this computer's")
@pytest.mark.parametrize("fault", FAULTS)
def test_changed_plan_is_refused_with_plain_message(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, made: Plan, fault: str
) -> None:
    change, named, location = FAULTS[fault]
    change(made)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    text = refused(capsys, tmp_path, "--plan", str(path), language="en")
    assert named in text
    assert location in text
    # What the file calls it stands at the end, behind what a beginner reads.
    if fault in FOUND_AT:
        assert text.index(named) < text.rindex("(")
        assert "gpu-assistant plan --output" in text
    chinese = refused(capsys, tmp_path, "--plan", str(path), language="zh_CN")
    assert re.search(r"[\u4e00-\u9fff]", chinese)
    assert "@" not in chinese


@unix
def test_plan_for_another_platform_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, made: Plan) -> None:
    made.update(env="C:\\Users\\me\\env", simulated=False)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    assert "another kind of computer" in refused(capsys, tmp_path, "--plan", str(path), language="en")


OF_UNIX = ("/etc", "/etc/gpu", "/usr/lib/env", "/usr/local", "/opt", "/tmp", "/proc/1/env")
OF_WINDOWS = ("%SystemRoot%", "%SystemRoot%\\System32\\env", "%ProgramFiles%\\env", "%APPDATA%", "%PUBLIC%")


@pytest.mark.parametrize("place", OF_WINDOWS if sys.platform == "win32" else OF_UNIX)
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_system_folder_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, place: str, language: str
) -> None:
    folder = os.path.expandvars(place)
    assert folder.casefold() in refused(capsys, tmp_path, "--env", folder, language=language).casefold()


@unix
def test_link_to_system_folder_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    for path in ("link", "link/env"):
        assert "/etc" in refused(capsys, tmp_path, "--env", str(tmp_path / path), language="en")


def test_disk_root_and_home_folder_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for path in (tmp_path.anchor, "~", str(Path.home())):
        assert "separate folder" in refused(capsys, tmp_path, "--env", path, language="en")


def test_occupied_location_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("thesis", encoding="utf-8")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("thesis", encoding="utf-8")
    # That a file can be no environment is seen in the call itself, before anything is looked at.
    for path, label, code in (
        ("file", "is a file", 2),
        ("file/env", "is a file", 1),
        ("full", "already contains files", 1),
    ):
        text = refused(capsys, tmp_path, "--env", str(tmp_path / path), language="en", exit_code=code)
        assert label in text
    assert (tmp_path / "full" / "thesis.txt").read_text(encoding="utf-8") == "thesis"


def test_missing_wheelhouse_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for option in ("--wheelhouse", "--bundle"):
        assert "nowhere" in refused(capsys, tmp_path, option, str(tmp_path / "nowhere"), language="en")


@pytest.mark.parametrize("name", ["con", "NUL.txt", "com1", "env.", "env ", "a|b", "what?", "CONIN$"])
def test_reserved_windows_names_are_refused(name: str) -> None:
    assert reserved_path_part(PureWindowsPath("C:/Users/me") / name, windows=True) == name
    assert reserved_path_part(PureWindowsPath("C:/Users/me/con.d.e") / "x", windows=True) == "con.d.e"


@pytest.mark.parametrize("name", ["env", "console", "my env", "环境", "com", "nul1"])
def test_folder_names(name: str) -> None:
    assert reserved_path_part(PureWindowsPath("C:/Users/me.name") / name, windows=True) is None
    assert reserved_path_part(Path("/home/me/con."), windows=False) is None
