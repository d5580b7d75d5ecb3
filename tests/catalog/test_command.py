"""`gpu-assistant catalog`, as it is typed."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpu_assistant.catalog.store import STAMP_NAME
from gpu_assistant.catalog.validation import FILE_TYPES
from gpu_assistant.cli.main import run
from gpu_assistant.core.paths import resources_dir

TODAY = datetime.now(UTC).date().isoformat()
FOLDER = resources_dir() / "catalog"


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    return ["--lang", "en", "--data-dir", str(tmp_path / "data")]


def test_show(data: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalog", "show", *data]) == 0
    output = capsys.readouterr().out
    assert all(name in output for name in FILE_TYPES)
    assert "built in" in output
    assert str(FOLDER) in output
    assert all(f"Sources of {name}:" in output for name in FILE_TYPES)
    assert "https://learn.microsoft.com" in output


def test_show_one_with_its_sources(data: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalog", "show", "vc_redist", *data]) == 0
    assert "https://learn.microsoft.com" in capsys.readouterr().out
    assert run(["catalog", "show", "potatoes", *data]) == 2
    assert "vc_redist" in capsys.readouterr().err


def test_show_as_json(data: list[str], capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["catalog", "show", "--json", *data]) == 0
    output = json.loads(capsysbinary.readouterr().out)
    assert output["refreshed"] is None
    assert set(output["subjects"]) == set(output["state"]) == set(FILE_TYPES)
    assert output["subjects"]["pytorch"]["releases"][0]["version"]


def test_show_lists_refreshed_and_ignored_files(
    data: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "data" / "catalog" / "current"
    folder.mkdir(parents=True)
    cuda = json.loads((FOLDER / "cuda.json").read_text(encoding="utf-8")) | {"as_of": TODAY}
    (folder / "cuda.json").write_text(json.dumps(cuda), encoding="utf-8")
    (folder / "drivers.json").write_bytes(b"{")
    (folder / STAMP_NAME).write_text(json.dumps({"schema": "gpu-assistant/catalog/1", "day": TODAY}))
    assert run(["catalog", "show", *data]) == 0
    captured = capsys.readouterr()
    assert TODAY in captured.out
    assert "refreshed" in captured.out
    assert str(folder) in captured.out
    assert "drivers.json is damaged" in captured.err


def test_check(data: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalog", "check", *data]) == 0
    broken = tmp_path / "broken"
    shutil.copytree(FOLDER, broken)
    (broken / "cuda.json").write_bytes(b"{")
    (broken / "gpus.json").unlink()
    capsys.readouterr()
    assert run(["catalog", "check", str(broken), *data]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [["cuda.json", "schema"], ["gpus.json", "readable"]]
    assert run(["catalog", "check", str(tmp_path / "absent"), *data]) == 2


def test_issue_has_text_in_both_languages(data: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(FOLDER, broken)
    gpus = json.loads((FOLDER / "gpus.json").read_text(encoding="utf-8"))
    gpus["gpus"][0]["pci_id"] = "10DE"
    (broken / "gpus.json").write_text(json.dumps(gpus), encoding="utf-8")
    (broken / "extra.json").write_text("{}", encoding="utf-8")
    for language, kind in (("en", "is not written correctly"), ("zh_CN", "这个值的写法不对")):
        assert run(["catalog", "check", str(broken), *data, "--lang", language]) == 1
        output = capsys.readouterr().out
        assert kind in output
        assert "regex" not in output


def test_check_as_json(data: list[str], tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["catalog", "check", "--json", *data]) == 0
    assert json.loads(capsysbinary.readouterr().out)["findings"] == []
    assert run(["catalog", "check", str(tmp_path), "--json", *data]) == 1
    assert len(json.loads(capsysbinary.readouterr().out)["findings"]) == len(FILE_TYPES)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("offline")
def test_update_offline_shows_data_age(data: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["catalog", "update", *data]) == 6
    captured = capsys.readouterr()
    assert re.search(r"it is from 2026-\d\d-\d\d, \d+ days? ago", captured.err)
    assert captured.out.count("kept as it was") == 4
    assert not (tmp_path / "data" / "catalog").exists()


@pytest.mark.usefixtures("offline")
def test_update_offline_as_json_lists_used_files(data: list[str], capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["catalog", "update", "--json", *data]) == 6
    output = json.loads(capsysbinary.readouterr().out)
    assert output["as_of"] == json.loads((FOLDER / "pytorch.json").read_text(encoding="utf-8"))["as_of"]
    assert output["days"] >= 0
    assert {one["subject"]: (one["state"], one["why"]) for one in output["subjects"]} == dict.fromkeys(
        ("pytorch", "cuda", "cudnn", "drivers"), ("failed", "unreachable")
    )
