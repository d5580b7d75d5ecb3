"""Where a command is told to write: nothing of the user's is replaced, no folder is made, no name is too long."""

from __future__ import annotations

import errno
import json
import sys
from pathlib import Path

import pytest

from gpu_assistant.cli.arguments import is_exported_lockfile, is_plan, new_file_path
from gpu_assistant.cli.main import run
from gpu_assistant.core.errors import UsageError, storage_error
from gpu_assistant.install.environment.integrations import LOCK_COMMENT
from tests.cli.conftest import ROOT

RTX = str(ROOT / "tests/machines/windows11-rtx4060-566.json")
LONG = "n" * 300


def refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str) -> dict[str, object]:
    assert run([*arguments, "--json", "--lang", "en", "--data-dir", str(tmp_path / "data")]) == 2
    heard = capsys.readouterr()
    error: dict[str, object] = json.loads(heard.out.splitlines()[-1])
    assert heard.err.strip() == error.get("text", error.get("message"))
    return error


def test_plan_overwrites_only_a_plan(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "keep.txt"
    arguments = ("plan", "--machine", RTX, "--output")
    for content in (b"my thesis", b"[]", b'{"schema": "other/1"}', b"\xff"):
        file.write_bytes(content)
        assert refused(capsys, tmp_path, *arguments, str(file))["code"] == "file-exists"
        assert file.read_bytes() == content
    assert refused(capsys, tmp_path, *arguments, str(tmp_path))["code"] == "file-is-folder"
    assert refused(capsys, tmp_path, *arguments, str(tmp_path / "none" / "plan.json"))["code"] == "no-folder"
    assert not (tmp_path / "none").exists()
    file.write_bytes(b"")
    for _ in range(2):
        assert run([*arguments, str(file), "--data-dir", str(tmp_path / "data")]) == 0
        assert is_plan(file.read_bytes())
    assert is_plan(b'{"schema": "gpu-assistant/plan/7", "new": 1}')


def test_only_our_lockfile_is_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "thesis.txt"
    another = b'lock-version = "1.0"\ncreated-by = "uv"\n'
    for content in (b"my thesis", another, b"\xff"):
        file.write_bytes(content)
        with pytest.raises(UsageError) as caught:
            new_file_path(str(file), is_exported_lockfile)
        assert caught.value.code == "file-exists"
    file.write_bytes(LOCK_COMMENT + another)
    assert new_file_path(str(file), is_exported_lockfile) == file


@pytest.mark.linux
@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_dangling_link_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "none")
    with pytest.raises(UsageError):
        new_file_path(str(tmp_path / "link"), is_plan)


@pytest.mark.parametrize(
    "arguments",
    ["monitor --count 1 --csv {tmp}/none/x.csv", "bundle create --dry-run {tmp}/none/b", "plan --env {long}"],
)
def test_unwritable_target_fails_first(capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: str) -> None:
    given = arguments.format(tmp=tmp_path, long=tmp_path / LONG).split()
    assert run([*given, "--lang", "en", "--data-dir", str(tmp_path / "data")]) == 2
    message = capsys.readouterr().err.strip()
    assert "so nothing was written" in message
    assert len(message.splitlines()) == 1
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("install", "--yes", "--env", LONG),
        ("download", "http://127.0.0.1:9/x", "-o", LONG),
        ("download", "http://127.0.0.1:9/x", "-o", "n" * 248),  # the unfinished file's name is longer
        ("detect", "--data-dir", LONG),
    ],
    ids=" ".join,
)
def test_too_long_name_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    error = (
        refused(capsys, tmp_path, "--data-dir", str(tmp_path / "data"), *arguments)
        if arguments[0] != "detect"
        else None
    )
    if error is None:
        assert run([*arguments, "--json"]) == 2
        error = json.loads(capsys.readouterr().out)
    assert str(error["code"]).removeprefix("error.") == "name-too-long"


def test_windows_path_errors() -> None:
    def of_windows(number: int) -> OSError:
        error = OSError(errno.ENOENT, "as Windows has it")
        error.winerror = number  # type: ignore[attr-defined, unused-ignore]
        return error

    assert storage_error(of_windows(206), Path("x")).code == "name-too-long"
    assert storage_error(of_windows(123), Path(LONG)).code == "name-too-long"
    assert storage_error(of_windows(123), Path("x")).code == "storage"
