"""The release tool for statements: what it will not write, sign or accept, each said in one sentence."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from installers import statement
from tests.fakes.fault_server import fault_server
from tests.fakes.updates import Publisher

SETUP = "GPU-Assistant-Setup-9.0.0.exe"
OTHERS = ("GPU-Assistant-Portable-9.0.0.zip", "gpu-assistant_9.0.0_amd64.deb", "gpu_assistant-9.0.0-py3-none-any.whl")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (SETUP, *OTHERS, "gpu_assistant-9.0.0.tar.gz", "more-9.0.0.exe", "GPU-Assistant-Setup-9.0.0rc1.exe"):
        (tmp_path / name).write_bytes(b"content")
    (tmp_path / "empty-9.0.0.exe").touch()
    (tmp_path / "secret").write_text('{"id": "a", "secret": "zz"}')
    (tmp_path / "text").write_text("words")
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one sentence."""
    assert statement.main(list(map(str, arguments))) == 1
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    assert err.endswith(".\n")
    assert not {"(", "Errno", "Traceback"} & {err[0], *err.split()}, "a sentence, not a Python object"
    return err


def write(folder: Path, *artifacts: str, version: str = "9.0.0", days: int = 60, base: str = "https://e.test") -> list:
    files = [folder / name for name in artifacts or (SETUP,)]
    return ["write", *files, "--version", version, "--base", base, f"--days={days}", "-o", folder / "out"]


def test_what_is_built_is_taken(folder: Path) -> None:
    assert statement.main(list(map(str, write(folder, SETUP, *OTHERS)))) == 0
    assert [file["kind"] for file in json.loads((folder / "out").read_bytes())["files"]] == list(
        statement.FILE_EXTENSIONS
    )


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"days": -1}, "1 to 366 days, not for -1"),
        ({"days": 0}, "not for 0"),
        ({"days": 10**12}, "not for 1000000000000"),
        ({"version": "9.0.0\n"}, r"'9.0.0\n' must be written 9.0.0"),
        ({"version": "  9 "}, "'  9 ' must be written 9."),
        ({"version": "newest"}, "'newest' is not a version"),
        ({"version": "9.0.1"}, f"{SETUP} is not a file of version 9.0.1"),
        ({"version": "9.0"}, "is not a file of version 9.0:"),
        ({"base": "http://e.test"}, "does not begin with https://"),
        ({"base": ""}, "does not begin with https://"),
    ],
)
def test_what_is_not_written(folder: Path, capsys: pytest.CaptureFixture[str], changes: dict, expected: str) -> None:
    assert expected in refused(capsys, *write(folder, **changes))
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("artifacts", "expected"),
    [
        ((SETUP, SETUP), "More than one file ends in .exe"),
        ((SETUP, "more-9.0.0.exe"), "More than one file ends in .exe"),
        (("GPU-Assistant-Setup-9.0.0rc1.exe",), "is not a file of version 9.0.0"),
        (("gpu_assistant-9.0.0.tar.gz",), "none of the files that the program knows"),
        (("empty-9.0.0.exe",), "is empty"),
        (("gone-9.0.0.exe",), "gone-9.0.0.exe: "),
    ],
)
def test_files_that_do_not_fit(
    folder: Path, capsys: pytest.CaptureFixture[str], artifacts: tuple, expected: str
) -> None:
    assert expected in refused(capsys, *write(folder, *artifacts))


@pytest.mark.parametrize("name", ["", " ", "a b", "a\n", "-" * 70])
def test_a_key_has_a_name(folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert "A key's name" in refused(capsys, "key", "-o", folder / "key", "--", name)
    assert not (folder / "key").exists()


def test_a_key_is_never_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, "key", "2026-a", "-o", folder / "secret")


def test_what_is_not_signed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert statement.main(list(map(str, write(folder)))) == 0
    text = refused(capsys, "sign", folder / "out", "--key", folder / "secret", "-o", folder / "signed")
    assert "is not a key file" in text
    assert "zz" not in text
    assert "gone" in refused(capsys, "sign", folder / "out", "--key", folder / "gone", "-o", folder / "signed")
    statement.make_key("a", folder / "key")
    text = refused(capsys, "sign", folder / "text", "--key", folder / "key", "-o", folder / "signed")
    assert "does not say what a statement says" in text
    assert not (folder / "signed").exists()


def test_the_check_refuses_what_the_program_refuses(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with fault_server() as server:
        publisher = Publisher(server)
    good = publisher.statement("9.0.0")
    long_ago = {"released": good.released - timedelta(days=4000), "expires": good.released - timedelta(days=3999)}
    catalog, answer = folder / "updates.json", folder / "answer"
    arguments = ("check", answer, "--catalog", folder)
    answer.write_bytes(publisher.signed(msgspec.structs.replace(good, **long_ago)))
    assert "updates.json" in refused(capsys, *arguments), "no catalog"
    catalog.write_bytes(msgspec.json.encode(publisher.source))
    assert "is over" in refused(capsys, *arguments)
    answer.write_bytes(publisher.signed_anyway("{}"))
    assert "does not say what a statement says" in refused(capsys, *arguments)
    answer.write_bytes(b" " * 70_000)
    assert "larger" in refused(capsys, *arguments)
    answer.write_bytes(publisher.signed(good, Publisher(server).key))
    assert "its signatures do not fit" in refused(capsys, *arguments)
    catalog.write_bytes(msgspec.json.encode(msgspec.structs.replace(publisher.source, root=None)))
    assert "has no root" in refused(capsys, *arguments)
