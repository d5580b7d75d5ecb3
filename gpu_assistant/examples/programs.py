"""The example programs: scripts of `resources/examples/` for people to read, in either language, and as notebooks.

A script is cut into cells by lines `# %%`, which Visual Studio Code and Spyder know, too. Its comments are written in
English and below it in Chinese; `program_source` keeps one of them. What runs is the script itself, which differs from
what is read in these comments alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from ..core.paths import resources_dir

if TYPE_CHECKING:
    from ..core.types import Language

ExampleName = Literal["first-program", "picture-sorter", "language-model"]
EXAMPLE_NAMES: tuple[ExampleName, ...] = get_args(ExampleName)
# Modules that a script imports, and the package that brings each.
SCRIPT_PACKAGES = {"PIL": "pillow", "torchvision": "torchvision", "tokenizers": "tokenizers"}
CELL_MARK = "# %%"
PROGRAMS_FOLDER = "GPU Assistant"  # among the user's documents: for copies to work on
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def script_path(name: ExampleName) -> Path:
    """The script that runs."""
    return resources_dir() / "examples" / f"{name.replace('-', '_')}.py"


def program_source(name: ExampleName, language: Language) -> str:
    """A script with the comments of one language."""
    lines = script_path(name).read_text(encoding="utf-8").splitlines()
    return "\n".join(_one_language(lines, chinese=language == "zh_CN")) + "\n"


def readable_source(name: ExampleName, language: Language) -> str:
    """The code as it is shown: in one language, and without the cell marks, which are for editors."""
    lines = program_source(name, language).splitlines()
    return "\n".join(line for line in lines if not line.startswith(CELL_MARK)) + "\n"


def _one_language(lines: list[str], *, chinese: bool) -> Iterator[str]:
    """Of each block of comments the part in one language: the Chinese one begins with the first Chinese line."""
    block: list[str] = []
    for line in (*lines, ""):
        if line.lstrip().startswith("#") and not line.startswith(CELL_MARK):
            block.append(line)
            continue
        start = next((index for index, each in enumerate(block) if _CHINESE.search(each)), len(block))
        yield from (block[start:] or block) if chinese else block[:start]
        block = []
        yield line


def program_cells(source: str) -> tuple[str, ...]:
    """The code between the cell marks."""
    cells = re.split(rf"^{CELL_MARK}.*$", source, flags=re.MULTILINE)
    return tuple(cell.strip("\n") for cell in cells if cell.strip())


def notebook(source: str, kernel: str, display_name: str) -> bytes:
    """A Jupyter notebook (nbformat 4.5) of a script, without output."""
    cells: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{number}",
            "metadata": {},
            "outputs": [],
            "source": cell.splitlines(keepends=True),
        }
        for number, cell in enumerate(program_cells(source), 1)
    ]
    metadata = {
        "kernelspec": {"display_name": display_name, "language": "python", "name": kernel},
        "language_info": {"name": "python"},
    }
    document = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()
