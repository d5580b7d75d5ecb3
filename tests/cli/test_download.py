"""`gpu-assistant download`: the events, the exit codes, and what a second call takes up."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from gpu_assistant.core.settings import Settings, save_settings
from tests.fakes.fault_server import FaultServer, fault_server

ROOT = Path(__file__).resolve().parents[2]
DATA = os.urandom(3_000_000)
SHA256 = hashlib.sha256(DATA).hexdigest()


def call(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gpu_assistant", "download", "--data-dir", str(tmp_path / "data"), *arguments]
    pipe = subprocess.PIPE
    # Windows writes into pipes in its code page, and our sentences have quotation marks that UTF-8 writes otherwise.
    environ = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, env=environ, encoding="utf-8")


def events(text: str) -> list[dict[str, object]]:
    schema = json.loads((ROOT / "resources/schemas/event.schema.json").read_text(encoding="utf-8"))
    parsed = [json.loads(line) for line in text.splitlines()]
    for event in parsed:
        jsonschema.validate(event, schema)
    return parsed


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as running:
        yield running


def test_events_and_figures(server: FaultServer, tmp_path: Path) -> None:
    path = tmp_path / "file.bin"
    urls = [server.url + "/missing", server.add("/file", DATA)]
    child = call(tmp_path, *urls, "-o", str(path), "--sha256", SHA256.upper(), "--json")
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    lines = events(out)
    assert (lines[0]["event"], lines[0]["steps"][0]["id"]) == ("plan", "download")  # type: ignore[index]
    assert {event["id"] for event in lines if event["event"] == "step"} == {"download"}
    last = lines[-1]
    assert (last["event"], last["state"], last["bytes_reused"], last["bytes_fetched"]) == ("end", "done", 0, len(DATA))
    assert path.read_bytes() == DATA


@pytest.mark.parametrize(
    ("extra", "code"),
    [(["--sha256", "12"], 2), (["--connections", "0"], 2), (["--connections", "17"], 2), (["--sha256", "0" * 64], 1)],
)
def test_exit_codes(server: FaultServer, tmp_path: Path, extra: list[str], code: int) -> None:
    child = call(tmp_path, server.add("/file", DATA), "-o", str(tmp_path / "file.bin"), *extra)
    _, stderr = child.communicate(timeout=60)
    assert (child.returncode, bool(stderr.strip())) == (code, True)
    assert not (tmp_path / "file.bin").exists()


def test_all_mirrors_fail(server: FaultServer, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    child = call(tmp_path, server.url + "/missing", "-o", str(place / "file.bin"))
    child.communicate(timeout=60)
    assert child.returncode == 6
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    "url", ["ftp://host/file", "file:///etc/hosts", "nothing", "http://127.0.0.1:99999/x", "http://[::1/x"]
)
def test_invalid_urls(tmp_path: Path, url: str) -> None:
    child = call(tmp_path, url, "-o", str(tmp_path / "file.bin"))
    child.communicate(timeout=60)
    assert child.returncode == 2


@pytest.mark.linux
@pytest.mark.skipif(sys.platform != "linux", reason="Ctrl+C of another console process is Linux's own here")
def test_stopped_download_resumes(server: FaultServer, tmp_path: Path) -> None:
    path = tmp_path / "file.bin"
    url = server.add("/file", DATA, rate=1_500_000)
    child = call(tmp_path, url, "-o", str(path), "--sha256", SHA256, "--json", "--connections", "1")
    assert child.stdout is not None
    for line in child.stdout:
        if (json.loads(line).get("done") or 0) > 1_000_000:
            break
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 3
    assert events(out)[-1]["state"] == "cancelled"
    server.files["/file"].rate = None
    again = call(tmp_path, url, "-o", str(path), "--sha256", SHA256, "--json")
    last = events(again.communicate(timeout=60)[0])[-1]
    assert last["bytes_reused"] > 500_000  # type: ignore[operator]
    assert last["bytes_reused"] + last["bytes_fetched"] == len(DATA)  # type: ignore[operator]
    assert path.read_bytes() == DATA


@pytest.mark.parametrize("by", ["option", "settings"])
def test_rate_limit_is_kept(server: FaultServer, tmp_path: Path, by: str) -> None:
    arguments = ["--limit-rate", "1.5M"] if by == "option" else []
    save_settings(tmp_path / "data" / "settings.json", Settings(speed_limit=1_500_000 if by == "settings" else 1))
    child = call(tmp_path, server.add("/file", DATA), "-o", str(tmp_path / "file.bin"), "--json", *arguments)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    assert (tmp_path / "file.bin").read_bytes() == DATA
    assert float(str(events(out)[-1]["elapsed_s"])) > 0.8 * len(DATA) / 1_500_000


@pytest.mark.parametrize("rate", ["fast", "0", "-1", "5X", "0.5k", "nan"])
def test_invalid_rate_limits(server: FaultServer, tmp_path: Path, rate: str) -> None:
    child = call(tmp_path, server.add("/file", DATA), "-o", str(tmp_path / "file.bin"), f"--limit-rate={rate}")
    _, stderr = child.communicate(timeout=60)
    assert (child.returncode, "500k or 5M" in stderr) == (2, True)


def test_existing_user_file_is_kept(server: FaultServer, tmp_path: Path) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(b"mine")
    url = server.add("/file", DATA)
    for extra in ([], ["--sha256", SHA256]):
        child = call(tmp_path, url, "-o", str(path), *extra)
        _, stderr = child.communicate(timeout=60)
        assert (child.returncode, path.read_bytes()) == (2, b"mine")
        assert "-o" in stderr
    assert server.seen == []


def test_foreign_partial_file_is_kept(server: FaultServer, tmp_path: Path) -> None:
    path, part = tmp_path / "file.bin", tmp_path / "file.bin.part"
    url = server.add("/file", DATA)
    part.write_bytes(b"mine")
    child = call(tmp_path, url, "-o", str(path))
    _, stderr = child.communicate(timeout=60)
    assert (child.returncode, part.read_bytes(), str(part) in stderr) == (2, b"mine", True)
    assert server.seen == []
    # Ours is one with a state beside it, however damaged, and one into which nothing was written.
    for content, state in ((b"begun", b"\0\0"), (b"begun", b'{"type":"file","url":"x","era":2}\n'), (b"", None)):
        path.unlink(missing_ok=True)
        part.write_bytes(content)
        if state is not None:
            (tmp_path / "file.bin.part.json").write_bytes(state)
        child = call(tmp_path, url, "-o", str(path))
        child.communicate(timeout=60)
        assert child.returncode == 0
        assert path.read_bytes() == DATA
        assert {entry.name for entry in tmp_path.iterdir()} == {"data", "file.bin"}


def test_matching_file_is_not_downloaded_again(server: FaultServer, tmp_path: Path) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(DATA)
    child = call(tmp_path, server.add("/file", DATA), "-o", str(path), "--sha256", SHA256, "--json")
    out, _ = child.communicate(timeout=60)
    assert (child.returncode, events(out)[-1]["bytes_reused"], server.seen) == (0, len(DATA), [])
