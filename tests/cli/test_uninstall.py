"""A removal in a terminal: every step ends with what became of it, and the last line does not say more than is true."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_assistant.core.paths import DataDir
from gpu_assistant.install import listing
from gpu_assistant.install.effects import TreeMade
from gpu_assistant.install.journal import Journal
from tests.cli.conftest import Call


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """One that an install made, as far as a removal looks."""
    made = tmp_path / "env"
    (made / "bin").mkdir(parents=True)
    for name in ("activate", "deactivate"):
        (made / "bin" / name).write_text(name, encoding="utf-8")
    listing.write(made)
    with (
        Journal(DataDir(tmp_path / "data"), env=str(made)) as book,
        book.effect("python-packages", TreeMade(path=str(made))),
    ):
        pass
    return made


def test_nothing_stays(call: Call, environment: Path) -> None:
    done = call("uninstall", "--env", str(environment), "--yes")
    assert (done.returncode, done.stdout.strip()) == (0, f"{environment} is removed.")
    assert not environment.exists()


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_what_stays_is_named_and_the_last_line_says_that_it_does(call: Call, environment: Path, language: str) -> None:
    (environment / "thesis.txt").write_text("all of it", encoding="utf-8")
    (environment / "bin" / "activate").write_text("mine", encoding="utf-8")
    done = call("--lang", language, "uninstall", "--env", str(environment), "--yes")
    assert done.returncode == 0
    assert all(name in done.stderr for name in ("thesis.txt", "bin/activate"))
    assert {"en": "your own files there stay", "zh_CN": "你自己的文件保留在里面"}[language] in done.stdout
    assert sorted(listing.walk(environment)) == ["bin/activate", "thesis.txt"]
