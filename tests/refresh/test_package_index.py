"""Facts of the general package index, which is on loopback: into the catalog by a refresh, beside it by a check."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from gpu_assistant.advise.builds import cuda_builds
from gpu_assistant.catalog.store import Catalog, load_catalog
from gpu_assistant.catalog.validation import validate_catalog
from gpu_assistant.cli.main import run
from gpu_assistant.core.errors import Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import DataDir
from gpu_assistant.core.recommendation import SourceState
from gpu_assistant.core.versions import Capability, Version
from gpu_assistant.install.packages.package_index import PackageIndex
from gpu_assistant.install.packages.uv import Uv
from gpu_assistant.refresh.index_check import FactComparison, compare_facts
from gpu_assistant.refresh.index_facts import IndexFacts, TorchRequirements, merge_pytorch_facts
from gpu_assistant.refresh.index_reader import ReleaseIndex, read_first
from gpu_assistant.refresh.job import RefreshJob, RefreshResult
from gpu_assistant.system import current_system
from tests.fakes.fault_server import Fault, FaultServer, fault_server
from tests.install.tiny_wheels import Wheel, index, wheel
from tests.refresh.conftest import FLOOR, LAST_DAY, TODAY
from tests.refresh.publisher_pages import Publishers

Refresh = Callable[..., RefreshResult]
TORCH_NEEDS = ("cuda-toolkit==13.9.2", "nvidia-cudnn-cu13==9.99.1.4")
NEW_TOOLKIT = wheel("cuda-toolkit", "13.9.2")


def known_cudnn(major: int) -> list[str]:
    """The two newest cuDNN releases of which the catalog says that there is a package."""
    releases = load_catalog(FLOOR).cudnn.releases
    return [each.version.text for each in releases if major in each.wheels and not each.yanked][:2]


def packages(*, torch: Sequence[Wheel] = ()) -> list[Wheel]:
    """One new release of each, and releases that the catalog knows."""
    return [
        *torch,
        NEW_TOOLKIT,
        wheel("cuda-toolkit", "13.4.3.0"),
        wheel("cuda-toolkit", "13.4.2"),
        *(wheel("nvidia-cudnn-cu13", version) for version in ("9.99.1.4", *known_cudnn(13))),
        *(wheel("nvidia-cudnn-cu12", version) for version in known_cudnn(12)),
        wheel("tensorflow", load_catalog(FLOOR).tensorflow.newest.text),
    ]


def known_torch() -> Wheel:
    """The newest PyTorch that the catalog knows, with what it says of its build for Linux."""
    release = load_catalog(FLOOR).releases[0]
    build = next(b for b in release.variants if (b.system, b.variant) == ("linux", release.default_variant["linux"]))
    needs = (f"cuda-toolkit=={build.cuda}", f"nvidia-cudnn-cu13=={build.cudnn}")
    return wheel("torch", release.version.text, requires=needs)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as server:
        yield server


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., PackageIndex]:
    monkeypatch.delenv("UV_OFFLINE", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def make(url: str, *, seconds: float = 60.0, cancel: threading.Event | None = None) -> PackageIndex:
        uv = Uv(current_system(), DataDir(tmp_path / "data"), cancel=cancel, retries=0)
        return PackageIndex(uv, tmp_path / "ask", seconds=seconds, url=url)

    return make


@pytest.fixture
def refresh_with(publishers: Publishers, folder: Path) -> Refresh:
    def run(indexes: Iterable[ReleaseIndex]) -> RefreshResult:
        catalog = load_catalog(FLOOR, folder, today=LAST_DAY)
        job = RefreshJob(catalog, publishers.source, folder, today=TODAY, indexes=lambda _cancel: indexes)
        return job.run(JobContext())

    return run


def news(done: RefreshResult) -> dict[str, tuple[str, int, str | None]]:
    """What the index said, which comes after the four publishers."""
    return {one.subject: (one.state, one.added, one.why) for one in done.subjects[4:]}


def served(server: FaultServer, wheels: Sequence[Wheel]) -> str:
    """The index's address; it has another path each time, since uv remembers pages."""
    return index(server, f"simple{len(server.files)}", wheels)


# An index, asked


def test_newest_release_and_the_one_below_it(server: FaultServer, ask: Callable[..., PackageIndex]) -> None:
    asked = ask(served(server, packages()))
    assert asked.resolve(["cuda-toolkit", "nvidia-cudnn-cu12"], python="3.12") == (
        "available",
        {"cuda-toolkit": "13.9.2", "nvidia-cudnn-cu12": known_cudnn(12)[0]},
    )
    assert asked.resolve(["cuda-toolkit<13.9.2"], python="3.12")[1] == {"cuda-toolkit": "13.4.3.0"}
    assert asked.resolve(["cuda-toolkit<13"], python="3.12") == ("absent", {})
    assert asked.resolve(["nothing-of-this-name"], python="3.12") == ("absent", {})


def test_asking_for_what_a_release_requires_downloads_no_wheel(
    server: FaultServer, ask: Callable[..., PackageIndex]
) -> None:
    asked = ask(served(server, packages(torch=[wheel("torch", "9.1.0", requires=TORCH_NEEDS)])))
    state, versions = asked.resolve(["torch"], python="3.12", dependencies=True)
    assert (state, versions) == (
        "available",
        {"torch": "9.1.0", "cuda-toolkit": "13.9.2", "nvidia-cudnn-cu13": "9.99.1.4"},
    )
    assert [seen.path for seen in server.seen if seen.path.endswith(".whl")] == []


def test_page_without_hashes_is_read_and_no_wheel_fetched(
    server: FaultServer, ask: Callable[..., PackageIndex]
) -> None:
    path = f"/files/{NEW_TOOLKIT.name}"
    server.add(path, NEW_TOOLKIT.data)
    server.add(f"{path}.metadata", NEW_TOOLKIT.metadata)
    anchor = f'<a href="{path}" data-core-metadata="true">{NEW_TOOLKIT.name}</a>'
    page = f"<!DOCTYPE html><html><body>{anchor}</body></html>"
    server.add("/simple/cuda-toolkit/", page.encode(), media="text/html", etag=None)
    answer = ask(f"{server.url}/simple").resolve(["cuda-toolkit"], python="3.12")
    assert answer == ("available", {"cuda-toolkit": "13.9.2"})
    assert server.gets(path) == []


def test_index_that_does_not_answer_in_time_is_late(server: FaultServer, ask: Callable[..., PackageIndex]) -> None:
    url = served(server, packages())
    server.files[f"{url.removeprefix(server.url)}/cuda-toolkit/"].faults = [Fault("stall")] * 5
    assert ask(url, seconds=2.0).resolve(["cuda-toolkit"], python="3.12") == ("late", {})


def test_refused_connection_is_unreachable(ask: Callable[..., PackageIndex]) -> None:
    with fault_server() as server:
        url = server.url
    assert ask(f"{url}/simple").resolve(["cuda-toolkit"], python="3.12") == ("unreachable", {})


def test_cancel_ends_a_question(server: FaultServer, ask: Callable[..., PackageIndex]) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        ask(served(server, packages()), cancel=cancel).resolve(["cuda-toolkit"], python="3.12")


def test_page_that_asks_to_log_in_is_no_index(
    server: FaultServer, ask: Callable[..., PackageIndex], refresh_with: Refresh
) -> None:
    for name in ("torch", "cuda-toolkit", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13", "tensorflow"):
        page = b"<!DOCTYPE html><html><body>Please log in</body></html>"
        server.add(f"/simple/{name}/", page, media="text/html", etag=None)
    done = refresh_with([ask(f"{server.url}/simple")])
    assert set(news(done).values()) == {("failed", 0, "garbage")}


# A refresh


def test_new_releases_of_the_index_come_into_the_catalog(
    server: FaultServer, ask: Callable[..., PackageIndex], refresh_with: Refresh, refreshed: Callable[[], Catalog],
    folder: Path,
) -> None:  # fmt: skip
    wheels = packages(torch=[wheel("torch", "9.2.0", requires=TORCH_NEEDS), known_torch()])
    done = refresh_with([ask(served(server, wheels))])
    assert news(done)["cuda"] == ("updated", 1, None)
    assert news(done)["cudnn"] == ("updated", 1, None)
    assert news(done)["pytorch"] == ("updated", 1, None)
    catalog = refreshed()
    build = catalog.build("9.2.0", "cu139", "linux", "x86_64")
    assert build is not None
    assert (build.cuda, build.cudnn, build.arch_list) == (Version("13.9.2"), Version("9.99.1.4"), None)
    toolkit = catalog.cuda.toolkit("13.9.2")
    assert toolkit is not None
    assert (toolkit.redist_index, toolkit.lowest_capability, toolkit.source) == (None, None, "live-index")
    cudnn = next(release for release in catalog.cudnn.releases if release.version.text == "9.99.1.4")
    assert (cudnn.wheels, cudnn.cuda_majors, cudnn.lowest_capability, cudnn.archives) == ((13,), (13,), {}, ())
    assert catalog.cuda.sources["live-index"].url is None
    assert validate_catalog(folder, FLOOR) == ()
    runnable = cuda_builds(catalog, "linux", "x86_64", Capability("8.9"))
    assert Version("9.2.0") not in {each.release.version for each, _ in runnable}


def test_catalog_that_the_index_confirms_stays_as_it_is(
    server: FaultServer, ask: Callable[..., PackageIndex], refresh_with: Refresh, refreshed: Callable[[], Catalog]
) -> None:
    release = load_catalog(FLOOR).releases[0]
    known = [each for each in packages(torch=[known_torch()]) if each is not NEW_TOOLKIT and "9.99" not in each.name]
    build = next(b for b in release.variants if b.variant == release.default_variant["linux"])
    known += [wheel("cuda-toolkit", str(build.cuda)), wheel("nvidia-cudnn-cu13", str(build.cudnn))]
    done = refresh_with([ask(served(server, known))])
    assert set(news(done).values()) == {("unchanged", 0, None)}
    assert "live-index" not in refreshed().pytorch.sources


def test_range_instead_of_an_exact_requirement_is_no_fact(
    server: FaultServer, ask: Callable[..., PackageIndex], refresh_with: Refresh, refreshed: Callable[[], Catalog]
) -> None:
    ranges = ("cuda-toolkit>=13.4,<14", "nvidia-cudnn-cu13>=9.27")
    refresh_with([ask(served(server, packages(torch=[wheel("torch", "9.2.0", requires=ranges), known_torch()])))])
    build = refreshed().build("9.2.0", "cu139", "linux", "x86_64")
    assert build is not None
    assert (build.cuda, build.cudnn) == (None, None)


@pytest.mark.parametrize(
    ("is_exact", "cudnn", "expected"),
    [(True, "9.24.0.43", "9.24.0.43"), (False, "9.24.0.43", None)],
    ids=["exact", "range"],
)
def test_unknown_cudnn_of_a_known_build_is_filled_in_where_it_is_exact(
    cudnn: str, expected: str | None, *, is_exact: bool
) -> None:
    current = load_catalog(FLOOR).pytorch
    release = current.releases[0]
    position, build = next(
        (i, b) for i, b in enumerate(release.variants) if (b.system, b.arch, b.variant) == ("linux", "x86_64", "cu132")
    )
    variants = list(release.variants)
    variants[position] = replace(build, cudnn=None)
    without = replace(current, releases=(replace(release, variants=tuple(variants)), *current.releases[1:]))
    told = TorchRequirements(
        version=release.version, python="3.13", cuda=Version("13.2.9"), cudnn=Version(cudnn), is_exact=is_exact
    )
    merged = merge_pytorch_facts(without, IndexFacts(pytorch=(told,)), wheel_index="x", known_majors={13})
    filled = merged.subject.releases[0].variants[position]
    assert (merged.added, filled.cudnn) == (int(is_exact), Version.parse(expected))
    # What is known stays, also where the index says otherwise.
    assert filled.cuda == build.cuda


def test_silent_index_leaves_what_the_publishers_said(
    ask: Callable[..., PackageIndex], refresh_with: Refresh, refreshed: Callable[[], Catalog]
) -> None:
    with fault_server() as closed:
        url = closed.url
    done = refresh_with([ask(f"{url}/simple")])
    assert [(one.state, one.why) for one in done.subjects[:4]] == [("updated", None)] * 4
    assert [(one.state, one.why) for one in done.subjects[4:]] == [("failed", "unreachable")] * 3
    assert refreshed().cuda.toolkits[0].version == Version("13.9.1")


def test_mirror_answers_for_a_silent_index(
    server: FaultServer, ask: Callable[..., PackageIndex], refresh_with: Refresh
) -> None:
    with fault_server() as closed:
        silent = ask(f"{closed.url}/simple")
    done = refresh_with([silent, ask(served(server, packages()))])
    assert news(done)["cuda"] == ("updated", 1, None)


def test_what_does_not_fit_of_the_index_is_left_out_and_the_publishers_word_stays(
    server: FaultServer, ask: Callable[..., PackageIndex], refresh_with: Refresh, refreshed: Callable[[], Catalog]
) -> None:
    needs = ("cuda-toolkit==13.100.0", "nvidia-cudnn-cu13==9.99.1.4")
    wheels = [*packages(torch=[wheel("torch", "9.2.0", requires=needs)]), wheel("cuda-toolkit", "13.100.0")]
    done = refresh_with([ask(served(server, wheels))])
    assert news(done)["pytorch"] == ("failed", 0, "garbage")
    assert news(done)["cudnn"] == ("updated", 1, None)
    # The publishers' own page had 9.1.0.
    assert refreshed().releases[0].version == Version("9.1.0")
    assert done.subjects[0].state == "updated"


class EndlessIndex:
    """Always has one release more, whatever bound it is asked for."""

    host = "endless.example"

    def __init__(self) -> None:
        self.questions = 0

    def resolve(
        self, requirements: Sequence[str], *, python: str, constraints: Sequence[str] = (), dependencies: bool = False
    ) -> tuple[SourceState, dict[str, str]]:
        assert python
        assert not constraints or dependencies
        self.questions += 1
        names = [each.partition("<")[0].partition("=")[0] for each in requirements]
        return "available", dict.fromkeys(names, f"{900 + self.questions}.1")


def test_index_without_an_end_is_left_after_its_first_answers() -> None:
    endless = EndlessIndex()
    read_first([endless], load_catalog(FLOOR), 12, until_known=True, check_cancelled=lambda: None)
    assert endless.questions < 10


# A check


def test_each_fact_is_confirmed_different_or_unknown() -> None:
    catalog = load_catalog(FLOOR)
    newest, second, third = catalog.releases[:3]
    build = catalog.build(newest.version.text, newest.default_variant["linux"], "linux", "x86_64")
    assert build is not None
    facts = IndexFacts(
        pytorch=(
            TorchRequirements(version=Version("9.2.0"), python="3.12", cuda=Version("13.9.2"), cudnn=None),
            TorchRequirements(
                version=newest.version, python="3.12", cuda=build.cuda, cudnn=Version("9.1.0.70"), is_exact=True
            ),
            TorchRequirements(version=third.version, python="3.12", cuda=None, cudnn=None),
        ),
        toolkits=(Version("13.9.2"), Version("13.4.3.0")),
        cudnn={13: (Version("9.28.0.42"), Version("9.26.1.1")), 12: (Version("9.99.1.4"),)},
        tensorflow=Version("2.99.0"),
    )
    told = {(one.version, one.fact, one.cuda_major): one for one in compare_facts(catalog, facts)}
    states = {key: one.state for key, one in told.items()}
    assert states["9.2.0", "release", None] == "unknown"
    assert states[newest.version.text, "cuda", None] == "confirmed"
    assert states[newest.version.text, "cudnn", None] == "different"
    assert states[third.version.text, "build", None] == "different"
    missing = told[second.version.text, "release", None]
    assert (missing.state, missing.index) == ("different", None)
    assert states["13.9.2", "release", None] == "unknown"
    assert states["13.4.3.0", "release", None] == "confirmed"
    assert states["9.28.0.42", "package", 13] == "confirmed"
    assert told["9.27.0.42", "package", 13] == FactComparison(
        subject="cudnn",
        version="9.27.0.42",
        fact="package",
        state="different",
        catalog="9.27.0.42",
        index=None,
        cuda_major=13,
    )
    assert states["9.99.1.4", "package", 12] == "unknown"
    # Yanked: it is right that the index does not offer it; older ones were not asked for.
    assert ("9.25.0.15", "package", 13) not in states
    assert ("9.24.0.43", "package", 13) not in states
    assert (told["2.99.0", "newest", None].state, told["2.99.0", "newest", None].catalog) == ("unknown", None)


@pytest.fixture
def command_line(server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """The command line where the user's general index is the one on loopback."""
    monkeypatch.delenv("UV_OFFLINE", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def call(wheels: Sequence[Wheel], *arguments: str) -> int:
        monkeypatch.setenv("UV_DEFAULT_INDEX", served(server, wheels).replace("://", "://me:s3cret@"))
        return run(["catalog", *arguments, "--data-dir", str(tmp_path / "data")])

    return call


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_check_against_the_index_names_what_is_new_and_ends_well(
    command_line: Callable[..., int], capsys: pytest.CaptureFixture[str], language: str
) -> None:
    assert command_line(packages(), "check", "--against-index", "--lang", language) == 0
    done = capsys.readouterr()
    unknown, confirmed = done.out.split("\n  ")[1:3], done.out
    assert [line.split("\n")[0] for line in unknown] == {
        "en": ["CUDA Toolkit 13.9.2", "cuDNN 9.99.1.4 for CUDA 13"],
        "zh_CN": ["CUDA Toolkit 13.9.2", "cuDNN 9.99.1.4（CUDA 13）"],
    }[language]
    assert "13.4.3" in confirmed
    assert "s3cret" not in done.out + done.err
    assert "127.0.0.1" in done.err


def test_check_against_the_index_as_json_and_with_a_difference(
    command_line: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    missing = known_cudnn(13)[0]
    wheels = [each for each in packages() if not each.name.startswith(f"nvidia_cudnn_cu13-{missing}-")]
    assert command_line(wheels, "check", "--against-index", "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["findings"]) == ("gpu-assistant/catalog-check/1", [])
    assert document["index"]["host"] == "127.0.0.1"
    facts = {(each["subject"], each["version"], each["cuda_major"]): each for each in document["index"]["facts"]}
    assert facts["cudnn", missing, 13] == {
        "subject": "cudnn",
        "version": missing,
        "fact": "package",
        "state": "different",
        "catalog": missing,
        "index": None,
        "cuda_major": 13,
    }
    assert {each["state"] for each in facts.values()} == {"confirmed", "different", "unknown"}


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_check_against_a_silent_index_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    with fault_server() as closed:
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"{closed.url}/simple")
    monkeypatch.delenv("UV_OFFLINE", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    arguments = ["catalog", "check", "--against-index", "--data-dir", str(tmp_path / "data"), "--lang", language]
    assert run([*arguments, "--json"]) == 6
    done = capsys.readouterr()
    assert json.loads(done.out)["index"] is None
    assert "Traceback" not in done.err
    assert "{" not in done.err
    assert "@" not in done.err


def test_nobody_is_asked_where_uv_is_offline(
    server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", served(server, packages()))
    monkeypatch.setenv("UV_OFFLINE", "1")
    assert run(["catalog", "check", "--against-index", "--data-dir", str(tmp_path / "data")]) == 6
    assert server.seen == []


def test_option_belongs_to_check_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalog", "show", "--against-index"]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_faults_of_the_files_come_before_any_question(
    server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in FLOOR.glob("*.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    cuda = msgspec.json.decode((tmp_path / "cuda.json").read_bytes())
    cuda["toolkits"].reverse()
    (tmp_path / "cuda.json").write_bytes(msgspec.json.encode(cuda))
    monkeypatch.setenv("UV_DEFAULT_INDEX", served(server, packages()))
    monkeypatch.delenv("UV_OFFLINE", raising=False)
    assert run(["catalog", "check", str(tmp_path), "--against-index", "--data-dir", str(tmp_path / "data")]) == 1
    assert server.seen == []
