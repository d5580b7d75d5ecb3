"""From nothing to a measured PyTorch and back, killed on the way: the real program, the real PyTorch, publishers on
loopback, a driver's installer that wants a restart. On Linux and on Windows.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_assistant.core import json as files
from gpu_assistant.core import settings
from gpu_assistant.core.paths import DataDir
from gpu_assistant.install.host import Host
from gpu_assistant.install.journal import log as journal_log
from gpu_assistant.install.journal.log import ProgramInstalled
from gpu_assistant.install.journal.recovery import active_effects, observe_state
from gpu_assistant.install.packages.requirements import compatible_wheels
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.system.nvml import library as nvml_library

from ...fakes.fault_server import FaultServer, fault_server
from ...fakes.redist import SAYS, TOOLKIT
from ...fixtures.torch_env import given_wheelhouse
from ...nvml.scenario import Scenario, built
from .. import tiny_wheels
from ..end_to_end import sandbox
from ..end_to_end.process import Running
from ..end_to_end.program import CUT
from ..end_to_end.snapshot import difference, seen, users_own
from .test_real_torch import pip_keeps_pytorch

pytestmark = pytest.mark.real_install
WINDOWS = sys.platform == "win32"
RATE = 20 << 20
OWN = {"Path": r"%USERPROFILE%\bin;;C:\Program Files\Something;", "CUDA_PATH": r"%ProgramFiles%\old"}


class EndToEndRun:
    """The sandbox, the server, and the program's calls."""

    def __init__(
        self, root: Path, server: FaultServer, scenario: Scenario, torch: tiny_wheels.Wheel, version: str
    ) -> None:
        self.root, self.server, self.scenario, self.torch = root, server, scenario, torch
        self.data, self.env = root / "GPU 助手" / "data", root / "GPU 助手" / "env 一"
        self.config = sandbox.SandboxConfig(
            root=str(root), base=server.url, library=str(scenario.library), torch=version
        )
        self.file = root / "sandbox.json"
        self.file.write_bytes(files.encode(self.config))
        self.system = sandbox.SandboxSystem(self.config)
        self.runs: list[Running] = []

    def start(self, command: str, *arguments: str | Path, **environ: str) -> Running:
        running = Running(self.file, command, "--json", "--lang", "en", "--data-dir", self.data, *arguments, **environ)
        self.runs.append(running)
        return running

    def call(self, command: str, *arguments: str | Path, code: int = 0) -> Running:
        running = self.start(command, *arguments)
        assert running.end() == code, running.stderr
        return running

    def go_on(self, **environ: str) -> Running:
        return self.start("install", "--resume", "--yes", **environ)

    def stopped_at(self) -> str | None:
        """Where the journal says that the install stopped; that it was killed; that no line of it lies."""
        stopped = journal_log.interrupted_install(DataDir(self.data))
        assert stopped is not None
        assert stopped.state is None
        assert not self.env.exists()
        self.truths()
        return stopped.step

    def truths(self) -> None:
        """Each effect that the journal calls done is there; of a driver before the restart nobody can see it."""
        host = Host(self.system, DataDir(self.data))
        for each in active_effects(host.data):
            if each.is_confirmed and not isinstance(each.effect, ProgramInstalled):
                assert observe_state(each, host, STEP_KINDS) == "applied", each

    def installers(self) -> list[str]:
        """How the driver's installer was called, each time."""
        log = self.root / "installer"
        if not log.exists():
            return []
        text = log.read_bytes()
        lines = (text.decode("utf-16-le") if WINDOWS else text.decode()).splitlines()
        return [line for line in lines if WINDOWS or " -y " in line]


def serve(server: FaultServer, wheelhouse: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[tiny_wheels.Wheel, str]:
    """Both indexes as they are laid out, from a folder of wheels; gives PyTorch's wheel and its version.

    Where the folder has PyTorch alone, what it needs comes from the general index that this computer uses.
    """
    wheels = [wheel(path) for path in sorted(wheelhouse.glob("*.whl"))]
    result = next(one for one in compatible_wheels(wheelhouse, sandbox.SERIES) if one.project == "torch")
    torch = next(one for one in wheels if one.project == "torch")
    own = [one for one in wheels if result.variant is not None and one.project in ("torch", "torchvision")]
    if own:
        tiny_wheels.index(server, sandbox.TORCH_INDEX.strip("/"), own)
    general = tiny_wheels.index(server, "simple", [one for one in wheels if one not in own])
    server.files[tiny_wheels.file_path(sandbox.TORCH_INDEX.strip("/") if own else "simple", torch)].rate = RATE
    if any(one.project == "numpy" for one in wheels):
        monkeypatch.setenv("UV_DEFAULT_INDEX", general)
    return torch, result.version


def wheel(path: Path) -> tiny_wheels.Wheel:
    with zipfile.ZipFile(path) as archive:
        metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return tiny_wheels.Wheel(path.name, path.read_bytes(), archive.read(metadata))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EndToEndRun]:
    if WINDOWS and not {"WINEPREFIX", "WINELOADERNOEXEC"} & os.environ.keys():
        pytest.skip("changes the user's own variables and registry; runs in a Wine prefix only")
    library = built(tmp_path)
    if library is None:
        pytest.skip("nothing that answers in NVML's place")
    wheelhouse = given_wheelhouse()
    scenario = Scenario(tmp_path / "scenario", library)
    scenario.card(0)
    home = tmp_path / "home"
    settings = {**scenario.environ, "NO_PROXY": "127.0.0.1", "FAKE_INSTALLER_LOG": str(tmp_path / "installer")}
    if not WINDOWS:
        settings |= {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(nvml_library, "EXTRA_LIBRARY_PATHS", (library,))
    for name in ("nvidia-driver", "vc-redist"):
        monkeypatch.setitem(STEP_KINDS, name, STEP_KINDS[name])
    with fault_server() as server:
        torch, version = serve(server, wheelhouse, monkeypatch)
        run = EndToEndRun(tmp_path, server, scenario, torch, version)
        sandbox.redist(run.config).serve(server)
        server.add(sandbox.DRIVER_PATH, sandbox.SIGNED.read_bytes())
        furnish(run, home)
        with users_own(OWN):
            yield run
            for running in run.runs:
                running.kill()


def furnish(run: EndToEndRun, home: Path) -> None:
    """What Linux has of a session, of rights, and of the user's own settings."""
    run.config.private_folder.mkdir()
    if WINDOWS:
        return
    (run.root / "systemd" / "run" / "systemd" / "system").mkdir(parents=True)
    log = run.root / "installer"
    for path, text in (
        (run.config.apt_get, f'echo "$@" >>"{log}"'),
        (run.config.pkexec, 'shift; exec "$@"'),
    ):
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
    (home / ".config" / "environment.d").mkdir(parents=True)
    (home / ".config" / "environment.d" / "50-mine.conf").write_bytes(b"EDITOR=vi\r\n# no end of line")
    (home / ".profile").write_bytes(b'PATH="$HOME/bin:$PATH"\n')


def install_with_kills(run: EndToEndRun) -> None:
    """Killed at bad moments, each time begun again; ends before the restart."""
    command = ("--yes", "--env", run.env, "--goal", "cuda-dev", "--variant", "cpu")
    first = run.start("install", *command, "--pytorch", run.config.torch, "--python", sandbox.SERIES)
    plan = first.until(lambda event: event["event"] == "plan")
    steps = [step["id"] for step in plan["steps"]]
    assert [each for each in steps if each != "vc-redist"] == [
        *("space", "python", "resolve", "download", "pytorch"),
        *("cuda-toolkit", "cudnn", "driver", "verify", "variables"),
    ]
    size = len(run.torch.data)
    first.until(lambda event: event.get("id") == "download" and (event.get("done") or 0) > size // 4)
    first.kill()
    assert run.stopped_at() == "download"

    again = run.go_on()
    again.until_there("pyvenv.cfg", run.env.with_name(f".{run.env.name}.partial"))
    again.kill()
    assert run.stopped_at() == "pytorch"
    requested = {seen.path for seen in run.server.seen} & run.server.files.keys()
    fetched = sum(len(run.server.files[path].data) for path in requested)
    # What a killed process had not written yet lies in the sockets; a download begun anew would cost this at least.
    assert run.server.sent < fetched + size // 4

    if not WINDOWS:  # Wine takes a minute for each environment that is built again
        again = run.go_on()
        again.until_there("*.json", run.data / "toolkits" / f".cuda-{TOOLKIT}.partial" / ".gpu-assistant-parts")
        again.kill()
        assert run.stopped_at() == "cuda-toolkit"
        assert again.states["download"] == "done"

    again = run.go_on(**{CUT: "nvidia-driver"})
    assert again.end() == 9, again.stderr
    assert run.stopped_at() == "driver"
    assert len(run.installers()) == 1

    again = run.go_on()
    assert again.end() == 4, again.stderr
    assert again.events[-1]["state"] == "reboot-needed"
    assert len(run.installers()) == 2
    assert not run.env.exists()


def restart(run: EndToEndRun) -> Running:
    """The new driver answers, and after the login the command runs that was left for it."""
    run.scenario.set(driver=sandbox.DRIVER, cuda="13020")
    program, *module, command, resume, yes, where, data = run.system.login_command.get() or ()
    flag = ["--at-login"] if sys.platform == "win32" else []
    assert (program, *module) == (sys.executable, "-m", "gpu_assistant", *flag)
    assert (where, Path(data)) == ("--data-dir", run.data)
    return run.call(command, resume, yes)


def test_install_benchmark_and_uninstall_end_to_end(run: EndToEndRun) -> None:
    before = seen()
    install_with_kills(run)
    last = restart(run)
    assert last.events[-1]["state"] == "done"
    assert last.states["driver"] == "skipped"
    assert len(run.installers()) == 2
    assert run.system.login_command.get() is None
    run.truths()

    # Other programs find what was installed.
    toolkit = run.data / "toolkits" / f"cuda-{TOOLKIT}"
    variables = run.system.variables
    matches = variables.get("CUDA_PATH")
    assert matches is not None
    assert matches.value == str(toolkit)
    assert variables.is_on_path(toolkit / "bin")
    if WINDOWS:
        path = variables.get("Path")
        assert path is not None
        assert path.expand
        assert path.value.startswith(OWN["Path"])
    nvcc = subprocess.run(
        [toolkit / "bin" / run.system.executable("nvcc"), "--version"], capture_output=True, text=True, check=True
    )
    assert SAYS in nvcc.stdout
    assert (toolkit / "include" / "cudnn.h").is_file()

    assert settings.load_settings(DataDir(run.data).settings).setup_done  # the window opens on what is there

    checks = run.call("verify", "--env", run.env).events[-1]
    # Without a compiler of C++ that nvcc can use, no program is compiled; that is said, and no fault of the setup.
    has_compiler = not WINDOWS and shutil.which("g++") is not None
    assert [each["id"] for each in checks["checks"] if each["state"] == "warn"] == (
        [] if has_compiler else ["host-compiler"]
    )
    assert checks["verdict"] == ("pass" if has_compiler else "warn")
    pip_keeps_pytorch(run.env)
    measured = run.call("bench", "--env", run.env).events[-1]
    assert measured["results"]
    assert all(result["median"] > 0 for result in measured["results"])
    assert not [result for result in measured["results"] if "wrong" in result["notes"]]
    # On a busy machine the minute may be too short for all of them; what is left out is named.
    named = {result["id"] for result in measured["results"]} | {each["id"] for each in measured["left_out"]}
    assert {"matmul", "resnet50", "bert-base", "decode"} <= named

    missing = run.call("uninstall", "--yes", "--env", run.env)
    assert missing.events[-1]["state"] == "done"
    assert not run.env.exists()
    assert not toolkit.exists()
    assert difference(before, seen()) == []
    run.call("uninstall", "--all", "--yes")
    assert not run.data.exists()
    assert [location.name for location in run.env.parent.iterdir()] == []
