"""Calls that are refused before they begin, and streams that are closed or full: an object, a sentence, the code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_assistant.cli.main import run
from tests.cli.conftest import ROOT, one_sentence

RTX = str(ROOT / "tests/machines/windows11-rtx4060-566.json")
ODD_NAME = "/tmp/a\udcff"  # as Python reads the byte 0xff; of no file; Windows has no such names
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="names are bytes, and /dev/full is there, on Linux")


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    exit_code = run([*arguments, "--lang", "en"])
    out, err = capsys.readouterr()
    error: dict[str, object] = json.loads(out)
    assert (error["schema"], error["exit"]) == ("gpu-assistant/error/1", exit_code)
    assert err.replace("\ufffd", "?").splitlines() == [str(error["text"]).replace("\ufffd", "?")]
    return error


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["recommend", "--machine", "/nowhere"], "file-unreadable"),
        (["install", "--machine", "/nowhere", "--yes"], "file-unreadable"),
        (["plan", "--wheelhouse", "/nowhere"], "wheelhouse-missing"),
        (["download", "http://127.0.0.1:1/x", "-o", "x", "--wheelhouse", "/nowhere"], "wheelhouse-missing"),
        (["detect", "--data-dir", RTX], "data-dir-file"),
        (["recommend", "--machine", "~nosuchuser/x"], "no-such-user"),
        (["install", "--data-dir", "~nosuchuser/x"], "no-such-user"),
        (["monitor", "--csv", "/nowhere/x.csv"], "no-folder"),
        (["monitor", "--history", "1h", "--count", "3"], "history-beside"),
        (["monitor", "--serve-metrics", "0", "--metrics-address", "999.1.1.1"], "metrics-address"),
        pytest.param(["plan", "--env", ODD_NAME], "name-not-utf8", marks=linux_only),
        pytest.param(["download", "http://127.0.0.1:1/x", "-o", ODD_NAME], "name-not-utf8", marks=linux_only),
        pytest.param(["verify", "--bogus", ODD_NAME], "call", marks=linux_only),
    ],
)
def test_refused_call_has_its_object_on_stdout(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], code: str
) -> None:
    data = [] if "--data-dir" in arguments else ["--data-dir", str(tmp_path / "data")]
    assert refusal(capsys, *arguments, *data, "--json")["code"] == code


@linux_only
def test_account_without_home_is_told_to_name_a_folder(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import pwd

    def no_entry(_uid: int) -> None:
        raise KeyError

    for name in ("HOME", "XDG_DATA_HOME", "GPU_ASSISTANT_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", no_entry)
    assert refusal(capsys, "detect", "--json")["code"] == "no-home"
    assert run(["recommend", "--machine", RTX, "--data-dir", str(tmp_path)]) == 0


def call_with_streams(tmp_path: Path, redirection: str, *arguments: str) -> tuple[int, str, str]:
    finished = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-m", "gpu_assistant", *arguments],
        env={**os.environ, "GPU_ASSISTANT_DATA_DIR": str(tmp_path / "data"), "PYTHONPATH": str(ROOT), "LC_ALL": "C"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return finished.returncode, finished.stdout, finished.stderr


@linux_only
@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
@pytest.mark.parametrize("arguments", [("--version",), ("catalog", "show", "gpus", "--json")])
def test_stdout_that_takes_nothing_is_named(tmp_path: Path, redirection: str, arguments: tuple[str, ...]) -> None:
    code, _, err = call_with_streams(tmp_path, redirection, *arguments)
    assert (code, one_sentence(err), "could not be written" in err) == (1, True, True)


@linux_only
@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
def test_refusal_keeps_its_code_without_stdout(tmp_path: Path, redirection: str) -> None:
    code, _, err = call_with_streams(tmp_path, redirection, "recommend", "--machine", "/nowhere", "--json")
    assert (code, one_sentence(err), "/nowhere" in err) == (2, True, True)


@linux_only
@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_refusal_keeps_its_code_without_stderr(tmp_path: Path, redirection: str) -> None:
    code, out, _ = call_with_streams(tmp_path, redirection, "recommend", "--machine", "/nowhere", "--json")
    assert (code, json.loads(out)["code"]) == (2, "file-unreadable")


@linux_only
def test_note_for_people_is_no_part_of_json_without_stderr(tmp_path: Path) -> None:
    arguments = ("monitor", "--serve-metrics", "0", "--count", "1", "--interval", "0.01", "--json")
    code, out, _ = call_with_streams(tmp_path, "2>&-", *arguments)
    assert (code, len(out.splitlines()), "t" in json.loads(out)) == (0, 1, True)
