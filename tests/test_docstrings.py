"""What a docstring or comment names in backticks exists."""

import ast
import builtins
import io
import keyword
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "gpu_assistant").rglob("*.py"))
QUOTED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
WORD = re.compile(r"[^\W\d]\w*")
# An identifier, a dotted name or the call of one; anything else in backticks is a command line, a value or a format.
NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(\(.*\))?")
PATH = re.compile(r"[\w./-]+\.(py|json|toml)")
# Names that other software defines and that our code does not use by name.
FOREIGN = {
    *("clicked", "isVisible", "setVisible", "QEvent", "LanguageChange"),  # Qt
    *("useOpenGL", "FillBetweenItem"),  # pyqtgraph
    *("_get_path_dirs", "cli/main_create.py", "base/context.py"),  # conda
    *(
        "importlib",
        "xml",
        "ElementTree",
        "ParseError",
        "get_last_error",
        "metadata",
        "direct_url.json",
    ),  # Python and its packaging
    *("uname", "pfid", "osID"),  # a command of Linux, parameters of NVIDIA's driver lookup
}
# Beginnings and ends of names that stand for several.
AFFIXES = {"cu126", "_total", "_pending"}


def _is_text(statement: ast.stmt) -> TypeGuard[Any]:
    """Whether it is a docstring: an expression that is a text."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _prose(source: str) -> Iterator[tuple[int, str]]:
    """Line number and text of each docstring and comment."""
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            if _is_text(statement):
                yield statement.lineno, statement.value.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _identifiers(tree: ast.AST) -> Iterator[str]:
    """Every identifier of a module and the words of its texts, docstrings left out."""
    for node in ast.walk(tree):
        for field in ("name", "id", "attr", "arg", "module", "asname"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                yield from value.split(".")
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from WORD.findall(node.value)


def _without_docstrings(source: str) -> ast.Module:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [statement for statement in body if not _is_text(statement)]
    return tree


def _definitions(tree: ast.AST) -> Iterator[str]:
    """What other modules can name: classes, functions, fields and module variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        if isinstance(node, ast.ClassDef | ast.Module):
            for statement in node.body:
                targets = statement.targets if isinstance(statement, ast.Assign) else ()
                if isinstance(statement, ast.AnnAssign):
                    targets = [statement.target]
                yield from (target.id for target in targets if isinstance(target, ast.Name))


FOLDERS = ("gpu_assistant", "resources", "benchmarks", "tests", "docs", "installers", ".ci")


class Repository:
    """What a name in backticks can mean."""

    def __init__(self) -> None:
        self.trees = {path: _without_docstrings(path.read_text(encoding="utf-8")) for path in MODULES}
        self.names = {
            *(name for tree in self.trees.values() for name in _definitions(tree)),
            *(part for path in MODULES for part in path.relative_to(ROOT).with_suffix("").parts),
            *dir(builtins),
            *keyword.kwlist,
            *FOREIGN,
            *AFFIXES,
        }
        self.files = {path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")}
        self.texts = {
            node.value
            for tree in self.trees.values()
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }

    def is_file(self, name: str) -> bool:
        """Whether a path ends like this in the repository, or the program writes a file of this name."""
        known = name in FOREIGN or name in self.texts or name in self.files
        return known or any(file.endswith(f"/{name}") for file in self.files)

    def unknown_names(self, path: Path) -> Iterator[str]:
        """Place and text of each name in backticks that means nothing."""
        known = self.names | set(_identifiers(self.trees[path]))
        for line, text in _prose(path.read_text(encoding="utf-8")):
            for quoted in QUOTED.findall(text):
                if PATH.fullmatch(quoted):
                    missing = [] if self.is_file(quoted) else [quoted]
                elif NAME.fullmatch(quoted):
                    missing = [word for word in quoted.partition("(")[0].split(".") if word not in known]
                else:
                    continue
                if missing:
                    yield f"{path.relative_to(ROOT)}:{line}: `{quoted}`"


def test_names_in_backticks_exist() -> None:
    repository = Repository()
    assert [fault for path in MODULES for fault in repository.unknown_names(path)] == []
