"""`--machine FILE` where the file is anybody's: one plain sentence in both languages, and nothing of it goes raw
into a terminal."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.cli.main import run
from gpu_assistant.core import json as core_json

SMALLEST: dict[str, Any] = {"schema": "gpu-assistant/machine/1", "os": {"system": "windows"}, "gpus": []}
NVIDIA = {"vendor": "nvidia", "name": "NVIDIA GeForce RTX 4060"}
LIBRARY = re.compile(r"Expected|Object |JSON is malformed|truncated|enum|regex|codec|`|\$")


def run_detect(capsys: pytest.CaptureFixture[str], tmp_path: Path, content: bytes, language: str) -> tuple[int, str]:
    path = tmp_path / "machine.json"
    path.write_bytes(content)
    code = run(["recommend", "--machine", str(path), "--lang", language, "--data-dir", str(tmp_path / "data")])
    heard = capsys.readouterr()
    assert heard.out == ""
    return code, heard.err.strip()


def changed(**fields: object) -> bytes:
    return json.dumps(SMALLEST | fields).encode()


FAULTS = {
    "missing": (b'{"schema": "gpu-assistant/machine/1", "gpus": []}', "(os)"),
    "missing-below": (changed(gpus=[NVIDIA, {"name": "x"}]), "(gpus[1].vendor)"),
    "kind": (changed(gpus=[NVIDIA | {"name": 1}]), "(gpus[0].name)"),
    "choice": (changed(gpus=[NVIDIA | {"vendor": "3dfx"}]), "(gpus[0].vendor)"),
    "schema": (changed(schema="gpu-assistant/machine/9"), "(schema)"),
    "list": (b"[]", ""),
    "long-version": (changed(driver={"version": "5" * 6000}), "(driver.version)"),
    "long-capability": (changed(gpus=[NVIDIA | {"compute_capability": "8." + "9" * 6000}]), "compute_capability)"),
    "control": (changed(gpus=[NVIDIA | {"name": "\x1b[31mRTX 4060"}]), "(gpus[0].name)"),
    "newline": (changed(driver={"version": "566.03\n  ! all is well"}), "(driver.version)"),
    "turned": (changed(os={"system": "windows", "name": "\u202e11 swodniW"}), "(os.name)"),
    "negative": (changed(memory_bytes=-1), "(memory_bytes)"),
    "huge": (b'{"memory_bytes": ' + b"9" * 6000 + b"," + changed()[1:], "(memory_bytes)"),
    "no-json": (b'{\n "schema": x', "(2:12)"),
    "cut": (b'{"schema"', "(1:10)"),
    "empty": (b"", "(1:1)"),
    "letters": (b'{"schema": "\xff"}', ""),
    "half-a-letter": (b"\xff\xfe{", ""),
    "deep": (b'{"x": ' + b'[{"y": ' * 20_000, ""),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_error_names_file_and_field(capsys: pytest.CaptureFixture[str], tmp_path: Path, fault: str) -> None:
    content, where = FAULTS[fault]
    for language in ("en", "zh_CN"):
        code, complaint = run_detect(capsys, tmp_path, content, language)
        assert code == 2
        assert len(complaint.splitlines()) == 1
        assert where.strip("()") in complaint
        assert not LIBRARY.search(complaint.replace(str(tmp_path), "")), complaint
        assert complaint.isprintable()
        assert len(complaint) < len(str(tmp_path)) + 300


@pytest.mark.linux
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a file without end")
def test_endless_file_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["recommend", "--machine", "/dev/zero", "--lang", "en", "--data-dir", str(tmp_path)]) == 2
    complaint = capsys.readouterr().err
    assert "/dev/zero is larger than 16 MB" in complaint
    assert len(complaint.splitlines()) == 1


def test_the_largest_file_is_still_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    content = changed()
    code, _ = run_detect(capsys, tmp_path, content + b" " * (core_json.MAX_FILE_BYTES - len(content)) + b" ", "en")
    assert code == 2
    path = tmp_path / "machine.json"
    path.write_bytes(content + b" " * (core_json.MAX_FILE_BYTES - len(content)))
    assert run(["detect", "--machine", str(path), "--data-dir", str(tmp_path / "data")]) == 0


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be"])
def test_powershell_encoding_is_read(capsys: pytest.CaptureFixture[str], tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "machine.json"
    text = changed(gpus=[NVIDIA]).decode()
    path.write_bytes((text if encoding == "utf-8-sig" else "\ufeff" + text).encode(encoding))
    assert run(["detect", "--machine", str(path), "--lang", "en", "--data-dir", str(tmp_path / "data")]) == 0
    assert "RTX 4060" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["@error.internal", "@reason.cuda-card", "@", "@nothing.like.this", "{0}", "{x"])
def test_names_are_shown_literally(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    path = tmp_path / "machine.json"
    notes = [{"probe": name, "code": name}, {"probe": "gpus", "code": "detect.gpus.failed", "detail": name}]
    path.write_bytes(changed(gpus=[NVIDIA | {"name": name}], notes=notes))
    for command in ("detect", "recommend", "plan"):
        assert run([command, "--machine", str(path), "--lang", "en", "--data-dir", str(tmp_path / "data")]) == 0
    assert "Traceback" not in capsys.readouterr().err


def test_traceback_goes_to_log_only(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core_json, "MAX_FILE_BYTES", "not a number")
    path = tmp_path / "machine.json"
    path.write_bytes(changed())
    assert run(["detect", "--machine", str(path), "--lang", "en", "--data-dir", str(tmp_path / "data")]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
    log = (tmp_path / "data" / "logs" / "gpu-assistant.log").read_text(encoding="utf-8")
    assert "Traceback" in log


@pytest.mark.parametrize(
    ("arguments", "chinese"), [(["--lang", "zh_CN", "--lang", "en"], False), (["--lang=en", "--lang=zh_CN"], True)]
)
def test_last_lang_option_wins(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], chinese: bool
) -> None:
    assert run([*arguments, "detect", "--machine", str(tmp_path / "absent.json")]) == 2
    assert ("无法" in capsys.readouterr().err) == chinese


@pytest.mark.parametrize(("platform", "taken"), [("manylinux_2_28_x86_64", False), ("win_amd64", True)])
def test_simulated_plan_hides_local_wheelhouse(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, platform: str, taken: bool
) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    (wheels / f"torch-2.13.0+cpu-cp311-cp311-{platform}.whl").write_bytes(b"x" * 1000)
    path = tmp_path / "machine.json"
    path.write_bytes(changed())
    more = ["--pytorch", "2.13.0", "--variant", "cpu", "--python", "3.11", "--data-dir", str(tmp_path / "data")]
    assert run(["plan", "--machine", str(path), "--wheelhouse", str(wheels), *more, "--lang", "en", "--json"]) == 0
    steps = {step["kind"]: step for step in json.loads(capsys.readouterr().out)["steps"]}
    assert not [
        word for step in steps.values() for command in step["commands"] for word in command if str(wheels) in word
    ]
    assert ("from your wheel folder" in steps["download"]["what"]) == taken
