"""An install killed at random moments: `python benchmarks/install_kills.py [--kills N] [--seed N]`. Linux.

Each time from nothing: small packages by the real uv, NVIDIA's archives with small files, cuDNN among them and the
user's variables, all from a server on loopback. The install's whole process group gets SIGKILL at a random moment;
then its journal is checked against what is there, and the next run goes on to the end.

Targets, after every kill: no entry of the journal lies; the lock, what `pip check` says and every file's hash are those
of an install that was never killed; one removal takes everything back.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.ownership import MARKER_NAME, bears_own_marker
from gpu_assistant.install.files.inventory import FILE_MANIFEST, LOCK_FILE, MANIFEST_FILE, read_file_manifest
from gpu_assistant.install.host import Host
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.journal import log
from gpu_assistant.install.journal.recovery import active_effects, observe_state
from gpu_assistant.install.packages.uv import find_uv
from gpu_assistant.install.steps.kinds import STEP_KINDS
from tests.fakes.fault_server import fault_server
from tests.install import tiny_wheels
from tests.install.sandbox import RELEASE
from tests.install.steps.test_cudnn import CudaDevSandbox

ROOT = Path(__file__).resolve().parent.parent
CHILD = """
import sys
from pathlib import Path
from tests.install.steps.test_cudnn import CudaDevSandbox
sandbox = CudaDevSandbox(Path(sys.argv[1]), *sys.argv[2:])
print("begun", flush=True)
sandbox.install()
"""
BYTECODE = "__pycache__"
# uv's own note of when a wheel was written to the disk, which stands with its hash in RECORD.
UV_NOTE = "uv_cache.json"


class Trial:
    """One sandbox after the other in one folder, at the same addresses: what is equal must be equal byte for byte."""

    def __init__(self, root: Path, torch_index: str, base: str) -> None:
        self.root, self.index, self.base = root, torch_index, base

    def begin(self) -> CudaDevSandbox:
        """Nothing but what the user has."""
        shutil.rmtree(self.root, ignore_errors=True)
        sandbox = self.here()
        sandbox.system.variables.set("PATH", "first;;second;", expand=True)
        return sandbox

    def here(self) -> CudaDevSandbox:
        """The sandbox as it is."""
        return CudaDevSandbox(self.root, self.index, self.base)

    def start(self) -> subprocess.Popen[str]:
        """An install in a process group of its own, at its first line."""
        command = [sys.executable, "-X", "faulthandler", "-c", CHILD, str(self.root), self.index, self.base]
        child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert child.stdout is not None
        if child.stdout.readline() != "begun\n":
            raise SystemExit("the install did not begin")
        return child

    def install(self) -> float:
        """To the end; gives the seconds."""
        with self.start() as child:
            began = time.perf_counter()
            if code := child.wait():
                raise SystemExit(f"an install that was not killed failed: it ended with {code}")
            return time.perf_counter() - began

    def result(self) -> dict[str, str]:
        """Every file's hash, what `pip check` says, and the lock."""
        sandbox, result = self.here(), {}
        for folder in (sandbox.outside, sandbox.data.toolkits):
            for path in sorted(folder.rglob("*")):
                if path.is_symlink():
                    result[str(path)] = f"-> {path.readlink()}"
                elif path.is_file() and BYTECODE not in path.parts and path.name != UV_NOTE:
                    result[str(path)] = hashlib.sha256(same(path)).hexdigest()
        python = sandbox.environment / "bin" / "python"
        completed = subprocess.run(
            [find_uv(), "pip", "check", "--python", python], capture_output=True, text=True, check=False
        )
        result["pip check"] = re.sub(r" in [0-9.]+ *m?s", "", completed.stdout + completed.stderr)
        result["lock"] = (sandbox.environment / LOCK_FILE).read_text(encoding="utf-8")
        return result


def same(file: Path) -> bytes:
    """A file without what tells when it was made."""
    data = file.read_bytes()
    if file.name == MANIFEST_FILE:
        content = json.loads(data)
        del content["created"], content["bytes"]
        return json.dumps(content).encode()
    if file.name == MARKER_NAME:
        content = json.loads(data)
        return json.dumps({**content, "inode": bears_own_marker(file.parent)}).encode()
    if file.name == FILE_MANIFEST:
        return "\n".join(read_file_manifest(file.parent)).encode("utf-8", "surrogateescape")
    if file.name == "RECORD":
        return b"\n".join(line for line in data.splitlines() if UV_NOTE.encode() not in line)
    return data


def lies(sandbox: CudaDevSandbox) -> list[str]:
    """The effects that the journal calls done and that are not there."""
    host = Host(sandbox.system, sandbox.data)
    return [
        str(each.effect)
        for each in active_effects(sandbox.data)
        if each.is_confirmed and observe_state(each, host, STEP_KINDS) != "applied"
    ]


def main() -> None:
    """Kill, look, go on, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    moments = random.Random(arguments.seed)
    stopped: collections.Counter[str] = collections.Counter()
    wrong: list[str] = []
    with fault_server() as server, tempfile.TemporaryDirectory() as temporary:
        index = tiny_wheels.index(
            server, "torch", [tiny_wheels.torch(f"{RELEASE}+cpu", ballast=bytes(range(256)) * 40_000)]
        )
        os.environ |= {
            "UV_DEFAULT_INDEX": tiny_wheels.index(
                server, "simple", [*tiny_wheels.others(), *tiny_wheels.build_tools()]
            ),
            "NO_PROXY": "127.0.0.1",
        }
        trial = Trial(Path(temporary) / "sandbox", index, server.url)
        sandbox = trial.begin()
        sandbox.redist.serve(server)
        before = sandbox.seen()
        trial.install()
        model = trial.result()
        taken = statistics.median((trial.begin(), trial.install())[1] for _ in range(3))
        killed = 0
        while killed < arguments.kills:
            sandbox = trial.begin()
            with trial.start() as child:
                time.sleep(moments.uniform(0, taken))
                if child.poll() is not None:
                    continue  # it was quicker than usual
                os.killpg(child.pid, signal.SIGKILL)
            killed += 1
            left = log.interrupted_install(sandbox.data)
            moment = (left.step or "before the first step") if left is not None else "no journal yet, or its end"
            stopped[moment] += 1
            wrong += [f"kill {killed}: the journal lies: {lie}" for lie in lies(sandbox)]
            trial.install()
            wrong += [f"kill {killed}: afterwards the journal lies: {lie}" for lie in lies(sandbox)]
            result = trial.result()
            wrong += [
                f"kill {killed}: {name}" for name in model.keys() | result.keys() if model.get(name) != result.get(name)
            ]
            try:
                UninstallJob(sandbox.environment, sandbox.data, sandbox.system).run(JobContext())
            except AppError as error:
                wrong.append(f"kill {killed}: {error.code}")
            if sandbox.seen() != before:
                wrong.append(f"kill {killed}: something stays after the removal")
            print(f"kill {killed}: {moment}; {len(wrong)} differences or lies so far", file=sys.stderr, flush=True)
    print(json.dumps(dict(stopped.most_common()), indent=1))
    print(f"{killed} kills within {taken:.1f} s of an install of {len(model)} files: {len(wrong)} differences or lies")
    for line in wrong[:20]:
        print(line)
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
