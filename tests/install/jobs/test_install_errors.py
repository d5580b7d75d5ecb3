"""Everything that can be wrong: one plain error with its exit code, and nothing lost."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpu_assistant.core.errors import AppError, Cancelled, NetworkError, UsageError
from gpu_assistant.core.paths import DataDir
from gpu_assistant.core.plan import PlanFile, StepEvent
from gpu_assistant.fetch.request import Limits
from gpu_assistant.install.environment import location
from gpu_assistant.install.journal import log
from gpu_assistant.install.steps.base import check_file
from gpu_assistant.system.probes import is_network_available
from gpu_assistant.texts.localized import Texts

from ...fakes.fault_server import Fault
from .. import tiny_wheels
from ..sandbox import RELEASE, Sandbox, end, states
from ..small_disk import tmpfs


def refused(sandbox: Sandbox, kind: type[AppError] = AppError, **more: object) -> AppError:
    """The error of an install; the last event says the same, and there is a sentence in both languages."""
    with pytest.raises(kind) as caught:
        sandbox.install(**more)
    last = end(caught.value.events)  # type: ignore[attr-defined]
    assert last.code == caught.value.message.code
    for language in ("en", "zh_CN"):
        assert "{" not in Texts(language).error_text(caught.value)
    return caught.value


def test_foreign_folder_is_refused(sandbox: Sandbox) -> None:
    sandbox.environment.mkdir(parents=True)
    (sandbox.environment / "thesis.txt").write_text("all of it", encoding="utf-8")
    error = refused(sandbox)
    assert (error.code, error.exit_code) == ("environment-occupied", 1)
    assert [entry.name for entry in sandbox.environment.iterdir()] == ["thesis.txt"]
    assert sandbox.asks() == []


def test_environment_of_another_data_folder_is_named(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.install()
    with pytest.raises(AppError) as caught:
        location.check_available(sandbox.environment, DataDir(tmp_path / "another"))
    assert caught.value.code == "environment-elsewhere"
    for language in ("en", "zh_CN"):
        assert "{" not in Texts(language).error_text(caught.value)


def test_foreign_partial_folder_is_refused(sandbox: Sandbox) -> None:
    partial = sandbox.environment.with_name(".env.partial")
    partial.mkdir(parents=True)
    (partial / "thesis.txt").write_text("all of it", encoding="utf-8")
    assert refused(sandbox).code == "environment-occupied"
    assert (partial / "thesis.txt").is_file()


def test_environment_with_other_versions_is_refused(sandbox: Sandbox) -> None:
    sandbox.install()
    tiny_wheels.index(sandbox.server, "torch", [sandbox.torch, tiny_wheels.torch("9.1.1+cpu")])
    before = sorted(sandbox.environment.rglob("*"))
    assert refused(sandbox, plan=sandbox.plan(version="9.1.1")).code == "environment-differs"
    assert sorted(sandbox.environment.rglob("*")) == before


def test_older_release_in_wheelhouse_is_only_offered(sandbox: Sandbox) -> None:
    house = tiny_wheels.folder(
        sandbox.root / "wheels", [tiny_wheels.torch("9.0.0+cpu"), tiny_wheels.torch("8.0.0+cu126"), *sandbox.others]
    )
    del sandbox.server.files["/torch/torch/"]
    error = refused(sandbox, plan=sandbox.plan(wheelhouse=house))
    assert (error.code, error.exit_code) == ("release-unavailable", 1)
    (offer,) = error.alternatives
    assert (offer.code, offer.change["pytorch"], offer.change["variant"]) == ("wheelhouse-torch", "9.0.0", "cpu")
    assert "--pytorch 9.0.0" in Texts("en").error_text(error)
    assert not sandbox.environment.exists()


def test_wheel_for_other_python_is_offered_with_it(sandbox: Sandbox) -> None:
    only = tiny_wheels.torch("9.0.0+cpu", tag="cp39-none-any")
    house = tiny_wheels.folder(sandbox.root / "wheels", [only])
    sandbox.server.close()
    error = refused(sandbox, plan=sandbox.plan(wheelhouse=house))
    assert (error.code, error.alternatives[0].change["python"]) == ("release-unavailable", "3.9")
    assert "--pytorch 9.0.0 --python 3.9" in Texts("en").error_text(error)


def test_older_release_on_index_is_offered(sandbox: Sandbox) -> None:
    error = refused(sandbox, plan=sandbox.plan(version="9.2.0"))
    assert error.code == "release-unavailable"
    (offer,) = error.alternatives
    assert (offer.code, offer.change["pytorch"]) == ("index-torch", RELEASE)
    assert RELEASE in Texts("en").translate(f"alternative.{offer.code}.text", offer.data)


def test_release_without_any_source_is_an_error(sandbox: Sandbox) -> None:
    del sandbox.server.files["/torch/torch/"]
    error = refused(sandbox)
    assert (error.code, error.exit_code, error.alternatives) == ("release-nowhere", 1, ())


def test_no_network(sandbox: Sandbox) -> None:
    sandbox.server.close()
    error = refused(sandbox, NetworkError)
    if not is_network_available():
        assert (error.code, error.exit_code) == ("no-network", 6)
        return
    assert (error.code, error.exit_code) == ("no-source", 6)
    assert error.data["index"] == "@answer.unreachable"
    assert "did not answer" in Texts("en").error_text(error)


def test_unreachable_general_index_is_named(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        closed = f"http://127.0.0.1:{free.getsockname()[1]}/simple"
    monkeypatch.setenv("UV_DEFAULT_INDEX", closed)
    error = refused(sandbox, NetworkError)
    assert (error.code, error.data["general"]) == ("no-source", "@answer.unreachable")
    assert error.data["index"] == "@answer.incomplete"


def test_incomplete_wheelhouse_without_network_names_missing(sandbox: Sandbox) -> None:
    house = tiny_wheels.folder(sandbox.root / "wheels", [sandbox.torch])
    sandbox.server.close()
    error = refused(sandbox, NetworkError, plan=sandbox.plan(wheelhouse=house))
    assert (error.code, error.exit_code) == ("wheelhouse-lacks", 6)
    assert error.data["packages"] == "numpy, pip, tinydep"
    assert error.data["wheelhouse"] == "@answer.incomplete"
    assert error.data["general"] == "@answer.unreachable"


def bad_checksum(data: bytes) -> bytes:
    return data.replace(b"__version__", b"__VERSION__", 1)


def cut_short(data: bytes) -> bytes:
    return data[: len(data) // 2]


@pytest.mark.parametrize("damage", [bad_checksum, cut_short])
@pytest.mark.parametrize("project", ["torch", "numpy"])
def test_corrupt_wheel_is_named(sandbox: Sandbox, project: str, damage: Callable[[bytes], bytes]) -> None:
    house = tiny_wheels.folder(sandbox.root / "wheels", [sandbox.torch, *sandbox.others])
    (wheel,) = house.glob(f"{project}-*")
    wheel.write_bytes(damage(wheel.read_bytes()))
    error = refused(sandbox, plan=sandbox.plan(wheelhouse=house))
    assert (error.code, error.data["path"]) == ("wheel-damaged", str(wheel))
    assert sandbox.asks() == []


def test_wrong_hash_is_discarded_and_refetched(sandbox: Sandbox) -> None:
    tiny_wheels.index(sandbox.server, "torch", [sandbox.torch], lies={sandbox.torch.name: "0" * 64})
    error = refused(sandbox)
    assert (error.code, error.data["name"]) == ("hash-mismatch", sandbox.torch.name)
    assert not list(sandbox.data.files.rglob("torch*"))
    assert not sandbox.environment.exists()
    tiny_wheels.index(sandbox.server, "torch", [sandbox.torch])
    assert end(sandbox.install()).state == "done"


def test_file_that_is_gone_since_the_packages_were_resolved_is_replaced(sandbox: Sandbox) -> None:
    """A stopped run left its lock file; by the next one the index has another release of a package."""
    numpy = next(wheel for wheel in sandbox.others if wheel.project == "numpy")
    path = tiny_wheels.file_path("simple", numpy)
    sandbox.server.files[path].faults += [Fault("reset")] * 9
    assert refused(sandbox, NetworkError).code == "download-never-came"
    newer = tiny_wheels.wheel("numpy", "99.0")
    del sandbox.server.files[path]
    tiny_wheels.index(sandbox.server, "simple", [*(w for w in sandbox.others if w is not numpy), newer])
    assert end(sandbox.install()).state == "done"
    assert list(sandbox.environment.rglob("numpy-99.0.dist-info"))


def test_aborted_download_is_resumed_by_next_run(sandbox: Sandbox) -> None:
    path = tiny_wheels.file_path("torch", sandbox.torch)
    sandbox.server.files[path].faults += [Fault("drop", after=200_000), Fault("reset"), Fault("reset")]
    error = refused(sandbox, NetworkError)
    assert (error.code, error.exit_code) == ("download-broke-off", 6)
    sandbox.server.files[path].faults.clear()
    sandbox.asks()
    assert end(sandbox.install()).state == "done"
    assert [seen for seen in sandbox.asks() if seen.startswith("/torch/")] == []


def test_cancel_during_stalled_download_then_resume(sandbox: Sandbox) -> None:
    path = tiny_wheels.file_path("torch", sandbox.torch)
    sandbox.server.files[path].faults.append(Fault("stall", after=200_000))
    cancel = threading.Event()

    def watch(_event: object) -> None:
        # News keep coming while the download stalls; what the server sent is on the disk by then.
        if any(part.stat().st_size == 200_000 for part in sandbox.data.files.rglob("torch*.part")):
            cancel.set()

    with pytest.raises(Cancelled) as caught:
        sandbox.install(cancel=cancel, watch=watch)
    events = caught.value.events  # type: ignore[attr-defined]
    assert (end(events).state, states(events)["download"]) == ("cancelled", "cancelled")
    assert caught.value.exit_code == 3
    assert not sandbox.environment.exists()
    stopped = log.interrupted_install(sandbox.data)
    assert stopped is not None
    plan = stopped.plan
    assert plan == sandbox.plan()
    assert (stopped.step, stopped.state) == ("download", "cancelled")
    sandbox.server.let_go.set()
    assert end(sandbox.install(plan)).state == "done"
    assert "bytes=" in str(sandbox.server.gets(path)[-1].range)


# Under Wine, where each process takes seconds to start, only the step that does most.
MOMENTS = ["python", "resolve", "download", "pytorch", "verify"] if sys.platform == "linux" else ["pytorch"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_cancel_at_every_step(sandbox: Sandbox, moment: str) -> None:
    cancel = threading.Event()

    def watch(event: object) -> None:
        if isinstance(event, StepEvent) and event.id == moment and event.state == "running":
            cancel.set()

    # What a step does not notice itself is noticed before the next one; the last one notices.
    with pytest.raises(Cancelled) as caught:
        sandbox.install(cancel=cancel, watch=watch)
    assert end(caught.value.events).state == "cancelled"  # type: ignore[attr-defined]
    assert not sandbox.environment.exists()
    assert end(sandbox.install()).state == "done"


def test_failed_verification_leaves_no_environment(sandbox: Sandbox) -> None:
    sandbox.torch = tiny_wheels.wheel(
        "torch", f"{RELEASE}+cpu", requires=["tinydep"], source="raise ImportError('no DLL')\n"
    )
    sandbox.server.files.pop(tiny_wheels.file_path("torch", sandbox.torch))
    tiny_wheels.index(sandbox.server, "torch", [sandbox.torch])
    error = refused(sandbox)
    assert (error.code, error.data["check"]) == ("check-failed", "torch-import")
    assert "no DLL" in str(error.data["reason"])
    assert not sandbox.environment.exists()
    assert location.list_environments(sandbox.data) == ()


def test_second_process_is_told_the_first_is_running(sandbox: Sandbox) -> None:
    code = (
        "import sys; from pathlib import Path; from gpu_assistant.core.paths import DataDir\n"
        "from gpu_assistant.system.locks import data_folder_lock\n"
        "with data_folder_lock(DataDir(Path(sys.argv[1]))): print('held', flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, str(sandbox.data.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == "held"
        error = refused(sandbox)
        assert (error.code, error.data["pid"], error.exit_code) == ("already-running", other.pid, 1)
        other.kill()
    # A killed one holds nothing.
    assert end(sandbox.install()).state == "done"


def test_file_in_place_of_folder_is_refused(sandbox: Sandbox) -> None:
    sandbox.environment.parent.write_text("not a folder", encoding="utf-8")
    error = refused(sandbox)
    assert (error.code, error.data["path"], error.exit_code) == ("not-a-folder", str(sandbox.environment.parent), 1)
    assert sandbox.environment.parent.read_text(encoding="utf-8") == "not a folder"


@pytest.mark.linux
def test_unwritable_folder_is_refused(sandbox: Sandbox) -> None:
    with tmpfs(sandbox.root / "locked", "ro") as folder:
        error = refused(sandbox, plan=sandbox.plan(environment=folder / "envs" / "env"))
        assert (error.code, error.exit_code) == ("disk-read-only", 1)
        assert sandbox.asks() == []


@pytest.mark.linux
def test_unwritable_data_folder_is_refused(sandbox: Sandbox) -> None:
    from gpu_assistant.core.paths import DataDir

    with tmpfs(sandbox.root / "locked", "ro") as folder:
        sandbox.data = DataDir(folder / "data")
        assert refused(sandbox).code == "disk-read-only"


@pytest.mark.linux
def test_too_small_disk_is_refused(sandbox: Sandbox) -> None:
    with tmpfs(sandbox.root / "small", "size=2m") as folder:
        plan = sandbox.plan(environment=folder / "env")
        error = refused(sandbox, plan=plan, limits=Limits(reserve_bytes=64 * 2**20))
        assert error.code == "disk-too-small"
        assert list(folder.iterdir()) == []


@pytest.mark.linux
def test_disk_full_during_install_is_reported(sandbox: Sandbox) -> None:
    sandbox.torch = tiny_wheels.torch(f"{RELEASE}+cpu", ballast=os.urandom(4_000_000))
    sandbox.server.files.pop(tiny_wheels.file_path("torch", sandbox.torch))
    tiny_wheels.index(sandbox.server, "torch", [sandbox.torch])
    # Nobody knows how big this environment will be, so the space could not be checked before.
    import msgspec

    with tmpfs(sandbox.root / "small", "size=2m") as folder:
        plan = msgspec.structs.replace(sandbox.plan(environment=folder / "env"), disk_bytes=None, bytes=None)
        error = refused(sandbox, plan=plan)
        assert (error.code, error.exit_code) == ("disk-full", 1)
        assert not (folder / "env").exists()
    # Nothing that was fetched is lost: on another disk it goes on from there.
    sandbox.asks()
    assert end(sandbox.install()).state == "done"
    assert not [path for path in sandbox.asks() if path.endswith(".whl")]


def strange(sandbox: Sandbox, **changes: object) -> object:
    import msgspec

    return msgspec.structs.replace(sandbox.plan(), **changes)


def test_invalid_plan_is_not_run(sandbox: Sandbox, tmp_path: Path) -> None:
    steps = sandbox.plan().steps
    for number, bad in enumerate(
        (
            strange(sandbox, env="env"),
            strange(sandbox, env=str(tmp_path / ".." / "env")),
            strange(sandbox, wheelhouse="//server/share"),
            strange(sandbox, bundle="bundle"),
            strange(sandbox, steps=()),
            strange(sandbox, steps=(*steps, replace(steps[0], kind="shell"))),
        )
    ):
        for dry_run in (False, True):
            error = refused(sandbox, UsageError, plan=bad, dry_run=dry_run)
            assert (error.code, error.exit_code) == ("plan-refused", 2), number
    for shared in (Path.home(), Path(tmp_path.anchor)):
        assert refused(sandbox, UsageError, plan=strange(sandbox, env=str(shared))).code == "folder-shared"
    assert not sandbox.data.root.exists()
    assert sandbox.asks() == []


@pytest.mark.parametrize(
    "hidden",
    ["PyTorch\x1b[31;1m", "PyTorch\n7. Another step", "PyTorch \u202e9.9", "a\0b"],
    ids=["esc", "line", "turned", "nul"],
)
def test_plan_with_control_characters_is_refused(sandbox: Sandbox, hidden: str) -> None:
    plan = sandbox.plan()
    first, *others = plan.steps
    error = refused(sandbox, UsageError, plan=replace(plan, steps=(replace(first, data={"release": hidden}), *others)))
    assert (error.code, error.exit_code) == ("plan-refused", 2)
    assert hidden not in Texts("en").error_text(error)


def test_plan_with_nul_in_folder_is_refused(sandbox: Sandbox) -> None:
    plan = sandbox.plan()
    error = refused(sandbox, UsageError, plan=replace(plan, env=plan.env + "\0b"))
    assert (error.code, error.exit_code) == ("plan-refused", 2)


@pytest.mark.parametrize("place", ["", "cache/files/env", "journal", "settings.json/env", "environments/../logs"])
def test_environment_in_app_data_is_refused(sandbox: Sandbox, place: str) -> None:
    error = refused(sandbox, UsageError, plan=replace(sandbox.plan(), env=str(sandbox.data.root / place)))
    assert (error.code, error.exit_code) == ("plan-refused", 2)


@pytest.mark.parametrize("address", ["https://[bad", "https://[::1:x/x.tar.gz"])
def test_invalid_url_is_refused(address: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_file(PlanFile(name="x.tar.gz", url=address, sha256="0" * 64, bytes=1))
    assert caught.value.code == "plan-refused"


def test_index_with_wheel_variants_only_is_told(sandbox: Sandbox) -> None:
    wheels = [tiny_wheels.torch(f"{RELEASE}+cpu", label=label) for label in ("null", "v3")]
    tiny_wheels.index(sandbox.server, "torch", wheels)
    error = refused(sandbox)
    assert (error.code, error.data["index"]) == ("release-nowhere", "@answer.variants")
    assert "wheel variants, which GPU Assistant cannot record and check yet" in Texts("en").error_text(error)
