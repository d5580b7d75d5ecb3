"""How the user's conda is run: what it gets in its environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.paths import DataDir
from gpu_assistant.fetch import http
from gpu_assistant.install.packages.conda import Conda
from gpu_assistant.system import current_system
from gpu_assistant.system.base import ProcessResult


def test_proxy_of_automatic_configuration_reaches_conda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, str | None]] = []

    class Recording(type(current_system())):  # type: ignore[misc]
        def run(self, _argv: object, *, environ: dict[str, str | None], **_: object) -> ProcessResult:
            given.append(environ)
            return ProcessResult(returncode=1, stdout="", stderr="")

    for name in ("HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setattr(http, "_system_proxy", lambda _url: "http://proxy.example:8080")
    with pytest.raises(AppError):
        Conda(tmp_path / "conda", Recording(), DataDir(tmp_path)).create_environment(tmp_path / "env", "3.12")
    assert given[0]["HTTPS_PROXY"] == "http://proxy.example:8080"
    assert given[0]["PYTHONPATH"] is None
