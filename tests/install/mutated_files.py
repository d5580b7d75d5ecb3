"""Journals, plans, catalogs and bundles that somebody changed at random, made from a seed: what they say has no effect
outside of the places that the program writes.

`check_file(seed, folder)` makes the file with this number and what belongs to it, uses it as the program does, and says
what is wrong: an exception that is none of ours, a file that changed, an address or a path that leads elsewhere.
`benchmarks/fuzz.py files` makes thousands, `tests/install/test_mutated_files.py` some.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import traceback
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from gpu_assistant.app import App
from gpu_assistant.catalog.store import REFRESHED_FILES, STAMP_NAME, CatalogStamp, load_catalog
from gpu_assistant.core import json as core_json
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.files import RemoteFile
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.ownership import claim_folder
from gpu_assistant.core.paths import DataDir, resources_dir
from gpu_assistant.core.plan import Plan
from gpu_assistant.fetch.request import DownloadRequest
from gpu_assistant.install.bundle.format import LIST_FILE, LOCK_FILE
from gpu_assistant.install.bundle.source import BundleSource
from gpu_assistant.install.files import inventory
from gpu_assistant.install.jobs.check_bundle import CheckBundleJob
from gpu_assistant.install.jobs.purge import PurgeJob
from gpu_assistant.install.journal.log import (
    FilesAdded,
    FileWritten,
    FolderCreated,
    FolderMoved,
    Journal,
    LoginCommandSet,
    PathEntryAdded,
    ProgramInstalled,
    TreeCreated,
    VariableSet,
)

from ..fakes.bundles import contents
from ..fakes.environment_variables import FileAtLogin, FileVariables
from ..fakes.system import FakeSystem

BUILT_IN = resources_dir() / "catalog"
MACHINE = Path(__file__).resolve().parents[1] / "machines" / "windows11-rtx4060-nodriver.json"
URLS = (
    *("https://evil.example/x.exe", "http://developer.download.nvidia.com/x", "file:///etc/passwd", "https://[", ""),
    "https://developer.download.nvidia.com@evil.example/x",
)
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1e308, 2**63, 2**70, "", " ", "\u202e", "\x00", "..", "a" * 5000, [], {}, [[]], "2099-01-01"),
    *("0" * 64, "~", "~/.bashrc", "../../thesis.txt", "..\\..\\thesis.txt", "C:\\Windows", "\\\\host\\share", "%PATH%"),
)
DEEP = "lists in lists"
EFFECT_TAGS = ("folder", "tree", "folder-moved", "files", "file", "variable", "path-entry", "login-command", "program")
STEP_KIND_NAMES = (
    *("python-packages", "conda-environment", "python-runtime", "cuda-toolkit", "cuda-installer", "cudnn", "variables"),
    *("integration", "at-login", "check-space", "verify", "purge", "test"),
)


def mutate(document: Any, chance: random.Random, texts: tuple[str, ...]) -> Any:
    """The document with one to four changes: other values, taken from `texts`, too; keys that go or move."""
    for _ in range(chance.randint(1, 4)):
        parents = list(_containers(document))
        if not parents:
            return deepcopy(chance.choice(VALUES))
        parent = chance.choice(parents)
        keys = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
        if not keys:
            continue
        key, action = chance.choice(keys), chance.randrange(10)
        if action == 0:
            del parent[key]
        elif action == 1 and isinstance(parent, list):
            parent.append(deepcopy(parent[key]))
        elif action == 2:
            parent[key] = DEEP
        else:
            # A copy: the next change may be one of what is in it.
            parent[key] = deepcopy(chance.choice((*VALUES, *URLS, *texts, *texts, *texts)))
    return document


def _containers(document: Any) -> list[Any]:
    found = [document] if isinstance(document, dict | list) else []
    for each in found:
        children = each.values() if isinstance(each, dict) else each
        found += [child for child in children if isinstance(child, dict | list)]
    return found


def damage(data: bytes, chance: random.Random) -> bytes:
    """Some bytes less, more or other ones."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(changed) or 1)
        changed[at : at + chance.randint(0, 20)] = chance.randbytes(chance.randint(0, 20))
    return bytes(changed)


def mutated_bytes(document: Any, chance: random.Random, texts: tuple[str, ...]) -> bytes:
    data = encode(mutate(document, chance, texts), chance)
    return damage(data, chance) if chance.random() < 0.2 else data


def encode(document: Any, chance: random.Random) -> bytes:
    depth = chance.randint(2, 3000)
    return json.dumps(document).replace(f'"{DEEP}"', "[" * depth + "]" * depth).encode()


def sha256_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def snapshot(folder: Path) -> dict[str, bytes | str | None]:
    """Everything in a folder: bytes, links' targets, folders."""
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else None
        if path.is_dir()
        else path.read_bytes()
        for path in folder.rglob("*")
    }


def furnish_home(folder: Path) -> Path:
    """What a user has."""
    for name in (".bashrc", "thesis.txt", "photos/one.jpg", ".env.partial/thesis.txt", "photos/env/lib/code.py"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("all of it", encoding="utf-8")
    inventory.write_file_manifest(folder / "photos")
    inventory.write_file_manifest(folder / "photos/env")
    (folder / "link").symlink_to(folder / "photos")
    return folder


# Journals: removed by what they say, with everything of the program.


def check_journal(chance: random.Random, folder: Path) -> str | None:
    home, own = furnish_home(folder / "home"), folder / "own"
    data = DataDir(own / "data")
    environment, toolkit = own / "env", data.toolkits / "cuda-13.2.2"
    for tree in (environment, toolkit):
        (tree / "lib").mkdir(parents=True)
        (tree / "lib" / "code.py").write_text("code", encoding="utf-8")
        inventory.write_file_manifest(tree)
    variables = FileVariables(home / "variables.json")
    variables.set("LD_PRELOAD", "/opt/own.so")
    variables.add_to_path(home / "tools")
    system = FakeSystem(variables=variables, login_command=FileAtLogin(home / "login.json"))
    system.login_command.set(("own", "command"))
    before = snapshot(home)
    with Journal(data, environment=str(environment)) as journal:
        for kind, effect in (
            ("check-space", FolderCreated(path=str(own))),
            ("python-packages", TreeCreated(path=str(environment))),
            ("cuda-toolkit", TreeCreated(path=str(toolkit))),
            ("cudnn", FilesAdded(path=str(toolkit), receipt="gpu-assistant-cudnn.json")),
            ("variables", VariableSet(name="LD_PRELOAD", value="/opt/own.so", previous="/opt/evil.so")),
            ("variables", PathEntryAdded(folder=str(toolkit / "bin"))),
            ("integration", FileWritten(path=str(environment / "kernel.json"), sha256="0" * 64, previous=b"x")),
            # Refused as it is; what makes the home folder the environment must not change that.
            ("integration", FileWritten(path=str(home / ".bashrc"), sha256=sha256_of(home / ".bashrc"), previous=b"x")),
            ("check-space", FolderMoved(path=str(environment), to=str(own / "env-kept"))),
            ("at-login", LoginCommandSet(command=("ours",))),
            ("nvidia-driver", ProgramInstalled(name="NVIDIA driver", version="1.0")),
        ):
            with journal.effect(kind, effect):
                pass
    places = tuple(str(home / name) for name in (".", ".bashrc", "photos", "photos/env", "link", "env", "tools"))
    hashes = tuple(sha256_of(each) for each in (home / ".bashrc", home / "thesis.txt"))
    texts = (*places, *hashes, *EFFECT_TAGS, *STEP_KIND_NAMES, "LD_PRELOAD", "/opt/own.so", "own", "command")
    lines = [json.loads(line) for line in journal.path.read_bytes().splitlines()]
    chance.shuffle(lines) if chance.random() < 0.1 else None
    lines = [mutate(line, chance, texts) if chance.random() < 0.5 else line for line in lines]
    data_bytes = b"".join(encode(line, chance) + b"\n" for line in lines)
    journal.path.write_bytes(damage(data_bytes, chance) if chance.random() < 0.1 else data_bytes)
    _call(lambda: PurgeJob(data, system, keep_environments=False).run(JobContext()))
    return _difference(before, snapshot(home))


def _difference(before: dict[str, Any], after: dict[str, Any]) -> str | None:
    names = sorted(name for name in {*before, *after} if before.get(name, 0) != after.get(name, 0))
    return f"changed: {', '.join(names)}" if names else None


def _call(use: Callable[[], object]) -> bool:
    """Whether it was done; False where it was refused as the program refuses something."""
    try:
        use()
    except AppError as error:
        if error.code == "internal":
            raise
        return False
    return True


# Plans: shown, and carried out in a dry run.


@lru_cache(maxsize=1)
def _plan_of_this_program() -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        app = App(data_dir=folder, machine_file=str(MACHINE))
        machine = app.setup.detect().run(JobContext())
        plan = app.setup.plan(machine, app.setup.recommend(machine, goal="all"), Path("/home/me/env"))
        return msgspec.json.encode(plan)


def check_plan(chance: random.Random, folder: Path) -> str | None:
    home = furnish_home(folder / "home")
    before = snapshot(home)
    document = json.loads(_plan_of_this_program())
    texts = (*(str(home / name) for name in ("photos", "link", ".bashrc")), "shell", "/etc", "/", "data")
    path = folder / "plan.json"
    path.write_bytes(mutated_bytes(document, chance, texts))
    app = App(data_dir=str(folder / "data"), machine_file=str(MACHINE))
    known = {*_addresses(json.loads(_plan_of_this_program()))}

    def carry_out() -> None:
        given = app.setup.read_plan(path)
        plan = app.setup.replan(given, given.machine or app.setup.detect().run(JobContext()))
        check_own(plan)
        app.setup.install(plan, dry_run=True).run(JobContext())

    def check_own(plan: Plan) -> None:
        # The machine of the file may be another one, but what is installed comes from our own catalog.
        parts = core_json.encode((plan.steps, plan.recommendation.pytorch))
        foreign = {url for url in _addresses(json.loads(parts)) if "evil" in url} - known
        assert not foreign, foreign

    def go_on() -> None:
        """The same plan as that of a stopped install."""
        with suppress(msgspec.DecodeError, UnicodeError):
            given = core_json.decode(path.read_bytes(), Plan)
            with Journal(app.data, plan=given):
                pass
            if (found := app.setup.interrupted_install()) is not None:
                check_own(found.plan)

    _call(carry_out)
    _call(go_on)
    return _difference(before, snapshot(home))


def _addresses(document: Any) -> list[str]:
    values = [value for each in _containers(document) for value in (each.values() if isinstance(each, dict) else each)]
    return [value for value in values if isinstance(value, str) and "://" in value]


# Catalogs: a refreshed file that is used names no host of its own.


@lru_cache(maxsize=8)
def _built_in(name: str) -> bytes:
    return (BUILT_IN / name).read_bytes()


def check_catalog(chance: random.Random, folder: Path) -> str | None:
    refreshed = folder / "catalog"
    claim_folder(refreshed)
    name = chance.choice(sorted(REFRESHED_FILES))
    document = json.loads(_built_in(name))
    hosts = {_host(url) for url in _addresses(document)}
    (refreshed / name).write_bytes(mutated_bytes(document, chance, ("2026-11-23", "2020-01-01", *URLS)))
    stamp = CatalogStamp(schema="gpu-assistant/catalog/1", day=document["as_of"])
    (refreshed / STAMP_NAME).write_bytes(msgspec.json.encode(stamp))
    before = snapshot(folder)
    catalog = load_catalog(BUILT_IN, refreshed)
    used = getattr(catalog, name.removesuffix(".json"))
    foreign = sorted({_host(url) for url in _addresses(json.loads(core_json.encode(used)))} - hosts)
    # Explanations may name who said so; what is downloaded may not.
    if any("evil" in host for host in foreign):
        return f"{name} names {', '.join(foreign)}"
    return _difference(before, snapshot(folder))


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


# Bundles: a file that is used lies in the folder, and has a hash.


def check_bundle(chance: random.Random, folder: Path) -> str | None:
    home, stick = furnish_home(folder / "home"), folder / "stick"
    listed = contents()
    for file in listed.files:
        path = stick / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * min(file.bytes, 100))
    if chance.random() < 0.2:
        (stick / "wheels" / "link.whl").symlink_to(home / "thesis.txt")
    texts = ("wheels/link.whl", "wheels/../../home/thesis.txt", str(home / "thesis.txt"), LOCK_FILE.upper(), LOCK_FILE)
    (stick / LIST_FILE).write_bytes(mutated_bytes(json.loads(msgspec.json.encode(listed)), chance, texts))
    before = snapshot(folder)
    _call(lambda: CheckBundleJob(stick).run(JobContext()))
    try:
        source = BundleSource(stick)
    except AppError:
        return _difference(before, snapshot(folder))
    for each in source.contents.files:
        file = RemoteFile(urls=(each.url or "https://files.example/x.whl",), name="x.whl", sha256=each.sha256)
        try:
            found = source.local_request(DownloadRequest(file=file, path=folder / "x.whl")).file
        except AppError:
            continue
        place = Path(found.url.removeprefix("file://"))
        if stick not in Path(os.path.normpath(place)).parents or not found.sha256:
            return f"leads to {place}"
    return _difference(before, snapshot(folder))


CHECKS = {"journal": check_journal, "plan": check_plan, "catalog": check_catalog, "bundle": check_bundle}


def check_file(seed: int, folder: Path) -> str | None:
    """What is wrong with how file number `seed` was used; None if nothing is."""
    kind = tuple(CHECKS)[seed % len(CHECKS)]
    try:
        problem = CHECKS[kind](random.Random(seed), folder)
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        where = traceback.extract_tb(error.__traceback__)[-1]
        problem = f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}: {error}"[:300]
    return None if problem is None else f"{kind} {seed}: {problem}"
