"""What a docstring or comment names in backticks exists."""

import ast
import builtins
import io
import keyword
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeGuard

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "gpu_assistant").rglob("*.py"))
QUOTED_AFTER_HASH = re.compile(r"#[^\n]*`")
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


class Module:
    """A module of the program; its tree is walked once."""

    def __init__(self, path: Path) -> None:
        source = path.read_text(encoding="utf-8")
        nodes = list(ast.walk(ast.parse(source)))
        docstrings = {id(each.value): each.value for node in nodes for each in _statements(node) if _is_text(each)}
        self.nodes = [node for node in nodes if id(node) not in docstrings]  # without docstrings
        # Line number and text of each docstring and comment.
        self.prose = [(node.lineno, node.value) for node in docstrings.values()]
        self.prose += _comments(source)
        self.texts = [
            node.value for node in self.nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]

    def identifiers(self) -> Iterator[str]:
        """Every identifier of the module and the words of its texts."""
        for node in self.nodes:
            for field in naming_fields(type(node)):
                value = getattr(node, field)
                if isinstance(value, str):
                    yield from value.split(".")
        for text in self.texts:
            yield from WORD.findall(text)

    def definitions(self) -> Iterator[str]:
        """What other modules can name: classes, functions, fields and module variables."""
        for node in self.nodes:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.name
            if isinstance(node, ast.ClassDef | ast.Module):
                for statement in node.body:
                    targets = statement.targets if isinstance(statement, ast.Assign) else ()
                    if isinstance(statement, ast.AnnAssign):
                        targets = [statement.target]
                    yield from (target.id for target in targets if isinstance(target, ast.Name))


@cache
def naming_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that hold an identifier."""
    return tuple(field for field in kind._fields if field in ("name", "id", "attr", "arg", "module", "asname"))


def _statements(node: ast.AST) -> list[ast.stmt]:
    body = getattr(node, "body", None)
    return body if isinstance(body, list) else []


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Line number and text of each comment, of a module in which one may have backticks."""
    if not QUOTED_AFTER_HASH.search(source):
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


FOLDERS = ("gpu_assistant", "resources", "benchmarks", "tests", "docs", "installers", ".ci")


class Repository:
    """What a name in backticks can mean."""

    def __init__(self) -> None:
        self.modules = {path: Module(path) for path in MODULES}
        self.names = {
            *(name for module in self.modules.values() for name in module.definitions()),
            *(part for path in MODULES for part in path.relative_to(ROOT).with_suffix("").parts),
            *dir(builtins),
            *keyword.kwlist,
            *FOREIGN,
            *AFFIXES,
        }
        self.files = {path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")}
        self.texts = {text for module in self.modules.values() for text in module.texts}

    def is_file(self, name: str) -> bool:
        """Whether a path ends like this in the repository, or the program writes a file of this name."""
        known = name in FOREIGN or name in self.texts or name in self.files
        return known or any(file.endswith(f"/{name}") for file in self.files)

    def unknown_names(self, path: Path) -> Iterator[str]:
        """Place and text of each name in backticks that means nothing."""
        known = self.names | set(self.modules[path].identifiers())
        for line, text in self.modules[path].prose:
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
