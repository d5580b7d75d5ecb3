"""Every file that the pages for contributors name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "CONTRIBUTING.md", ROOT / "tests/machines/README.md"])
# A path of ours: `install/steps/base.py`, `docs/decisions/`, `.ci/run`, `tests/<room>/`; a file of any other kind is an
# example or lies on the user's computer.
SOURCE_FILE = re.compile(r"[\w.<>*/-]+\.(py|md|ts|qss)")
FOLDERS = {path.name for base in (ROOT, ROOT / "gpu_assistant") for path in base.iterdir() if path.is_dir()}
EXAMPLES = {"try.py"}  # what a reader makes
BASES = (ROOT, ROOT / "gpu_assistant")


def named_paths(text: str) -> set[str]:
    """What a page has in backticks or a block and is a path of ours; from the repository's root or from the room."""
    codes = re.findall(r"```.*?```|`[^`]+`", text, re.DOTALL)
    candidates = (word.strip("`:,") for code in codes for word in code.split())
    return {
        word
        for word in candidates
        if SOURCE_FILE.fullmatch(word) or ("/" in word and word.partition("/")[0] in FOLDERS)
    }


def exists(path: str) -> bool:
    if path in EXAMPLES:
        return True
    pattern = re.sub(r"<\w+>|…", "*", path).rstrip("/")
    return any(next(base.glob(pattern), None) is not None for base in BASES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_named_paths_exist(page: Path) -> None:
    assert [path for path in sorted(named_paths(page.read_text(encoding="utf-8"))) if not exists(path)] == []


# In a command to be typed: `python -c "from gpu_assistant.system.elevation import current_elevation; …"`.
IMPORTED = re.compile(r"from (gpu_assistant[\w.]*) import (\w+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_imported_names_exist(page: Path) -> None:
    for module, name in IMPORTED.findall(page.read_text(encoding="utf-8")):
        path = ROOT.joinpath(*module.split("."))
        source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        assert re.search(
            rf"^(?:def|class) {name}\b|^{name}\b|^from .* import .*\b{name}\b", source.read_text("utf-8"), re.M
        )


def test_a_path_that_is_gone_is_seen() -> None:
    assert named_paths("`fetch/gone.py` and `/etc/os-release`") == {"fetch/gone.py"}
    assert not exists("fetch/gone.py")


# What Windows, and NSIS's own pages, say in the check by hand.
WORDS_OF_WINDOWS = {
    *("Windows protected your PC", "More info", "Run anyway", "Smart App Control blocked…"),
    *("Apps", "Installed apps", "Uninstall", "Protection history", "Yes", "No"),
    *("Next", "Install", "Finish", "Cancel"),
    "No module named 'PySide6.QtWidgets'",  # Python's
}


def program_words() -> str:
    """Every English text of the program, the setup program and the launcher."""
    texts = (path for folder in ("resources/texts", "installers/windows") for path in (ROOT / folder).glob("*.json"))
    catalogs = (ROOT / "resources" / "translations").glob("*.ts")
    sources = [ROOT / "installers/windows/report.c", ROOT / "gpu_assistant/install/elevation/helper.py"]
    return "\n".join(path.read_text(encoding="utf-8") for path in (*texts, *catalogs, *sources))


def test_check_by_hand_expects_the_words_that_the_program_says() -> None:
    page = (ROOT / "docs/windows-check.md").read_text(encoding="utf-8")
    steps = [line for line in page.splitlines() if re.match(r"\| \d+ \|", line)]
    assert len(steps) == 15
    text = re.sub(r"`[^`]*`", "", "\n".join(steps))
    expected = {*re.findall(r"\*\*([^*]+)\*\*", text), *re.findall(r'"([^"]+)"', text)} - WORDS_OF_WINDOWS
    said = program_words()
    assert len(expected) > 10
    assert [words for words in sorted(expected) if words not in said] == []
