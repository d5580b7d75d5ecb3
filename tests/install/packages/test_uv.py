"""What of the user's own settings for uv reaches it."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from gpu_assistant.core import paths
from gpu_assistant.core.paths import DataDir
from gpu_assistant.fetch import http
from gpu_assistant.install.packages.uv import Uv, own_interpreter, uv_environment
from gpu_assistant.system import current_system
from gpu_assistant.system.base import ProcessResult
from gpu_assistant.verify.job import check_packages

from ..sandbox import Sandbox, end

HOSTILE = {
    "UV_CACHE_DIR": "nowhere",
    "UV_INDEX": "http://127.0.0.1:9/simple",
    "UV_EXTRA_INDEX_URL": "http://127.0.0.1:9/simple",
    "UV_INDEX_STRATEGY": "unsafe-best-match",
    "UV_FIND_LINKS": "nowhere",
    "UV_NO_INDEX": "1",
    "UV_OFFLINE": "1",
    "UV_CONSTRAINT": "nowhere.txt",
    "UV_OVERRIDE": "nowhere.txt",
    "UV_EXCLUDE_NEWER": "2001-01-01",
    "UV_TORCH_BACKEND": "cu118",
    "UV_NO_BINARY": "1",
    "UV_PYTHON": "2.7",
    "UV_PROJECT_ENVIRONMENT": "nowhere",
    "UV_PYTHON_PREFERENCE": "only-managed",
    "UV_REQUIRE_HASHES": "nonsense",
    "UV_INSECURE_HOST": "127.0.0.1",
    "UV_CONFIG_FILE": "nowhere.toml",
    "UV_WORKING_DIRECTORY": "nowhere",
}


def test_only_network_and_index_settings_reach_uv() -> None:
    foreign = {"UV_HTTP_TIMEOUT": "99", "UV_DEFAULT_INDEX": "https://index.example/simple"}
    arguments = uv_environment({**HOSTILE, **foreign, "uv_publish_token": "secret"})
    assert {name for name, value in arguments.items() if value is None} == {*HOSTILE, "uv_publish_token"}
    assert arguments["UV_DEFAULT_INDEX"] == "https://index.example/simple"
    # None is put into the user's profile, only to resolve for its series.
    assert arguments["UV_PYTHON_DOWNLOADS"] == "never"
    assert "UV_HTTP_TIMEOUT" not in arguments  # as the user has it
    older = uv_environment({"UV_INDEX_URL": "https://index.example/simple"})
    assert (older["UV_INDEX_URL"], older["UV_DEFAULT_INDEX"]) == (None, "https://index.example/simple")


def test_proxy_of_automatic_configuration_reaches_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str | None] = []

    class Recording(type(current_system())):  # type: ignore[misc]
        def run(self, _argv: object, *, environ: dict[str, str | None], **_: object) -> ProcessResult:
            given.append(environ.get("HTTPS_PROXY"))
            return ProcessResult(returncode=0, stdout="", stderr="")

    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setattr(http, "_system_proxy", lambda _url: "http://proxy.example:8080")
    uv = Uv(Recording(), DataDir(tmp_path))
    uv.run("lock", "--index", "https://index.example/simple", timeout=60)
    uv.run("venv", "--offline", timeout=60)
    uv.run("pip", "compile", timeout=60)  # from uv's own index
    monkeypatch.setenv("https_proxy", "http://other.example:80")
    uv.run("lock", "--index", "https://index.example/simple", timeout=60)
    assert given == ["http://proxy.example:8080", None, "http://proxy.example:8080", None]


def test_user_settings_do_not_affect_install(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in HOSTILE.items():
        monkeypatch.setenv(name, value)
    assert end(sandbox.install()).state == "done"
    assert sandbox.data.uv_cache.is_dir()
    assert not Path("nowhere").exists()


def test_user_settings_do_not_affect_resolution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uv = Uv(current_system(), DataDir(tmp_path), cancel=threading.Event())
    assert uv.run("venv", "--offline", "--python", sys.executable, tmp_path / "env", timeout=60).returncode == 0
    for name, value in HOSTILE.items():
        monkeypatch.setenv(name, value)
    lines: list[str] = []
    python = current_system().environment_python(tmp_path / "env")
    result = check_packages(current_system(), python, cancel=threading.Event(), log=lines.append)
    assert result.state == "pass"


def test_installed_program_is_no_python_for_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert own_interpreter() == Path(sys.executable)
    monkeypatch.setattr(paths, "install_dir", lambda: tmp_path)
    assert own_interpreter() is None
