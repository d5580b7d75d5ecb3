"""A bundle that was changed, or made for another computer, is found before it is used."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec
import pytest

from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import Event, StepEvent
from gpu_assistant.install.bundle.format import LIST_FILE, read_contents
from gpu_assistant.install.bundle.source import BundleSource
from gpu_assistant.install.jobs.check_bundle import CheckBundleJob
from gpu_assistant.install.packages.requirements import Platform
from gpu_assistant.texts.localized import Texts

from ..bundle_sandbox import HERE, create, offline
from ..sandbox import Sandbox, end


def test_check_names_unlisted_files(sandbox: Sandbox, bundle: Path) -> None:
    def checked() -> StepEvent:
        events: list[Event] = []
        CheckBundleJob(bundle).run(JobContext(report=events.append))
        assert end(events).state == "done"
        return next(event for event in events if isinstance(event, StepEvent) and event.state == "done")

    assert checked().code == "progress.bundle-whole"
    (bundle / "mine.txt").write_text("of the user's")
    (bundle / "wheels" / "evil-1.0-py3-none-any.whl").write_bytes(b"evil")
    done = checked()
    assert done.data["files"] == "mine.txt, wheels/evil-1.0-py3-none-any.whl"
    assert "evil-1.0" in str(Texts("zh_CN").localize_event(done).message)  # type: ignore[union-attr]


def test_modified_file_is_found_before_use(sandbox: Sandbox, bundle: Path) -> None:
    wheel = bundle / "wheels" / sandbox.torch.name
    data = bytearray(wheel.read_bytes())
    data[100] ^= 1
    wheel.unlink()  # it may be the same file as the one in the cache
    wheel.write_bytes(data)
    with pytest.raises(AppError) as caught:
        CheckBundleJob(bundle).run(JobContext())
    assert caught.value.code == "bundle-damaged"
    assert caught.value.data["files"] == f"wheels/{sandbox.torch.name}"
    with pytest.raises(AppError) as installing:
        sandbox.install(offline(sandbox, bundle))
    assert installing.value.code == "local-file-broken"
    assert not sandbox.environment.exists()


def test_missing_file_is_an_error_not_a_download(sandbox: Sandbox, bundle: Path) -> None:
    (bundle / "wheels" / sandbox.torch.name).unlink()
    sandbox.asks()
    with pytest.raises(AppError) as caught:
        sandbox.install(offline(sandbox, bundle))
    assert caught.value.code == "local-file-missing"
    assert sandbox.asks() == []


@pytest.mark.parametrize(
    "path",
    ["../out.whl", "wheels/../../out.whl", "/etc/passwd", "wheels/a/b.whl", "wheels\\b.whl", "files/x/y", "", "C:/x"],
)
def test_list_with_outside_path_is_refused(bundle: Path, path: str) -> None:
    text = json.loads((bundle / LIST_FILE).read_text(encoding="utf-8"))
    text["files"][1]["path"] = path
    (bundle / LIST_FILE).write_text(json.dumps(text), encoding="utf-8")
    for use in (BundleSource, lambda folder: CheckBundleJob(folder).run(JobContext())):
        with pytest.raises(UsageError) as caught:
            use(bundle)
        assert caught.value.code == "bundle-list"
        out = ".." in path or path.startswith(("/", "C:"))
        assert caught.value.data["fault"] == f"@file.fault.{'outside' if out else 'form'}"


def test_list_with_duplicate_or_without_lock_is_refused(bundle: Path) -> None:
    data = json.loads((bundle / LIST_FILE).read_text(encoding="utf-8"))
    twice = {**data["files"][1], "path": data["files"][1]["path"].upper().replace("WHEELS", "wheels")}
    for files in ([*data["files"], twice], data["files"][1:]):
        (bundle / LIST_FILE).write_text(json.dumps({**data, "files": files}), encoding="utf-8")
        with pytest.raises(UsageError) as caught:
            read_contents(bundle)
        assert caught.value.code == "bundle-list"
    (bundle / LIST_FILE).write_text("{", encoding="utf-8")
    with pytest.raises(UsageError):
        read_contents(bundle)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there that tests do not have")
def test_link_out_of_bundle_is_refused(sandbox: Sandbox, bundle: Path) -> None:
    (bundle / "wheels").rename(sandbox.root / "elsewhere")
    (bundle / "wheels").symlink_to(sandbox.root / "elsewhere", target_is_directory=True)
    with pytest.raises(UsageError) as caught:
        CheckBundleJob(bundle).run(JobContext())
    assert caught.value.code == "bundle-link"
    with pytest.raises(UsageError):
        create(sandbox, bundle)


def test_modified_lockfile_is_refused(sandbox: Sandbox, bundle: Path) -> None:
    lock = bundle / "pylock.toml"
    lock.write_text(lock.read_text(encoding="utf-8") + "\n# more\n", encoding="utf-8")
    with pytest.raises(AppError) as caught:
        sandbox.install(offline(sandbox, bundle))
    assert caught.value.code == "local-file-broken"


def test_bundle_for_another_request_is_refused(sandbox: Sandbox, bundle: Path) -> None:
    other = "linux" if HERE.system == "windows" else "windows"
    shelf = BundleSource(bundle)
    with pytest.raises(UsageError) as caught:
        shelf.check_plan(offline(sandbox, bundle), Platform(system=other, arch="x86_64"))  # type: ignore[arg-type]
    assert caught.value.code == "bundle-other-machine"
    with pytest.raises(UsageError) as caught:
        sandbox.install(offline(sandbox, bundle, version="2.9.1"))
    assert caught.value.code == "bundle-other-wish"


def test_check_here_refuses_bundle_of_other_platform(sandbox: Sandbox, bundle: Path) -> None:
    here = sandbox.system.operating_system()
    assert CheckBundleJob(bundle, here).run(JobContext()).platform == HERE
    other = "windows" if HERE.system == "linux" else "linux"
    stranger = msgspec.structs.replace(here, system=other, glibc=None)
    with pytest.raises(UsageError) as caught:
        CheckBundleJob(bundle, stranger).run(JobContext())
    assert caught.value.code == "bundle-other-machine"
    assert CheckBundleJob(bundle).run(JobContext()).platform == HERE  # who made it may check it anywhere
