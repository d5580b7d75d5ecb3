"""Bad calls of the program, made from a seed: words, files, environments and streams that nobody meant.

`check_call(seed, folder)` makes the call with this number in this process and says what is wrong with the answer: an
unexpected exception, a traceback, an exit code outside the contract, no word about a refusal, or, with --json,
something that is no JSON. `benchmarks/fuzz.py calls` makes thousands, `test_bad_calls.py` some.
"""

from __future__ import annotations

import io
import json
import logging
import os
import random
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from gpu_assistant.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
MACHINES = sorted((ROOT / "tests/machines").glob("*.json"))
EXIT_CODES = range(7)
WORDS = (
    *("", " ", "-", "--", "-x", "--json", "--bogus", "\n", "💥", "%s{x}", "a" * 300, "a" * 5000, "é" * 100, "null"),
    *("nan", "inf", "-1", "0", "1e309", "9" * 400, "٣", "0x10", "1.2.3.4.5", "true", "cpu:0", "cuda:99999"),
    *("~nosuchuser/x", "/dev/null", "/dev/full", "/proc/self/nowhere", "nowhere/x", "machine.json", "."),
    *("http://", "https://[", "http://127.0.0.1:1/x", "file:///nowhere", "ftp://x/y", "http://127.0.0.1:99999/"),
    *((os.fsdecode(b"\xff\xfe"), "a\ud800b") if sys.platform == "linux" else ()),
)
VALUE_OPTIONS = (
    *("--goal", "--channel", "--pytorch", "--variant", "--python", "--toolkit", "--environment", "--env", "--device"),
    *("--level", "--minutes", "--csv", "--history", "--serve-metrics", "--metrics-address", "--sha256", "-o"),
    *(
        "--connections",
        "--limit-rate",
        "--mirrors",
        "--bundle",
        "--plan",
        "--expect",
        "--public-key",
        "--sign",
        "--wheelhouse",
        "--report",
        "--lang",
        "--editor",
        "--lock",
        "--judge",
        "--way",
        "--wsl2",
        "--output",
        "--machine",
        "--interval",
        "--count",
        "--data-dir",
    ),
)
FLAGS = (
    "--json",
    "--quiet",
    "--verbose",
    "--dry-run",
    "--quick",
    "--full",
    "--resume",
    "--all",
    "--keep-environments",
    "--driver",
    "--menu",
    "--kernel",
    "--remove-added",
    "--files",
    "--offline",
    "--yes",
    "--why",
    "--processes",
)
ENDING_FLAGS = ("--help", "--version")
# A value that is taken, so that the next option has its turn.
GOOD_VALUES = {
    "--goal": ("all", "tensorflow", "cuda-dev"),
    "--channel": ("game-ready", "studio"),
    "--pytorch": ("2.6.0", "99.0"),
    "--variant": ("cpu", "cu128"),
    "--python": ("3.12", "2.7"),
    "--toolkit": ("archives", "installer"),
    "--environment": ("venv", "conda"),
    "--device": ("cpu", "cuda:0"),
    "--level": ("1", "3"),
    "--minutes": ("1",),
    "--history": ("1h",),
    "--serve-metrics": ("0",),
    "--metrics-address": ("127.0.0.1", "::1", "nowhere.invalid"),
    "--sha256": ("0" * 64,),
    "--expect": ("0" * 64,),
    "--connections": ("4",),
    "--limit-rate": ("5M",),
    "--mirrors": ("never", "first"),
    "--lang": ("en", "zh_CN"),
    "--way": ("newest",),
    "--wsl2": ("install",),
    "--interval": ("0.001",),
    "--count": ("1",),
}
NAMES = ("env", "bundle", "machine.json", "plan.json", "data", "new.json", "data/settings.json")
# They ask the network.
LEFT_OUT = ("--online", "--against-index", "--add", "--jupyter")
# What is typed of each command, so that none installs, removes, waits or asks the network whatever is added before it.
SAFE_ENDS: dict[str, tuple[str, ...]] = {
    "recommend": (),
    "plan": (),
    "install": ("--dry-run",),
    "uninstall": ("--dry-run",),
    "use": (),
    "verify": (),
    "bench": (),
    "health": (),
    "download": (),
    "bundle check": (),
    "monitor": ("--count", "1", "--interval", "0.001"),
    "catalog show": (),
    "catalog check": (),
}
ENVIRONMENT = {
    "HOME": ("nowhere", "~", "/dev/null"),
    "LANG": ("xx_YY.utf-8", "C", "zh_CN.GBK", "💥"),
    "GPU_ASSISTANT_WHEELHOUSE": ("nowhere", "~nosuchuser", "/dev/null"),
    "HTTPS_PROXY": ("http://[", "socks9://x", "💥"),
    "COLUMNS": ("x", "0", "-5", "9" * 30),
    "NO_COLOR": ("1",),
}
DATA_FOLDERS = ("machine.json", "~nosuchuser/x", "/dev/null", "a" * 300, "nowhere/data", "💥")


@cache
def options_of(command: str) -> tuple[str, ...]:
    """The options that a command's help names."""
    buffer, stdout = io.BytesIO(), sys.stdout
    sys.stdout = io.TextIOWrapper(buffer, encoding="utf-8")
    try:
        run(["--lang", "en", command.split(maxsplit=1)[0], "--help"])
    except SystemExit:
        sys.stdout.flush()
    finally:
        text, sys.stdout = buffer.getvalue().decode(), stdout
    return tuple(sorted({*re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", text.partition("\n\n")[0])}))


def make_call(rng: random.Random) -> list[str]:
    """The words that are typed, without the data folder."""
    if rng.random() < 0.05:
        return [rng.choice([word for word in WORDS if word.strip() and word[0] != "-"]), *rng.choices(WORDS, k=2)]
    command = rng.choice(list(SAFE_ENDS))
    words = command.split()
    if command in ("bundle check", "catalog check", "catalog show", "download"):
        words.append(rng.choice(["bundle", *WORDS]))
    own = options_of(command)
    flags, value_options = ([each for each in kind if each in own] for kind in (FLAGS, VALUE_OPTIONS))
    for _ in range(rng.randrange(4)):
        # Mostly what the command knows, so that more than the parser is asked.
        words.append(rng.choice(flags if rng.random() < 0.8 else FLAGS))
        if rng.random() < 0.5:
            option = rng.choice(value_options if rng.random() < 0.8 else VALUE_OPTIONS)
            words += [option, rng.choice(WORDS if rng.random() < 0.3 else GOOD_VALUES.get(option, NAMES))]
    if rng.random() < 0.5:
        words.append("--json")
    if rng.random() < 0.02:
        words.append(rng.choice(ENDING_FLAGS))
    if command in ("recommend", "plan", "install"):
        words += (
            ["--plan", "plan.json"] if command == "install" and rng.random() < 0.3 else ["--machine", "machine.json"]
        )
    return words + list(SAFE_ENDS[command])


def damage(data: bytes, rng: random.Random) -> bytes:
    """Other bytes in place of a file's: cut, flipped, with a value of another kind, or nothing of it."""
    kind = rng.randrange(8)
    if kind == 0:
        return data
    if kind == 1:
        return data[: rng.randrange(len(data) + 1)]
    if kind == 2:
        damaged = bytearray(data)
        for _ in range(rng.randrange(1, 8)):
            if damaged:
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        return bytes(damaged)
    if kind == 3:
        return rng.choice(
            [b"", b"{}", b"[]", b"null", b"\x00" * 100, b"[" * 50_000, b'{"schema": 1}', rng.randbytes(500)]
        )
    if kind == 4:
        return data.decode(errors="replace").encode("utf-16")
    try:
        document = json.loads(data)
    except ValueError:
        return data
    for _ in range(rng.randrange(1, 4)):
        _damage_value(document, rng)
    return json.dumps(document).encode()


def _damage_value(document: Any, rng: random.Random) -> None:
    while isinstance(document, dict | list) and document:
        key = rng.choice(list(document) if isinstance(document, dict) else range(len(document)))
        child = document[key]
        if not isinstance(child, dict | list) or not child or rng.random() < 0.3:
            document[key] = rng.choice(
                [None, -1, 2**70, 1e300, "", "💥", "\x1b[31m", "a" * 10_000, [], {}, [[]], True, child]
            )
            return
        document = child


def write_files(folder: Path, rng: random.Random) -> None:
    """A machine, a plan, a bundle, and what lies in the data folder, each perhaps damaged."""
    machine = damage(rng.choice(MACHINES).read_bytes(), rng)
    (folder / "machine.json").write_bytes(machine)
    plan = b'{"schema":"gpu-assistant/plan/1","goal":"pytorch","env":"/e","recommendation":{},"steps":[]}'
    (folder / "plan.json").write_bytes(damage(plan, rng))
    (folder / "bundle").mkdir()
    (folder / "bundle/bundle.json").write_bytes(damage(b'{"schema":"gpu-assistant/bundle/1","files":[]}', rng))
    data = folder / "data"
    for name, content in {
        "settings.json": b'{"theme":"dark","environment":"/e","setup_done":true}',
        "journal/1.jsonl": b'{"type":"run","schema":"gpu-assistant/journal/1"}\n',
        "benchmarks/1.json": b'{"schema":"gpu-assistant/benchmark/1","devices":[],"results":[]}',
        "history/1s-000000000001.history": b'{"schema":"x"}\n' + bytes(64),
        "catalog/current/pytorch.json": b'{"subject":"x","as_of":"2026-01-01"}',
    }.items():
        if rng.random() < 0.3:
            (data / name).parent.mkdir(parents=True, exist_ok=True)
            (data / name).write_bytes(damage(content, rng))


class _Streams:
    """stdout and stderr of one call; either may be closed or full."""

    def __init__(self, rng: random.Random) -> None:
        encoding = rng.choice(["utf-8", "utf-8", "ascii", "cp1252", "gbk"])
        self.out, self.err = io.BytesIO(), io.BytesIO()
        kinds = ("closed", "full") if Path("/dev/full").exists() else ("closed",)
        self.out_kind, self.err_kind = (rng.choice(kinds) if rng.random() < 0.1 else "kept" for _ in range(2))
        self.stdout = self._open(self.out_kind, self.out, encoding)
        self.stderr = self._open(self.err_kind, self.err, encoding)

    def _open(self, kind: str, buffer: io.BytesIO, encoding: str) -> io.TextIOWrapper | None:
        if kind == "closed":
            return None
        raw = buffer if kind == "kept" else Path("/dev/full").open("wb")  # noqa: SIM115 - closed with the wrapper
        return io.TextIOWrapper(raw, encoding=encoding, line_buffering=True)

    def close(self) -> None:
        """Close what was opened; what a full one still holds is lost."""
        for stream in (self.stdout, self.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


@contextmanager
def _surroundings(folder: Path, streams: _Streams, rng: random.Random) -> Iterator[None]:
    environ, cwd, handlers = os.environ.copy(), Path.cwd(), list(logging.root.handlers)
    before = (sys.stdout, sys.stderr, logging.raiseExceptions)
    for name in [each for each in os.environ if each.startswith(("GPU_ASSISTANT", "UV_"))]:
        del os.environ[name]
    # No publisher is asked what it has.
    os.environ |= {"HOME": str(folder), "XDG_DATA_HOME": str(folder / "xdg"), "UV_OFFLINE": "1"}
    for name, values in ENVIRONMENT.items():
        if rng.random() < 0.1:
            os.environ[name] = rng.choice(values)
    os.chdir(folder)
    sys.stdout, sys.stderr = streams.stdout, streams.stderr
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(environ)
        os.chdir(cwd)
        sys.stdout, sys.stderr, logging.raiseExceptions = before
        for handler in [each for each in logging.root.handlers if each not in handlers]:
            logging.root.removeHandler(handler)
            handler.close()


def check_call(seed: int, folder: Path) -> str | None:
    """Make one call in an empty folder; what is wrong with its answer, with the call, or None."""
    rng = random.Random(seed)
    write_files(folder, rng)
    arguments = make_call(rng)
    data_folder = rng.choice(DATA_FOLDERS) if rng.random() < 0.1 else str(folder / "data")
    arguments = ["--data-dir", data_folder, *arguments]
    streams = _Streams(rng)
    with _surroundings(folder, streams, rng):
        try:
            code: object = run(arguments)
        except SystemExit as end:  # --help, --version
            code = end.code
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is what we look for
            return f"{seed}: {arguments}: {type(error).__name__}: {error}"
    problem = find_problem(code, arguments, streams)
    streams.close()
    return None if problem is None else f"{seed}: {arguments}: {problem}"


def find_problem(code: object, arguments: list[str], streams: _Streams) -> str | None:
    """What breaks the contract."""
    out, err = streams.out.getvalue(), streams.err.getvalue().decode(errors="replace")
    if code not in EXIT_CODES:
        return f"exit code {code}"
    if "\x1b" in out.decode(errors="replace") + err:
        return "a control character of a file reaches the terminal"
    if "Traceback" in err or "Something went wrong inside" in err or "GPU 助手内部" in err:
        return err[-600:]
    # A check that finds something is a result.
    if code and streams.err_kind == "kept" and not err.strip() and not out:
        return f"exit code {code} without a word"
    if (
        not code
        and streams.out_kind != "kept"
        and (out or streams.out_kind == "full")
        and not err
        and "--quiet" not in arguments
    ):
        return "nothing came out, and nobody was told"
    words = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if "--json" in words and streams.out_kind == "kept" and not {"--help", "--version"} & {*arguments}:
        return _json_problem(code, out)
    return None


def _json_problem(code: object, out: bytes) -> str | None:
    try:
        objects = [json.loads(line) for line in out.decode().splitlines()]
    except ValueError:
        return f"no JSON: {out[:300]!r}"
    if code and not objects:
        return f"exit code {code} without an object"
    return None if all(isinstance(each, dict) for each in objects) else "JSON that is no object"
