"""The rooms import only what docs/architecture.md allows, and that page says what is true."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "gpu_assistant"
FILES = sorted(PACKAGE.rglob("*.py"))
CHILDREN = {
    path.relative_to(PACKAGE).as_posix()
    for pattern in ("bench/child/*.py", "examples/child/*.py", "health/child/*.py", "verify/child*.py")
    for path in PACKAGE.glob(pattern)
}


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


class Source(NamedTuple):
    """What the rules ask of a file."""

    imports: list[tuple[str, bool]]  # each absolute module name, and whether only the type checker sees it
    attributes: set[str]  # each `name.attribute`
    classes: list[str]
    impatient: list[int]  # the lines that rename or delete a file without `core/filesystem.py`


def modules_by_string(nodes: Sequence[ast.AST], package: list[str]) -> list[str]:
    """The modules that a file with `import_module` names as strings: `"gpu_assistant.gui.app"` or `".pages.done"`."""
    if "import_module" not in {getattr(node, "attr", getattr(node, "id", None)) for node in nodes}:
        return []
    names = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    resolved = (".".join(package) + name if re.fullmatch(r"(\.\w+)+", name) else name for name in names)
    return [name for name in resolved if name.startswith("gpu_assistant.")]


@cache
def source(path: Path) -> Source:
    """A file, read once for all rules."""
    package = ["gpu_assistant", *path.relative_to(PACKAGE).parent.parts]
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    impatient = [] if name_of(path) in RENAMERS else impatient_calls(nodes)
    result = Source(
        [(module, False) for module in modules_by_string(nodes, package)], set(), classes_of(nodes), impatient
    )
    quiet: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            quiet |= {id(inner) for inner in ast.walk(node)}
        elif isinstance(node, ast.Import):
            result.imports.extend((alias.name, id(node) in quiet) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            # `from .. import texts` names a room only in its aliases
            result.imports.extend((f"{module}.{alias.name}", id(node) in quiet) for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            result.attributes.add(f"{node.value.id}.{node.attr}")
    return result


@cache
def allowed() -> dict[str, set[str]]:
    """The table of docs/architecture.md: room -> rooms that it may import."""
    table: dict[str, set[str]] = {}
    for line in (ROOT / "docs/architecture.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        rooms = re.findall(r"`(\w+)/`", cells[0]) if line.startswith("|") else []
        for room in rooms:
            table[room] = set(re.findall(r"\w+", cells[2])) if cells[2] != "nothing of ours" else set()
    return table


def room_of(module: str) -> str | None:
    parts = module.split(".")
    if parts[0] != "gpu_assistant" or len(parts) < 2:
        return None
    return parts[1]


def offenders(broken: Callable[[Path], Collection[str]]) -> dict[str, Collection[str]]:
    """Every file that breaks a rule, with what breaks it."""
    return {name_of(path): faults for path in FILES if (faults := broken(path))}


def test_every_package_is_documented() -> None:
    on_disk = {
        path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name not in ("__pycache__", "resources")
    }
    assert on_disk == set(allowed())


def layers_broken(path: Path) -> list[str]:
    room = path.relative_to(PACKAGE).parts[0]
    if room in ("app", "cli", "gui") or path.parent == PACKAGE:
        return []
    rooms = allowed()[room] | {room}
    return [
        module
        for module, _ in source(path).imports
        if (other := room_of(module)) is not None and other not in rooms and (PACKAGE / other).exists()
    ]


def test_imports_respect_layers() -> None:
    assert offenders(layers_broken) == {}


def test_nothing_of_ours_imports_what_runs_in_an_environments_own_python() -> None:
    """The packages ship it as source, and not among the modules of the program."""
    parts = json.loads((ROOT / "installers" / "parts.json").read_text(encoding="utf-8"))
    own_names = [each["name"] for each in parts["excluded"] if each["name"].startswith("gpu_assistant.")]
    patterns = [name for name in own_names if not name.startswith("gpu_assistant.system.")]  # of one system's package

    def is_excluded(module: str) -> bool:
        names = module.split(".")
        return any(fnmatchcase(".".join(names[:end]), each) for end in range(3, len(names) + 1) for each in patterns)

    def excluded_imports(path: Path) -> list[str]:
        own = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        return [] if is_excluded(own) else [module for module, _ in source(path).imports if is_excluded(module)]

    assert offenders(excluded_imports) == {}


def faces_used(path: Path) -> set[str]:
    room = path.relative_to(PACKAGE).parts[0]
    used = {other for module, _ in source(path).imports if (other := room_of(module)) in ("cli", "gui")}
    if room in ("cli", "gui"):
        # The command line opens the window at one place; the window knows nothing of the command line.
        used -= {"gui"} if room == "gui" or name_of(path) == "cli/main.py" else set()
        used -= {"cli"} if room == "cli" else set()
    if name_of(path) == "__main__.py":
        used -= {"cli"}
    return used


def test_cli_and_gui_are_not_imported() -> None:
    assert offenders(faces_used) == {}


def jobs_past_app(path: Path) -> list[str]:
    """The jobs that a face imports for more than their type: `app/` builds those of the rooms."""
    if path.relative_to(PACKAGE).parts[0] not in ("cli", "gui"):
        return []
    return [
        module
        for module, quiet in source(path).imports
        if module.endswith("Job") and not quiet and room_of(module) not in ("app", "cli", "core", "gui")
    ]


def test_faces_get_jobs_from_app() -> None:
    assert offenders(jobs_past_app) == {}


FENCES = {
    "PySide6": lambda name: name.startswith("gui/"),
    "shiboken6": lambda name: name.startswith("gui/"),
    "pyqtgraph": lambda name: name.startswith("gui/monitor/plot/"),
    "pynvml": lambda name: name == "system/nvml/library.py",
    "torch": lambda name: name in CHILDREN,
    "tensorflow": lambda name: name == "verify/child_tensorflow.py",
}


def test_forbidden_imports() -> None:
    def fences_broken(path: Path) -> list[str]:
        tops = {module.split(".")[0] for module, _ in source(path).imports}
        return [top for top, may in FENCES.items() if top in tops and not may(name_of(path))]

    assert offenders(fences_broken) == {}


# Two threads that meet a type for the first time through msgspec itself crash: see core/json.py.
TYPED = re.compile(r"msgspec\.(convert|json\.Decoder|json\.decode\([^\n]*\btype=)")


def test_json_is_decoded_in_one_module() -> None:
    def decodes(path: Path) -> list[str]:
        return [match[0] for match in TYPED.finditer(path.read_text(encoding="utf-8"))]

    assert set(offenders(decodes)) == {"core/json.py"}


SYSTEM_ASKED = {"sys.platform", "os.name", "platform.system", "sys.getwindowsversion"}
ONE_SYSTEMS_OWN = {"winreg", "fcntl", "msvcrt", "pwd", "grp"}


# Lock files are open because they are in use: nobody waits for them. The others run without the package.
RENAMERS = {"core/filesystem.py", "system/locks.py", *CHILDREN}


REMOVING_METHODS = frozenset({"unlink", "rmdir", "rename", "rmtree", "renames", "removedirs"})
CHANGING_METHODS = REMOVING_METHODS | {"replace", "remove", "move"}


def impatient_calls(nodes: Sequence[ast.AST]) -> list[int]:
    """The lines that rename or delete a file without `core/filesystem.py`."""
    lines: list[int] = []
    for node in nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        method = node.func.attr
        if method not in CHANGING_METHODS:
            continue
        receiver = ast.unparse(node.func.value)
        if receiver == "filesystem":
            continue
        replaces_file = method == "replace" and (receiver == "os" or (len(node.args) == 1 and not node.keywords))
        removes = method in REMOVING_METHODS
        if replaces_file or removes or f"{receiver}.{method}" in ("os.remove", "shutil.move"):
            lines.append(node.lineno)
    return lines


def test_files_are_renamed_and_deleted_with_patience() -> None:
    assert offenders(lambda path: source(path).impatient) == {}


def test_only_system_reads_the_platform() -> None:
    def asks(path: Path) -> set[str]:
        if name_of(path).startswith("system/") or name_of(path) in CHILDREN:
            return set()
        modules = {module.split(".")[0] for module, _ in source(path).imports}
        read = {each for each in source(path).attributes & SYSTEM_ASKED if each.split(".")[0] in modules}
        return read | (modules & ONE_SYSTEMS_OWN)

    assert offenders(asks) == {}


def test_child_programs_do_not_import_the_package() -> None:
    own = "gpu_assistant.bench.child."  # a program of several files, under whatever name it is started

    def package_imports(path: Path) -> list[str]:
        if name_of(path) not in CHILDREN:
            return []
        modules = [module for module, quiet in source(path).imports if module.startswith("gpu_assistant") and not quiet]
        return [each for each in modules if not (name_of(path).startswith("bench/child/") and each.startswith(own))]

    assert offenders(package_imports) == {}


def test_health_takes_only_the_driver_of_the_benchmark() -> None:
    def of_the_benchmark(path: Path) -> set[str]:
        if not name_of(path).startswith("health/"):
            return set()
        return {path.stem for path in imported_files(path) if name_of(path).startswith("bench/")}

    assert set().union(*offenders(of_the_benchmark).values()) == {"cuda_driver"}


HEAVY = ("PySide6", "pyqtgraph", "numpy", "torch", "requests", "psutil", "pynvml", "rich", "uv", "asyncio")


@pytest.mark.parametrize(
    ("arguments", "also"),
    [
        (["--help"], ()),
        (["--version"], ()),
        (["detect", "--json"], ("psutil", "pynvml")),
        (["recommend", "--json", "--machine", "tests/machines/windows11-rtx4060-566.json"], ()),
        (["plan", "--json", "--machine", "tests/machines/windows11-rtx4060-566.json"], ("uv",)),
        (["monitor", "--json", "--count", "1", "--interval", "0.01"], ("psutil", "pynvml")),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_commands_import_lazily(arguments: list[str], also: tuple[str, ...]) -> None:
    code = (
        "import sys\n"
        "from gpu_assistant.__main__ import main\n"
        f"sys.argv[1:] = {arguments!r}\n"
        "try: code = main()\n"
        "except SystemExit as end: code = end.code\n"
        "assert not code, code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=120, check=True
    )
    loaded = set(ast.literal_eval(done.stderr.splitlines()[-1]))
    assert loaded <= set(also)


def test_core_does_not_load_qt() -> None:
    apart = {*CHILDREN, "__main__.py"}  # torch's own
    one_system = ("system/linux", "system/windows")
    modules = [
        "gpu_assistant." + name_of(path).removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        for path in FILES
        if not name_of(path).startswith(("gui/", *one_system)) and name_of(path) not in apart and path.parent != PACKAGE
    ]
    code = (
        f"import sys, importlib; sys.modules['PySide6'] = None\nfor name in {modules!r}: importlib.import_module(name)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)


# Whole house: no circles, floors inside install/, names.


def imported_files(path: Path) -> set[Path]:
    """The package's files that a file imports, lazy imports and those of the type checker included."""
    files = set()
    for module, _ in source(path).imports:
        place = ROOT / module.replace(".", "/")
        for candidate in (
            place.with_suffix(".py"),
            place / "__init__.py",
            place.parent.with_suffix(".py"),
            place.parent / "__init__.py",
        ):
            if candidate in FILE_SET:
                files.add(candidate)
                break
    return files - {path}


FILE_SET = frozenset(FILES)


def circles(edges: dict[Path, set[Path]]) -> list[list[str]]:
    """Strongly connected components of more than one file (Tarjan's algorithm)."""
    index: dict[Path, int] = {}
    low: dict[Path, int] = {}
    stack: list[Path] = []
    components: list[list[str]] = []

    def connect(path: Path) -> None:
        index[path] = low[path] = len(index)
        stack.append(path)
        for other in edges[path]:
            if other not in index:
                connect(other)
            if other in stack:
                low[path] = min(low[path], low[other])
        if low[path] == index[path]:
            component = stack[stack.index(path) :]
            del stack[stack.index(path) :]
            if len(component) > 1:
                components.append(sorted(name_of(each) for each in component))

    for path in edges:
        if path not in index:
            connect(path)
    return components


def test_no_import_circle() -> None:
    assert circles({path: imported_files(path) for path in FILES}) == []


def test_a_circle_is_found() -> None:
    first, second, third = (PACKAGE / name for name in ("a.py", "b.py", "c.py"))
    assert circles({first: {second}, second: {third}, third: {first}}) == [["a.py", "b.py", "c.py"]]


def test_a_module_named_in_a_string_is_an_import() -> None:
    tree = ast.parse('from importlib import import_module\nimport_module(".pages.done", __package__)')
    assert modules_by_string([*ast.walk(tree)], ["gpu_assistant", "gui"]) == ["gpu_assistant.gui.pages.done"]


def floors_of(room: str) -> list[set[str]]:
    """The floors of a room from docs/architecture.md, lowest first: `gui/: theme, worker < language < …`."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    line = next(line for line in page.splitlines() if re.match(rf"{room}/: .* < ", line))
    return [set(floor.split(", ")) for floor in line.partition(": ")[2].split(" < ")]


def part_of(path: Path) -> str:
    """The module or package directly in a room that a file belongs to."""
    return path.relative_to(PACKAGE).parts[1].removesuffix(".py")


@pytest.mark.parametrize("room", ["install", "system", "gui"])
def test_rooms_import_only_lower_floors(room: str) -> None:
    levels = {part: level for level, floor in enumerate(floors_of(room)) for part in floor}
    files = [path for path in FILES if name_of(path).startswith(f"{room}/")]
    assert {part_of(path) for path in files} == {*levels, "__init__"}

    def higher(path: Path) -> list[str]:
        if path not in files or part_of(path) == "__init__":
            return []
        others = {part_of(each) for each in imported_files(path) if each in files} - {"__init__"}
        return [other for other in others if levels[other] > levels[part_of(path)]]

    assert offenders(higher) == {}


def classes_of(nodes: Sequence[ast.AST]) -> list[str]:
    """Every class, those below `if` and `try` and inside functions and classes included."""
    return [node.name for node in nodes if isinstance(node, ast.ClassDef)]


def public_classes() -> dict[str, list[str]]:
    """Public class name -> the files that define it."""
    places: dict[str, list[str]] = {}
    for path in FILES:
        for name in source(path).classes:
            if not name.startswith("_"):
                places.setdefault(name, []).append(name_of(path))
    return places


def test_no_public_class_name_twice() -> None:
    assert {name: places for name, places in public_classes().items() if len(places) > 1} == {}


# Words that say nothing in the field (past participles as nouns, moods, riddles): no part of a name is one.
RETIRED_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        told said kept found held asked retold farewell strangers stranger takeback lacking wish occupied outlook
        bygone foremost asker settler lane beside along reckon reckoning whole sound standing door shelf draft
        gathered leaving news words hurry minder hush judged afterwards road ground patient patience settled own
        owned strange mend mending extent round
        """,
    )
)

# Names that were replaced by the words of pip, uv, Qt, NVML and HTTP. Not here, since they are the right word for
# something else: done, facts, fetch, flow, kinds, notices, overlay, planner, resolve, segments, sources, steps, worker,
# variables.
RETIRED_NAMES = frozenset(
    re.findall(
        r"\w+",
        """
        now untrusted advised prices price_job priced_file pricing room counted paces target damaged lock listing
        mark sweeping soundness package_list removal making say replacing give_way built environments after ways
        effects undoing ledger settle intends happened undoes undid sight made half before changed added forecast
        farewell_job serve ask contents work getting place kind apart role stands_for find spared gather look
        refuse login reporter by_installer cuda_run check_space
        wanted board span part checker many pace speed hosts common answers trouble measure local
        nvml_ask nvml_seats seats nvml_rest rest nvml_figures nvml_session answered single alone own_folders places
        windows_told told_by_facts windows_rights_signature chain rights rights_door stretch tier known_cards
        recorder watch judging judge hushes past conditions figures
        pick cuda_pick team site floor cautions others unusable working fell subject refreshed reference fitting
        lines talk listen needed projection expected parent filled sentences measured missing refusal why
        after_install
        activity ahead turn wishes kept_picks offers rows findings proof pace_row trouble_box price_card
        step_block entries choosers picked tops inside more sign marks marker events canvas strokes clock controls
        every right_card fairness scores meanings moments along_card pair_row stack_row components live late shape
        picker bars area word silences tell ending instance hooks given mailbox
        theirs ours gone follow hold go on
        """,
    )
)


def snake_case(name: str) -> str:
    """`HealthMonitor` as `health_monitor`, `_Kept` as `kept`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower().strip("_")


def is_retired(name: str) -> bool:
    return snake_case(name) in RETIRED_NAMES or not RETIRED_WORDS.isdisjoint(snake_case(name).split("_"))


@pytest.mark.parametrize("name", ["kept", "_Kept", "KeptFile", "Reckoning", "seats", "MutedAsker"])
def test_a_retired_name_is_seen(name: str) -> None:
    assert is_retired(name)


def test_a_class_below_a_condition_is_seen() -> None:
    assert classes_of([*ast.walk(ast.parse("if True:\n    class _Kept: ..."))]) == ["_Kept"]


def test_names_are_words_of_the_field() -> None:
    parts = {part for path in FILES for part in path.relative_to(PACKAGE).with_suffix("").parts}
    classes = {name for path in FILES for name in source(path).classes}
    assert {name for name in parts | classes if is_retired(name)} == set()
