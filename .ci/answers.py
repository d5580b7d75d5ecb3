"""Records or compares the JSON answers of `detect`, `recommend` and `plan` for every machine file and goal.

.ci/answers.py record FILE     write the sha256 of every answer
.ci/answers.py compare FILE    exit with 1 and name each answer that is another one now
--full FOLDER                  also write each answer into FOLDER, for a diff
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
GOALS = ("pytorch", "tensorflow", "cuda-dev", "all")


def answers(data: Path) -> dict[str, str]:
    """Call -> what it printed (the error where it printed nothing), with this computer's paths replaced."""
    from gpu_assistant.cli.main import run

    out: dict[str, str] = {}
    calls = []
    # Those of `independent` are judged by tests/advise/test_independent_machines.py.
    for machine in sorted(
        set((ROOT / "tests/machines").rglob("*.json")) - set((ROOT / "tests/machines/independent").iterdir())
    ):
        name = machine.relative_to(ROOT / "tests/machines").as_posix()
        if '"gpu-assistant/machine/1"' not in machine.read_text(encoding="utf-8"):
            continue
        calls.append((f"detect {name}", ["detect", "--machine", str(machine)]))
        for goal in GOALS:
            for command in ("recommend", "plan"):
                for language in ("en", "zh_CN"):
                    call = [command, "--machine", str(machine), "--goal", goal, "--lang", language]
                    calls.append((f"{command} {name} {goal} {language}", call))
    for name, call in calls:
        stdout, stderr = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            code = run([*call, "--json", "--data-dir", str(data)])
        stdout.flush()
        # A machine that gets nothing is told why.
        printed = f"{code}\n{(stdout if code != 1 else stderr).buffer.getvalue().decode()}"
        replaced = {str(data): "<data>", sys.prefix: "<prefix>", str(ROOT): "<root>", str(Path.home()): "<home>"}
        for path, word in replaced.items():
            printed = printed.replace(path, word)
        out[name] = printed
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--full", type=Path)
    options = parser.parse_args()
    os.environ.pop("GPU_ASSISTANT_WHEELHOUSE", None)
    os.environ["UV_OFFLINE"] = "1"  # the answers are the program's own, not those of today's indexes
    with tempfile.TemporaryDirectory() as data:
        now = answers(Path(data))
    if options.full:
        options.full.mkdir(parents=True, exist_ok=True)
        for name, printed in now.items():
            (options.full / name.replace("/", "_").replace(" ", "_")).write_text(printed, encoding="utf-8")
    hashes = {name: hashlib.sha256(printed.encode()).hexdigest() for name, printed in now.items()}
    if options.action == "record":
        options.file.write_text(json.dumps(hashes, indent=1) + "\n", encoding="utf-8")
        return 0
    before = json.loads(options.file.read_text(encoding="utf-8"))
    other = [name for name in {**before, **hashes} if before.get(name) != hashes.get(name)]
    print(f"{len(hashes)} answers, {len(other)} differ", *other, sep="\n  ")
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
