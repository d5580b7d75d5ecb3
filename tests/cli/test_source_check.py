"""`plan` and `install` ask the sources before they show anything, and say what cannot be downloaded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_assistant.catalog.store import Catalog, load_catalog
from gpu_assistant.cli.main import run
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.install.jobs import check_sources
from gpu_assistant.system import current_system

from ..fakes.fault_server import FaultServer, fault_server
from ..install import tiny_wheels
from .conftest import one_sentence

pytestmark = pytest.mark.skipif(current_system().name != "linux", reason="asks uv of this system; one is enough")

OTHER_MACHINE = str(Path(__file__).parents[1] / "machines" / "windows11-rtx4060-566.json")


@pytest.fixture
def server() -> Iterator[FaultServer]:
    """A general index with nothing in it, which is also the proxy to everybody else, and refuses."""
    with fault_server() as server:
        yield server


@pytest.fixture(autouse=True)
def network(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time enough for a busy machine: here everybody answers."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, server.url)
        monkeypatch.setenv(name.upper(), server.url)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"{server.url}/simple")
    monkeypatch.delenv("UV_OFFLINE")
    monkeypatch.setattr(check_sources, "CHECK_SECONDS", 60.0)


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_install_ends_before_consent_where_no_index_has_anything(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, language: str
) -> None:
    code = run(["install", "--yes", "--env", str(tmp_path / "env"), "--lang", language])
    done = capsys.readouterr()
    assert (code, done.out) == (6, "")
    assert one_sentence(done.err)
    assert "bundle create" in done.err
    assert not (tmp_path / "env").exists()


def test_plan_says_what_cannot_be_downloaded(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan"]) == 0
    assert capsys.readouterr().out.startswith("! ")
    assert run(["plan", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["recommendation"]["pytorch"]["source"] is None
    assert all(file["checked"] is not True for step in plan["steps"] for file in step["files"])


def test_offline_and_recommend_ask_nobody(
    capsys: pytest.CaptureFixture[str], server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["plan", "--offline", "--json"]) == 0
    assert "source" not in json.loads(capsys.readouterr().out)["recommendation"]["pytorch"]
    assert run(["recommend"]) == 0
    monkeypatch.setenv("UV_OFFLINE", "1")
    assert run(["plan"]) == 0
    assert server.seen == []


def test_plan_file_says_by_which_answers_it_was_made(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    assert run(["plan", "--output", str(file)]) == 0
    answers = json.loads(file.read_text(encoding="utf-8"))["recommendation"]["sources"]
    assert {answer["state"] for answer in answers} <= {"absent", "unreachable", "damaged"}
    assert run(["install", "--plan", str(file), "--dry-run"]) == 0


def test_other_computer_is_not_judged_by_this_network(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--machine", OTHER_MACHINE, "--json"]) == 0
    assert "source" not in json.loads(capsys.readouterr().out)["recommendation"]["pytorch"]


CPU_MACHINE = str(Path(__file__).parents[1] / "machines" / "linux-cpu-only.json")


def serve_general_build(server: FaultServer, catalog: Catalog) -> str:
    """The general index has PyTorch's newest release, as the build for CUDA that it serves for Linux; its version."""
    release = catalog.pytorch.releases[0].version.text
    tiny_wheels.index(server, "simple", [tiny_wheels.torch(release), *tiny_wheels.others()])
    return release


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_bundle_takes_what_the_sources_have_and_says_so(
    capsys: pytest.CaptureFixture[str], server: FaultServer, tmp_path: Path, language: str
) -> None:
    release = serve_general_build(server, load_catalog(resources_dir() / "catalog"))
    folder = tmp_path / "stick"
    arguments = ["bundle", "create", str(folder), "--machine", CPU_MACHINE, "--lang", language]
    code = run(arguments)
    done = capsys.readouterr()
    assert (code, done.err.count("! ")) == (0, 2)  # the build for CUDA, which computes on the CPU; without torchvision
    contents = json.loads((folder / "bundle.json").read_text(encoding="utf-8"))
    assert contents["request"]["torch"] == release
    assert contents["request"]["variant"] not in (None, "cpu")
    # On the other computer, where nobody is asked, the same comes out.
    seen = len(server.seen)
    assert run(["install", "--bundle", str(folder), "--machine", CPU_MACHINE, "--dry-run", "--json"]) == 0
    assert len(server.seen) == seen


def test_bundle_ends_before_anything_is_made_where_no_index_has_the_build(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code = run(["bundle", "create", str(tmp_path / "stick"), "--machine", CPU_MACHINE])
    done = capsys.readouterr()
    assert (code, done.out) == (6, "")
    assert one_sentence(done.err)
    assert not (tmp_path / "stick").exists()


def test_online_and_offline_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--online", "--offline"]) == 2
    assert one_sentence(capsys.readouterr().err)
