"""NVIDIA's .run for Linux, by a program that behaves like it: its words, its links, what names its own folder."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpu_assistant.catalog.records.cuda import ToolkitInstaller
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core import json
from gpu_assistant.core.errors import AppError, InsufficientDiskSpace, UsageError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import OperatingSystem
from gpu_assistant.core.paths import DataDir, resources_dir
from gpu_assistant.core.plan import Event, Plan
from gpu_assistant.core.plan_cost import minimum_disk_bytes, plan_cost
from gpu_assistant.core.recommendation import PartAdvice
from gpu_assistant.install.bundle.format import LIST_FILE, LOCK_FILE, BundleContents, BundleFile
from gpu_assistant.install.files import inventory
from gpu_assistant.install.files.staging import partial_path
from gpu_assistant.install.jobs.install import InstallJob
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.packages.requirements import Platform, build_request
from gpu_assistant.install.plan.planner import make_plan, with_totals
from gpu_assistant.install.plan.validation import check_same_steps
from gpu_assistant.install.steps.cuda_installer import run_file_folder
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.install.steps.plan_builder import PlanBuilder
from gpu_assistant.texts.localized import Texts

from ...fakes.environment_variables import FileAtLogin, FileVariables
from ...fakes.fault_server import FaultServer, fault_server
from ...fakes.system import FakeSystem
from ..sandbox import QUICK, machine, states
from ..small_disk import tmpfs
from ..toolkit_sandbox import wants

if sys.platform == "win32":
    pytest.skip("a shell script that runs as the user", allow_module_level=True)

pytestmark = pytest.mark.linux
VERSION = "13.2.2"
HERE = Platform(system="linux", arch="x86_64", glibc="2.28")
# Unpacks below --tmpdir, makes NVIDIA's tree with its links, and writes its own folder into a text.
RUN = """#!/bin/sh
for word in "$@"; do
    case "$word" in
        --toolkitpath=*) to=${word#*=} ;;
        --defaultroot=*) root=${word#*=} ;;
        --tmpdir=*) scratch=${word#*=} ;;
        --silent|--toolkit|--override|--no-man-page) ;;
        *) echo "unknown option $word"; exit 2 ;;
    esac
done
[ -n "$root" ] && [ -d "$scratch" ] && [ "$TMPDIR" = "$scratch" ] || exit 3
echo unpacked >"$scratch/payload"
FAIL
mkdir -p "$to/bin" "$to/targets/x86_64-linux/include" "$to/targets/x86_64-linux/lib" "$to/pkgconfig"
ln -s targets/x86_64-linux/include "$to/include"
ln -s targets/x86_64-linux/lib "$to/lib64"
ln -s "$to/targets/x86_64-linux/lib" "$to/absolute"
echo "// cuda" >"$to/targets/x86_64-linux/include/cuda.h"
echo "cudaroot=$to" >"$to/pkgconfig/cuda.pc"
printf '#!/bin/sh\\necho release 13.2\\n' >"$to/bin/nvcc"
chmod 755 "$to/bin/nvcc"
"""


class Sandbox:
    """`tree` is where the toolkit goes."""

    def __init__(self, root: Path, server: FaultServer) -> None:
        self.root, self.server, self.padding = root, server, 0
        self.data = DataDir(root / "data")
        self.outside = root / "outside"
        self.outside.mkdir()
        self.variables = FileVariables(self.outside / "variables.json")
        self.catalog = load_catalog(resources_dir() / "catalog")
        self.system = FakeSystem(
            name="linux", variables=self.variables, login_command=FileAtLogin(self.outside / "login.json")
        )
        self.tree = run_file_folder(self.data.toolkits, VERSION)
        self.serves()

    def serves(self, fail: str = "", **more: Any) -> None:
        data = RUN.replace("FAIL", fail).encode() + b"exit 0\n" + b"#" * self.padding
        url = self.server.add("/cuda_13.2.2_linux.run", data)
        (known,) = (t for t in self.catalog.cuda.toolkits if t.version.text == VERSION)
        file: dict[str, Any] = {"md5": hashlib.md5(data).hexdigest(), "sha256": None, "bytes": len(data), **more}
        installer = ToolkitInstaller(
            system="linux", arch="x86_64", kind="local", url=url, file="cuda_13.2.2_linux.run", source="x", **file
        )
        others = tuple(t for t in self.catalog.cuda.toolkits if t is not known)
        toolkits = (replace(known, installers=(installer,)), *others)
        vars(self.catalog)["cuda"] = replace(self.catalog.cuda, toolkits=toolkits)

    def plan(self, bundle: Path | None = None) -> Plan:
        wanted = wants(
            cuda_toolkit=PartAdvice(action="install", version=VERSION, way="installer"),
            cudnn=PartAdvice(action="none"),
        )
        here = replace(machine(), os=OperatingSystem(system="linux", arch="x86_64"))
        environment = self.root / "env"
        builder = PlanBuilder(
            here, wanted, self.catalog, data=self.data, environment=environment, wheelhouse=None, bundle=bundle
        )
        for kind in ("cuda-toolkit", "cuda-run", "cudnn", "variables", "cuda-installer"):
            builder.add(STEP_KINDS[kind].plan(builder), provides=kind)
        steps = (*STEP_KINDS["check-space"].plan(builder), *builder.steps)
        return with_totals(
            Plan(
                schema="gpu-assistant/plan/1",
                goal="cuda-dev",
                env=str(environment),
                recommendation=wanted,
                steps=steps if bundle is not None else tuple(builder.steps),
                bundle=None if bundle is None else str(bundle),
            )
        )

    def bundle(self) -> Path:
        """A bundle of the .run; its list of packages is not read here."""
        folder, data = self.root / "bundle", self.server.files["/cuda_13.2.2_linux.run"].data
        digest = hashlib.sha256(data).hexdigest()
        path = f"files/{digest[:16]}/cuda_13.2.2_linux.run"
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_bytes(data)
        url = f"{self.server.url}/cuda_13.2.2_linux.run"
        contents = BundleContents(
            schema="gpu-assistant/bundle/1",
            program="0",
            catalog=None,
            goal="cuda-dev",
            channel="studio",
            request=build_request(self.plan().recommendation, self.catalog, HERE, wheelhouse=None),
            platform=HERE,
            files=(
                BundleFile(path=LOCK_FILE, sha256=hashlib.sha256(b"").hexdigest(), bytes=0),
                BundleFile(path=path, sha256=digest, bytes=len(data), url=url),
            ),
        )
        json.write_file(folder / LIST_FILE, json.encode_pretty(contents))
        return folder

    def install(self, plan: Plan | None = None) -> dict[str, str]:
        events: list[Event] = []
        InstallJob(plan or self.plan(), self.system, self.data, self.catalog, limits=QUICK).run(
            JobContext(report=events.append)
        )
        return states(events)

    def uninstall(self) -> None:
        UninstallJob(self.root / "env", self.data, self.system).run(JobContext(report=lambda _: None))


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with fault_server() as server:
        yield Sandbox(tmp_path, server)


def code_of(sandbox: Sandbox, plan: Plan | None = None) -> str:
    with pytest.raises(AppError) as caught:
        sandbox.install(plan)
    return caught.value.code


def test_toolkit_is_installed_without_administrator(sandbox: Sandbox) -> None:
    plan = sandbox.plan()
    assert [(step.kind, step.needs_admin) for step in plan.steps] == [("cuda-run", False), ("variables", False)]
    assert sandbox.install(plan) == {"cuda-run": "done", "variables": "done"}
    completed = subprocess.run([sandbox.tree / "bin" / "nvcc"], capture_output=True, text=True, check=True)
    assert "13.2" in completed.stdout
    assert (sandbox.tree / "include" / "cuda.h").is_file()
    assert (sandbox.tree / "pkgconfig" / "cuda.pc").read_text() == f"cudaroot={sandbox.tree}\n"
    assert (sandbox.tree / "absolute").readlink() == sandbox.tree / "targets" / "x86_64-linux" / "lib"
    assert not (sandbox.tree / ".scratch").exists()
    value = sandbox.variables.get("CUDA_PATH")
    assert value is not None
    assert value.value == str(sandbox.tree)
    assert sandbox.variables.is_on_path(sandbox.tree / "bin")
    assert not sandbox.system.elevated
    assert sandbox.install() == {"cuda-run": "skipped", "variables": "skipped"}


def test_damaged_toolkit_is_replaced_and_user_files_kept(sandbox: Sandbox) -> None:
    sandbox.install()
    (sandbox.tree / "mine" / "deep").mkdir(parents=True)
    (sandbox.tree / "mine" / "deep" / "notes.txt").write_text("the user's")
    (sandbox.tree / "mine" / "empty").mkdir()
    (sandbox.tree / "targets" / "x86_64-linux" / "include" / "cuda.h").write_text("// something else")
    (sandbox.tree / "bin" / "nvcc").unlink()
    assert sandbox.install()["cuda-run"] == "done"
    assert (sandbox.tree / "mine" / "deep" / "notes.txt").read_text() == "the user's"
    assert (sandbox.tree / "include" / "cuda.h").read_text() == "// cuda\n"
    assert sandbox.install()["cuda-run"] == "skipped"
    sandbox.uninstall()
    assert sorted(inventory.walk(sandbox.tree)) == ["mine/deep/notes.txt", "mine/empty/"]


def test_uninstall_removes_toolkit(sandbox: Sandbox) -> None:
    before = sandbox.variables.get("CUDA_PATH")
    sandbox.install()
    sandbox.uninstall()
    assert not sandbox.tree.exists()
    assert sandbox.variables.get("CUDA_PATH") == before
    assert not sandbox.variables.is_on_path(sandbox.tree / "bin")


def test_stopped_install_resumes(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpu_assistant.install.steps import cuda_installer

    def cut(folder: Path) -> None:
        raise OSError(folder)

    with monkeypatch.context() as patched:
        patched.setattr(cuda_installer, "commit_folder", cut)
        with pytest.raises(AppError):
            sandbox.install()
    assert not sandbox.tree.exists()
    complete = partial_path(sandbox.tree) / "bin" / "nvcc"
    inode = complete.stat().st_ino
    assert sandbox.install()["cuda-run"] == "done"
    assert (sandbox.tree / "bin" / "nvcc").stat().st_ino == inode


@pytest.mark.parametrize("fail", ["echo broken >&2; exit 1", "exit 0"])
def test_incomplete_toolkit_is_not_committed(sandbox: Sandbox, fail: str) -> None:
    sandbox.serves(fail)
    assert code_of(sandbox) == "toolkit-run-failed"
    assert not sandbox.tree.exists()
    sandbox.serves()
    assert sandbox.install()["cuda-run"] == "done"


def test_run_file_with_wrong_hash_is_refused(sandbox: Sandbox) -> None:
    sandbox.serves(md5="0" * 32)
    assert code_of(sandbox) == "hash-mismatch"
    assert not sandbox.tree.exists()


def test_foreign_folder_is_refused(sandbox: Sandbox) -> None:
    sandbox.tree.mkdir(parents=True)
    (sandbox.tree / "mine").write_text("1")
    assert code_of(sandbox) == "toolkit-occupied"
    assert [path.name for path in sandbox.tree.iterdir()] == ["mine"]


def test_tampered_plan_is_refused(sandbox: Sandbox) -> None:
    plan = sandbox.plan()
    step = plan.steps[0]
    file = step.files[0]
    for bad in (
        {"files": ()},
        {"files": (replace(file, url="https://example.com/cuda_13.2.2_linux.run"),)},
        {"files": (replace(file, sha256="0" * 64),)},
        {"spec": {"version": "../../x"}},
        {"spec": {"version": "11.8.0"}},
        {"spec": {"version": VERSION, "folder": "/usr"}},
    ):
        with pytest.raises(UsageError) as caught:
            check_same_steps(replace(plan, steps=(replace(step, **bad), *plan.steps[1:])), plan)
        assert (caught.value.code, caught.value.data["parts"]) == ("plan-differs", "@plan.part.cuda-run")


# The room that it takes


@pytest.mark.parametrize("from_bundle", [False, True])
def test_price_counts_archive_twice(sandbox: Sandbox, from_bundle: bool) -> None:
    """What it unpacks to is no smaller; a bundle's is copied, where another one is downloaded."""
    size = 4_400_921_701
    sandbox.serves(bytes=size)

    def needed(way: str) -> int:
        plan = make_plan(
            replace(machine(), os=OperatingSystem(system="linux", arch="x86_64")),
            wants(
                cuda_toolkit=PartAdvice(action=way, version=VERSION, way="installer"), cudnn=PartAdvice(action="none")
            ),
            sandbox.catalog,
            data=sandbox.data,
            environment=sandbox.root / "env",
            wheelhouse=None,
            simulated=False,
            bundle=sandbox.root / "bundle" if from_bundle else None,
        )
        cost = plan_cost(plan)
        assert cost.disk_bytes is not None
        assert cost.disk_bytes == plan.steps[0].data["disk_bytes"]
        return cost.disk_bytes

    assert needed("install") - needed("none") == 2 * size


def test_bundle_has_nothing_to_download_in_its_price(sandbox: Sandbox) -> None:
    sandbox.serves(bytes=10**9)
    bundled = sandbox.plan(sandbox.root / "bundle")
    assert (bundled.bytes, plan_cost(bundled).bytes) == (0, 0)
    space, step = bundled.steps[:2]
    assert minimum_disk_bytes(step) == 2 * 10**9
    assert space.data["disk_bytes"] == space.data["kept_bytes"]
    assert "download" not in Texts("en").translate(f"step.{space.code}.what", space.data).replace(
        "nothing is downloaded", ""
    )


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_step_of_a_bundle_names_its_copy_and_no_download(sandbox: Sandbox, language: str) -> None:
    sandbox.serves(bytes=4_400_921_701)
    step = next(step for step in sandbox.plan(sandbox.root / "bundle").steps if step.kind == "cuda-run")
    text = Texts(language).translate(f"step.{step.code}.what", step.data)
    assert "4.4 GB" in text
    assert ("Copies" in text, "Downloads" in text) == (language == "en", False)


def test_disk_without_room_for_the_copy_is_refused_before_anything_is_copied(
    sandbox: Sandbox,
) -> None:
    sandbox.padding = 3 * 2**20
    sandbox.serves()
    folder = sandbox.bundle()
    # Room for what is unpacked, but not for the copy beside it.
    with tmpfs(sandbox.root / "small", "size=5m") as small:
        sandbox.data = DataDir(small / "data")
        sandbox.tree = run_file_folder(sandbox.data.toolkits, VERSION)
        with pytest.raises(InsufficientDiskSpace) as refused:
            sandbox.install(sandbox.plan(folder))
        assert refused.value.data["needed_bytes"] >= 2 * sandbox.padding
        assert not sandbox.data.toolkits.exists()
    with tmpfs(sandbox.root / "large", "size=8m") as large:
        sandbox.data = DataDir(large / "data")
        sandbox.tree = run_file_folder(sandbox.data.toolkits, VERSION)
        assert sandbox.install(sandbox.plan(folder))["cuda-run"] == "done"
        assert (sandbox.tree / "bin" / "nvcc").is_file()
        assert not (sandbox.tree / ".scratch").exists()
    assert sandbox.server.sent == 0
