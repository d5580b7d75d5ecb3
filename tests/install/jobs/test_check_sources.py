"""A plan names only what its sources have: asked of indexes on loopback that are slow, refuse, lie, or have nothing."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.app.available_plan import AvailableSetup, AvailableSetupJob, SourceRetry, availability_error
from gpu_assistant.catalog.records.mirrors import MirrorRecord
from gpu_assistant.catalog.records.pytorch import TorchVariant
from gpu_assistant.core import paths
from gpu_assistant.core.errors import AppError, Cancelled, NetworkError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.plan import Plan, PlanFile
from gpu_assistant.core.recommendation import Choice, Recommendation, SourceAnswer
from gpu_assistant.core.types import Goal
from gpu_assistant.install.host import PreviewContext
from gpu_assistant.install.jobs import check_sources
from gpu_assistant.install.packages.requirements import scan_wheelhouse
from gpu_assistant.install.plan.planner import make_plan
from gpu_assistant.system import current_system
from gpu_assistant.texts.localized import Texts

from ...fakes.fault_server import Fault, Served
from .. import tiny_wheels
from ..sandbox import INTERPRETER, RELEASE, SERIES, Sandbox, machine, states

pytestmark = pytest.mark.skipif(current_system().name != "linux", reason="only Linux has builds for CUDA on the CPU")

OLDER = "9.0.0"
GENERAL_VARIANT = "cu130"
LIMIT_SECONDS = check_sources.CHECK_SECONDS
PAGE = "/torch/torch/"  # of PyTorch's own index


class Sources:
    """PyTorch's own index, the general one and one mirror, all on loopback."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.server = sandbox.server
        self.machine: Machine = msgspec.structs.replace(
            machine(), os=msgspec.structs.replace(machine().os, glibc="2.36")
        )
        self.own, self.general, self.mirror = (f"{self.server.url}/{name}" for name in ("torch", "simple", "mirror"))
        catalog = sandbox.catalog
        releases = tuple(self._release(version) for version in (RELEASE, OLDER))
        vars(catalog)["pytorch"] = msgspec.structs.replace(catalog.pytorch, releases=releases)
        record = MirrorRecord(
            publisher="pytorch-wheels",
            name="Mirror of the tests",
            url=self.mirror,
            kind="pep503",
            region="cn",
            hashes=True,
            source="surveys",
            confidence="medium",
        )
        publishers = tuple(
            msgspec.structs.replace(each, hosts=("127.0.0.1",)) if each.id == record.publisher else each
            for each in catalog.mirrors.publishers
        )
        vars(catalog)["mirrors"] = msgspec.structs.replace(catalog.mirrors, mirrors=(record,), publishers=publishers)
        for path in [path for path in self.server.files if path.startswith(PAGE)]:
            del self.server.files[path]

    def _release(self, version: str) -> Any:
        newest = self.sandbox.catalog.pytorch.releases[0]
        variants = tuple(
            TorchVariant(system="linux", arch="x86_64", variant=variant, index_url=self.own)
            for variant in ("cpu", GENERAL_VARIANT)
        )
        return msgspec.structs.replace(
            newest,
            version=type(newest.version)(version),
            variants=variants,
            default_variant={"linux": GENERAL_VARIANT},
        )

    def serve(self, name: str, *versions: str, lies: bool = False) -> None:
        wheels = [tiny_wheels.torch(version) for version in versions]
        others = self.sandbox.others if name == "simple" else []
        untrue = {wheel.name: "0" * 64 for wheel in wheels} if lies else None
        tiny_wheels.index(self.server, name, [*wheels, *others], lies=untrue)

    def job(
        self,
        *,
        choice: Choice | None = None,
        goal: Goal = "pytorch",
        mirrors: Any = "when-slow",
        simulated: bool = False,
        retries: bool = False,
        downloads_here: bool = False,
        wheelhouse: Path | None = None,
    ) -> Any:
        sandbox = self.sandbox
        wheels = scan_wheelhouse(wheelhouse) if wheelhouse is not None else ()

        def advise(answers: tuple[SourceAnswer, ...]) -> Recommendation:
            return recommend(
                self.machine,
                sandbox.catalog,
                goal=goal,
                choice=choice,
                wheels=wheels,
                sources=answers,
                mirror_use=mirrors,
            )

        def plan(recommendation: Recommendation) -> Plan:
            return make_plan(
                self.machine,
                recommendation,
                sandbox.catalog,
                data=sandbox.data,
                environment=sandbox.environment,
                wheelhouse=wheelhouse,
                simulated=simulated,
            )

        context = PreviewContext(sandbox.system, sandbox.data, sandbox.catalog)
        return AvailableSetupJob(
            self.machine,
            context,
            recommend=advise,
            plan=plan,
            mirrors=mirrors,
            retries=retries,
            downloads_here=downloads_here,
        )

    def ask(self, **more: Any) -> AvailableSetup:
        return self.job(**more).run(JobContext())


@pytest.fixture
def sources(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sources:
    """With time enough for a busy machine; the tests of silence take the real limit."""
    monkeypatch.setattr(check_sources, "CHECK_SECONDS", 60.0)
    return Sources(sandbox)


@pytest.fixture
def three_seconds(sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_sources, "CHECK_SECONDS", LIMIT_SECONDS)


def summary_codes(result: AvailableSetup) -> set[str]:
    return {w.code for w in result.recommendation.warnings if w.code.startswith("source-")}


def summary(result: AvailableSetup) -> tuple[str, object, set[str]]:
    torch = result.recommendation.pytorch
    assert torch is not None
    return f"{torch.version}+{torch.variant}", torch.source, summary_codes(result)


def torch_file(result: AvailableSetup) -> PlanFile:
    (file,) = (file for step in result.plan.steps if step.kind == "download" for file in step.files)
    return file


def test_build_on_its_own_index_is_confirmed_and_named(sources: Sources) -> None:
    sources.serve("torch", f"{RELEASE}+cpu")
    sources.serve("simple", RELEASE)
    result = sources.ask()
    assert summary(result) == (f"{RELEASE}+cpu", "index", set())
    file = torch_file(result)
    assert (file.source, file.checked, file.sha256) == ("index", True, tiny_wheels.torch(f"{RELEASE}+cpu").sha256)
    assert availability_error(result.plan) is None
    assert {seen.range for seen in sources.server.seen if seen.path.endswith(".whl")} == {"bytes=0-0"}


FAULTS = {
    "refusing": Served(b"", faults=[Fault("status", status=403)] * 9, refuses=403),
    "overloaded": Served(b"", faults=[Fault("status", status=503)] * 9),
    "closing": Served(b"silence", faults=[Fault("drop")] * 9),
    "empty": Served(b"<!DOCTYPE html><html><body></body></html>", media="text/html", etag=None),
    "garbage": Served(b"\x00\x01 no page", media="application/octet-stream"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_general_build_stands_in_where_own_index_is(sources: Sources, fault: str) -> None:
    template = FAULTS[fault]
    sources.server.files[PAGE] = Served(
        template.data, etag=template.etag, media=template.media, faults=list(template.faults), refuses=template.refuses
    )
    sources.serve("simple", RELEASE)
    result = sources.ask()
    assert summary(result) == (f"{RELEASE}+{GENERAL_VARIANT}", "general", {"source-on-cpu"})
    file = torch_file(result)
    assert (file.source, file.checked, file.sha256) == ("general", True, tiny_wheels.torch(RELEASE).sha256)
    for language in ("en", "zh_CN"):
        localized = Texts(language).localize_plan(result.plan)
        assert all(warning.text and "{" not in warning.text for warning in localized.recommendation.warnings)


def test_own_index_that_is_no_more_is_replaced(sources: Sources) -> None:
    sources.serve("simple", RELEASE)
    assert summary(sources.ask())[1:] == ("general", {"source-on-cpu"})


@pytest.mark.usefixtures("three_seconds")
def test_silent_index_costs_three_seconds_and_no_more(sources: Sources) -> None:
    sources.server.files[PAGE] = Served(b"silence", media="text/html", faults=[Fault("stall")] * 9)
    sources.serve("simple", RELEASE)
    started = time.monotonic()
    result = sources.ask()
    # The limit is three; the rest is what a busy machine adds to ending the program that was asking.
    assert time.monotonic() - started < LIMIT_SECONDS + 5
    # A machine that is so busy that the general index is late, too, knows nothing of either.
    assert summary(result)[2] <= {"source-on-cpu", "source-unknown"}


@pytest.mark.usefixtures("three_seconds")
def test_all_silent_leaves_the_plan_and_says_that_nothing_is_known(sources: Sources) -> None:
    sources.server.files[PAGE] = Served(b"silence", media="text/html", faults=[Fault("stall")] * 9)
    for page in ("/simple/torch/", "/mirror/torch/"):
        sources.server.files[page] = Served(b"silence", media="text/html", faults=[Fault("stall")] * 9)
    result = sources.ask()
    assert summary(result) == (f"{RELEASE}+cpu", "index", {"source-unknown"})
    assert availability_error(result.plan) is None
    assert all(file.checked is None for step in result.plan.steps for file in step.files)


class SilentSources:
    """As on a busy computer: nobody answers within the time of the first questions; called with the report that all are
    asked once more, everybody does.
    """

    def __init__(self, sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(check_sources, "CHECK_SECONDS", 0.5)
        monkeypatch.setattr(check_sources, "RETRY_SECONDS", 60.0)
        sources.serve("simple", RELEASE)
        sources.server.files[PAGE] = Served(b"no page", media="text/html")
        self.reports: list[object] = []
        self._pages = [sources.server.files[page] for page in (PAGE, "/simple/torch/")]
        for page in self._pages:
            page.faults += [Fault("stall")] * 99

    def __call__(self, report: object) -> None:
        self.reports.append(report)
        for page in self._pages:
            page.faults.clear()


def test_install_asks_once_more_where_nobody_answered(sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = SilentSources(sources, monkeypatch)
    assert summary(sources.ask())[2] == {"source-unknown"}
    result = sources.job(retries=True).run(JobContext(report=answer))
    assert summary(result) == (f"{RELEASE}+{GENERAL_VARIANT}", "general", {"source-on-cpu"})
    assert answer.reports == [SourceRetry(seconds=60.0)]


def test_installed_program_on_a_computer_without_python_says_that_nothing_is_known(
    sources: Sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """uv cannot ask without a Python, and that is no fault of the indexes: the install is not refused."""
    monkeypatch.setattr(paths, "install_dir", lambda: tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))  # where uv keeps Pythons
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    sources.machine = msgspec.structs.replace(sources.machine, pythons=())
    sources.serve("torch", f"{RELEASE}+cpu")
    result = sources.ask()
    assert summary(result) == (f"{RELEASE}+cpu", "index", {"source-unknown"})
    assert availability_error(result.plan) is None


@pytest.mark.parametrize("simulated", [False, True])
def test_no_python_that_is_found_on_the_way_is_started(
    sources: Sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, simulated: bool
) -> None:
    """Without being told uv starts whatever is called Python and is found on the way."""
    programs, started = tmp_path / "programs", tmp_path / "started"
    programs.mkdir()
    for name in ("python", "python3", f"python{SERIES}"):
        program = programs / name
        program.write_text(f"#!/bin/sh\ntouch '{started}'\nexec '{INTERPRETER}' \"$@\"\n", encoding="utf-8")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    sources.serve("torch", f"{RELEASE}+cpu")
    assert summary(sources.ask(simulated=simulated))[:2] == (f"{RELEASE}+cpu", "index")
    assert not started.exists()


def test_mirror_stands_in_before_the_larger_build(sources: Sources) -> None:
    sources.serve("simple", RELEASE)
    sources.serve("mirror", f"{RELEASE}+cpu")
    result = sources.ask()
    assert summary(result) == (f"{RELEASE}+cpu", "mirror", {"source-mirror"})
    assert torch_file(result).source == "mirror"
    assert result.recommendation.pytorch is not None
    assert result.recommendation.pytorch.index_url == sources.mirror
    sources.server.seen.clear()
    assert summary(sources.ask(mirrors="never"))[1] == "general"
    assert not [seen for seen in sources.server.seen if seen.path.startswith("/mirror")]


def test_mirror_is_not_asked_where_own_index_answers(sources: Sources) -> None:
    sources.serve("torch", f"{RELEASE}+cpu")
    sources.serve("simple", RELEASE)
    sources.ask()
    assert not [seen for seen in sources.server.seen if seen.path.startswith("/mirror")]


def test_index_that_serves_another_build_is_not_believed(sources: Sources) -> None:
    sources.serve("torch", f"{RELEASE}+cu99")
    sources.serve("simple", RELEASE)
    assert summary(sources.ask())[1:] == ("general", {"source-on-cpu"})


def take_away(sources: Sources, name: str, version: str) -> None:
    """The index goes on to list the wheel, and its metadata is there."""
    del sources.server.files[tiny_wheels.file_path(name, tiny_wheels.torch(version))]


def test_wheel_that_is_listed_and_gone_is_replaced_by_the_general_build(sources: Sources) -> None:
    sources.serve("torch", f"{RELEASE}+cpu")
    take_away(sources, "torch", f"{RELEASE}+cpu")
    sources.serve("simple", RELEASE)
    result = sources.ask()
    assert summary(result) == (f"{RELEASE}+{GENERAL_VARIANT}", "general", {"source-on-cpu"})
    assert torch_file(result).checked is True


def test_wheel_that_is_listed_and_gone_is_replaced_by_the_older_release_of_its_index(sources: Sources) -> None:
    sources.serve("torch", f"{RELEASE}+cpu", f"{OLDER}+cpu")
    take_away(sources, "torch", f"{RELEASE}+cpu")
    sources.serve("simple")
    result = sources.ask()
    assert summary(result) == (f"{OLDER}+cpu", "index", {"source-older"})
    assert torch_file(result).name.startswith(f"torch-{OLDER}")


def test_wheel_that_is_listed_and_gone_everywhere_ends_before_consent(sources: Sources) -> None:
    sources.serve("torch", f"{RELEASE}+cpu")
    take_away(sources, "torch", f"{RELEASE}+cpu")
    sources.serve("simple")
    error = availability_error(sources.ask().plan)
    assert error is not None
    assert error.code == "source-none"


def test_bundle_for_another_computer_is_judged_by_the_network_that_downloads_it(sources: Sources) -> None:
    sources.server.files[PAGE] = Served(b"", faults=[Fault("status", status=503)] * 9)
    sources.serve("simple", RELEASE)
    assert summary(sources.ask(simulated=True, downloads_here=True))[1:] == ("general", {"source-on-cpu"})


def test_bundle_of_own_wheels_asks_nobody(sources: Sources) -> None:
    for page in (PAGE, "/simple/torch/", "/simple/numpy/"):
        sources.server.files[page] = Served(b"", faults=[Fault("status", status=503)] * 9)
    house = tiny_wheels.folder(
        sources.sandbox.root / "wheels", [tiny_wheels.torch(f"{RELEASE}+cpu"), *sources.sandbox.others]
    )
    result = sources.ask(simulated=True, downloads_here=True, wheelhouse=house)
    assert summary_codes(result) == set()
    assert availability_error(result.plan) is None
    assert sources.server.seen == []


def test_older_release_is_named_where_the_newest_is_not_there(sources: Sources) -> None:
    sources.serve("torch", f"{OLDER}+cpu")
    sources.serve("simple")
    result = sources.ask()
    assert summary(result) == (f"{OLDER}+cpu", "index", {"source-older"})
    assert torch_file(result).name.startswith(f"torch-{OLDER}")


def test_nothing_anywhere_ends_before_consent_with_what_to_do(sources: Sources) -> None:
    sources.serve("simple")
    result = sources.ask()
    build, source, codes = summary(result)
    assert (build, source, codes) == (f"{RELEASE}+cpu", None, {"source-none"})
    error = availability_error(result.plan)
    assert isinstance(error, NetworkError)
    for language in ("en", "zh_CN"):
        text = Texts(language).translate(error.message.code, error.data)
        assert "bundle create" in text
        assert "{" not in text


def test_chosen_build_is_told_absent_and_never_swapped(sources: Sources) -> None:
    sources.serve("simple", RELEASE)
    result = sources.ask(choice=Choice(pytorch=RELEASE, variant="cpu"))
    assert summary(result) == (f"{RELEASE}+cpu", None, {"source-none"})


def test_unreachable_index_says_nothing_of_another_computer(sources: Sources) -> None:
    sources.server.files[PAGE] = Served(b"", faults=[Fault("status", status=503)] * 9)
    sources.serve("simple", RELEASE)
    result = sources.ask(simulated=True)
    torch = result.recommendation.pytorch
    assert torch is not None
    assert (torch.variant, torch.source is msgspec.UNSET) == ("cpu", True)


def test_check_can_be_stopped(sources: Sources) -> None:
    sources.server.files[PAGE] = Served(b"silence", media="text/html", faults=[Fault("stall")] * 9)
    cancel = threading.Event()
    ended: list[AppError] = []

    def run() -> None:
        try:
            sources.job().run(JobContext(cancel=cancel))
        except AppError as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    assert sources.server.stalled.wait(60)
    cancel.set()
    thread.join(60)
    assert isinstance(ended[0], Cancelled)


def with_torchvision(sources: Sources, version: str) -> None:
    """The releases of the catalog have a torchvision."""
    catalog = sources.sandbox.catalog
    releases = tuple(
        msgspec.structs.replace(each, torchvision=type(each.version)(version)) for each in catalog.pytorch.releases
    )
    vars(catalog)["pytorch"] = msgspec.structs.replace(catalog.pytorch, releases=releases)


@pytest.mark.parametrize("there", [True, False])
def test_torchvision_is_asked_of_the_index_that_has_the_build(sources: Sources, there: bool) -> None:
    with_torchvision(sources, "0.9.0")
    vision = tiny_wheels.wheel("torchvision", "0.9.0+cpu" if there else "0.8.0+cpu")
    tiny_wheels.index(sources.server, "torch", [tiny_wheels.torch(f"{RELEASE}+cpu"), vision])
    sources.serve("simple", RELEASE)
    result = sources.ask()
    torch = result.recommendation.pytorch
    assert torch is not None
    assert summary(result) == (f"{RELEASE}+cpu", "index", set() if there else {"source-without"})
    assert torch.torchvision == ("0.9.0" if there else None)
    files = [file.name for step in result.plan.steps if step.kind == "download" for file in step.files]
    assert [name.partition("-")[0] for name in files] == ["torch", "torchvision"][: 2 if there else 1]
    assert availability_error(result.plan) is None


def test_torchvision_is_asked_of_the_index_that_steps_in(sources: Sources) -> None:
    with_torchvision(sources, "0.9.0")
    sources.serve("simple", RELEASE)
    assert summary(sources.ask()) == (f"{RELEASE}+{GENERAL_VARIANT}", "general", {"source-on-cpu", "source-without"})


def test_packages_that_only_the_general_index_has_are_missed_before_consent(sources: Sources) -> None:
    sources.serve("torch", f"{RELEASE}+cpu")
    for name in ("torch", "numpy"):
        sources.server.files[f"/simple/{name}/"] = Served(
            b"silence", media="text/html", faults=[Fault("status", status=503)] * 9
        )
    result = sources.ask()
    assert summary(result) == (f"{RELEASE}+cpu", "index", {"source-none-rest"})
    assert isinstance(availability_error(result.plan), NetworkError)


def test_general_index_without_a_torch_page_is_no_reason_to_stop(sources: Sources) -> None:
    sources.serve("torch", f"{RELEASE}+cpu")
    sources.server.files["/simple/torch/"] = Served(
        b"silence", media="text/html", faults=[Fault("status", status=503)] * 9
    )
    result = sources.ask()
    assert summary(result) == (f"{RELEASE}+cpu", "index", set())
    assert availability_error(result.plan) is None


@pytest.mark.parametrize(
    ("served", "version", "code"),
    [
        ("2.21.0", "2.21.0", None),
        ("2.20.0", "2.20", "source-older-tensorflow"),
        (None, "2.21.0", "source-none-tensorflow"),
    ],
)
def test_tensorflow_alone_is_asked_of_the_general_index(
    sources: Sources, served: str | None, version: str, code: str | None
) -> None:
    wheels = [tiny_wheels.wheel("tensorflow", served)] if served is not None else []
    tiny_wheels.index(sources.server, "simple", [*sources.sandbox.others, *wheels])
    result = sources.ask(goal="tensorflow")
    chosen = result.recommendation.tensorflow
    assert chosen is not None
    assert (chosen.version, summary_codes(result)) == (version, {code} if code is not None else set())
    error = availability_error(result.plan)
    assert (error is not None and error.code == code) == (served is None)
    if served is not None:
        assert torch_file(result).name.startswith(f"tensorflow-{served}")


def test_files_of_publishers_are_asked_for_their_first_byte(sources: Sources) -> None:
    sources.serve("torch", f"{RELEASE}+cpu")
    sources.serve("simple", RELEASE)
    there = sources.server.add("/driver.exe", b"driver")
    gone = sources.server.url + "/gone.exe"
    login = sources.server.add("/login.exe", b"<html>", media="text/html")
    job = sources.job()
    with_files = _plan_with(job, {"there": there, "gone": gone, "login": login}, sources)
    result = with_files.run(JobContext())
    assert result.files == {there: True, gone: False, login: None}
    error = availability_error(result.plan)
    assert error is not None
    assert (error.code, error.data["name"]) == ("file-gone", "gone")
    assert [seen.range for seen in sources.server.gets("/driver.exe")] == ["bytes=0-0"]


def test_file_that_a_mirror_may_have_is_not_gone(sources: Sources) -> None:
    sources.serve("torch", f"{RELEASE}+cpu")
    sources.serve("simple", RELEASE)
    catalog, server = sources.sandbox.catalog, sources.server.url
    publisher = next(each for each in catalog.mirrors.publishers if each.id == "pytorch-wheels")
    publishers = (msgspec.structs.replace(publisher, files=f"{server}/files/"),)
    mirrored = (msgspec.structs.replace(catalog.mirrors.mirrors[0], files=f"{server}/mirrored/"),)
    vars(catalog)["mirrors"] = msgspec.structs.replace(catalog.mirrors, publishers=publishers, mirrors=mirrored)
    files = {"gone": f"{server}/files/gone.exe"}
    for mirrors, code in (("when-slow", None), ("never", "file-gone")):
        job = _plan_with(sources.job(), files, sources, mirrors=mirrors, sha256="0" * 64)
        error = availability_error(job.run(JobContext()).plan)
        assert (error.code if error is not None else None) == code


def _plan_with(
    job: AvailableSetupJob,
    files: dict[str, str],
    sources: Sources,
    *,
    mirrors: Any = "never",
    sha256: str | None = None,
) -> AvailableSetupJob:
    """The same job whose first step has files of publishers."""
    listed = tuple(PlanFile(url=url, name=name, sha256=sha256) for name, url in files.items())

    def plan(recommendation: Recommendation) -> Plan:
        made = job.make_plan(recommendation)
        first, *rest = made.steps
        return msgspec.structs.replace(made, steps=(msgspec.structs.replace(first, files=listed), *rest))

    context = PreviewContext(sources.sandbox.system, sources.sandbox.data, sources.sandbox.catalog)
    return AvailableSetupJob(sources.machine, context, recommend=job.recommend, plan=plan, mirrors=mirrors)


def test_plan_from_general_index_installs_and_wrong_hash_changes_nothing(sources: Sources) -> None:
    sources.serve("simple", RELEASE, lies=True)
    plan = sources.ask().plan
    with pytest.raises(AppError) as caught:
        sources.sandbox.install(plan)
    assert caught.value.code == "hash-mismatch"
    assert not sources.sandbox.environment.exists()
    sources.serve("simple", RELEASE)
    sources.sandbox.install(plan)
    assert sources.sandbox.environment.is_dir()
    assert not [seen for seen in sources.server.seen if seen.path == PAGE][1:]  # asked once, by the check


def test_environment_from_the_general_index_stays_when_its_own_answers_again(sources: Sources) -> None:
    sources.serve("simple", RELEASE)
    first = sources.ask()
    assert summary(first)[:2] == (f"{RELEASE}+{GENERAL_VARIANT}", "general")
    sources.sandbox.install(first.plan)
    sources.serve("torch", f"{RELEASE}+cpu")
    again = sources.ask()
    assert summary(again)[:2] == summary(first)[:2]
    assert states(sources.sandbox.install(again.plan))["pytorch"] == "skipped"
    # What the user picks is another matter.
    chosen = sources.ask(choice=Choice(variant="cpu"))
    assert summary(chosen)[:2] == (f"{RELEASE}+cpu", "index")
