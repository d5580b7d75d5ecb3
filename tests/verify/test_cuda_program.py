"""The proof of a toolkit: with a compiler in nvcc's place, and a fault at each stage named in both languages."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core.errors import Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.results import Check
from gpu_assistant.system import current_system
from gpu_assistant.system.nvml import library as nvml_library
from gpu_assistant.texts.localized import Texts
from gpu_assistant.verify.cuda_program import TOOLKIT_CHECK_IDS, CudnnFiles, HostPrograms, ToolkitProof, prove_toolkit
from gpu_assistant.verify.job import EXTENSION_CHECK_ID, EXTENSION_CHILD, VerifyJob

from ..fakes.environments import environment_with
from ..nvml.machines import RTX_4060
from ..nvml.scenario import Scenario, built

pytestmark = pytest.mark.skipif(current_system().name == "windows", reason="scripts in the compilers' places")

NVCC = """#!/bin/sh
case "$*" in *--version*) echo "Cuda compilation tools, release 13.2, V13.2.86"; exit 0;; esac
echo "$@" >> "{calls}"
case "$*" in *-lcudnn*) {with_cudnn} ;; esac
{compile}
while [ "$1" != "-o" ]; do shift; done
printf '%s\\n' '#!/bin/sh' {program} > "$2"
chmod +x "$2"
"""
ANSWERS = ("runtime 13020", "cudnn 92600 92600", "device 0 right")


class Bench:
    """A toolkit and compilers below a folder."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.toolkit, self.programs = root / "cuda", root / "programs"
        self.programs.mkdir()
        for name in ("bin", "lib", "include"):
            (self.toolkit / name).mkdir(parents=True)
        self.calls = root / "calls"
        self.calls.touch()
        (self.toolkit / "include/cudnn.h").touch()
        (self.toolkit / "lib/libcudnn.so").touch()
        monkeypatch.delenv("NVCC_CCBIN", raising=False)
        monkeypatch.setenv("PATH", f"{self.programs}:/usr/bin:/bin")
        self.gcc("g++", "12.2.0")
        self.nvcc(*ANSWERS)

    def gcc(self, name: str, version: str) -> Path:
        return script(self.programs / name, f"#!/bin/sh\necho {version}\n")

    def nvcc(self, *answers: str, compile: str = ":", with_cudnn: str = ":") -> None:  # noqa: A002 - the program's own word
        program = " ".join(f"'echo \"{line}\"'" for line in answers)
        text = NVCC.format(calls=self.calls, compile=compile, with_cudnn=with_cudnn, program=program or "'exit 3'")
        script(self.toolkit / "bin/nvcc", text)

    def prove(
        self, *capabilities: str, newest_gnu: int | None = 15, **more: str | CudnnFiles
    ) -> tuple[dict[str, Check], HostPrograms | None]:
        checks: list[Check] = []
        proof = ToolkitProof(folder=self.toolkit, version="13.2.2", newest_gnu=newest_gnu, **more)  # type: ignore[arg-type]
        event = threading.Event()
        programs = prove_toolkit(
            proof, capabilities, current_system(), cancel=event, report=checks.append, log=lambda _line: None
        )
        assert tuple(check.id for check in checks) == TOOLKIT_CHECK_IDS
        for language in ("en", "zh_CN"):
            for check in checks:
                assert "{" not in Texts(language).check_text(check)
        return {check.id: check for check in checks}, programs


def script(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


def test_program_is_compiled_for_each_chip_and_every_check_passes(bench: Bench) -> None:
    checks, programs = bench.prove("8.9", "12.0", "8.9")
    assert {check.state for check in checks.values()} == {"pass"}
    assert checks["nvcc"].value == "13.2.86"
    assert checks["cuda-compile"].value == "sm_120, sm_89"
    assert checks["cudnn-link"].value == "9.26.0"
    assert checks["cuda-run"].value == 1
    (command,) = bench.calls.read_text().splitlines()
    assert "-gencode=arch=compute_89,code=sm_89 " in command
    assert f"-ccbin {bench.programs / 'g++'} " in command
    assert programs == HostPrograms(toolkit=bench.toolkit, nvcc_major=13, compiler=bench.programs / "g++")


def test_unknown_card_leaves_chip_to_nvcc(bench: Bench) -> None:
    checks, _ = bench.prove()
    assert "-gencode" not in bench.calls.read_text()
    assert (checks["cuda-compile"].state, checks["cuda-compile"].data["case"]) == ("pass", "default")


@pytest.mark.parametrize(
    ("answer", "visible", "reason"),
    [
        # What a program linked with the runtime of CUDA 13.2 said: without libcuda, beside 535's, beside that of 470.
        ("35 0 CUDA driver version is insufficient for CUDA runtime version", None, "@verify.reason.no-driver"),
        (
            "35 12020 CUDA driver version is insufficient for CUDA runtime version",
            None,
            "@verify.reason.driver-too-old-toolkit",
        ),
        ("34 0 CUDA driver is a stub library", None, "@verify.reason.driver-stub"),
        ("100 13020 no CUDA-capable device is detected", None, "@verify.reason.program-no-device"),
        ("100 13020 no CUDA-capable device is detected", "", "@verify.reason.hidden-devices"),
        ("304 13020 OS call failed or operation not supported on this OS", None, "OS call failed or operation"),
    ],
)
def test_without_card_the_cause_is_named(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, answer: str, visible: str | None, reason: str
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    bench.nvcc("runtime 13020", "cudnn 92600 92600", f"none {answer}")
    checks, programs = bench.prove("8.9")
    check = checks["cuda-run"]
    assert (check.state, str(check.data["reason"]).startswith(reason)) == ("skip", True)
    assert Texts("en").check_text(check).startswith("The compiled program starts, but uses no graphics card: ")
    assert "insufficient" not in Texts("zh_CN").check_text(check)
    assert checks["cudnn-link"].state == "pass"
    assert programs is not None


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("device 0 wrong", "@verify.reason.wrong-result"),
        ("device 0 no kernel image is available for execution on the device", "GPU 0: no kernel image"),
    ],
)
def test_card_that_computes_wrong_fails(bench: Bench, answer: str, reason: str) -> None:
    bench.nvcc("runtime 13020", "cudnn 92600 92600", answer)
    checks, _ = bench.prove("8.9")
    assert checks["cuda-run"].state == "fail"
    assert str(checks["cuda-run"].data["reason"]).startswith(reason)


def test_compiler_that_refuses_is_quoted(bench: Bench) -> None:
    bench.nvcc(compile='echo "proof.cu(3): error: exception specification is incompatible (rsqrt)" >&2; exit 2')
    checks, programs = bench.prove("8.9")
    assert "rsqrt" in str(checks["cuda-compile"].data["reason"])
    assert [checks[name].state for name in ("cuda-compile", "cudnn-link", "cuda-run")] == ["fail", "skip", "skip"]
    assert programs is None


def test_cudnn_that_cannot_be_linked_fails_alone(bench: Bench) -> None:
    bench.nvcc("runtime 13020", "device 0 right", with_cudnn='echo "/usr/bin/ld: cannot find -lcudnn" >&2; exit 1')
    checks, _ = bench.prove("8.9")
    assert [checks[name].state for name in ("cuda-compile", "cudnn-link", "cuda-run")] == ["pass", "fail", "pass"]
    assert "-lcudnn" in str(checks["cudnn-link"].data["reason"])


def test_other_cudnn_on_the_path_is_warned_of(bench: Bench) -> None:
    bench.nvcc("runtime 13020", "cudnn 91000 92600", "device 0 right")
    checks, _ = bench.prove("8.9")
    check = checks["cudnn-link"]
    assert (check.state, check.value, check.expected) == ("warn", "9.10.0", "9.26.0")


def test_toolkit_without_cudnn_skips_linking(bench: Bench) -> None:
    (bench.toolkit / "include/cudnn.h").unlink()
    bench.nvcc("runtime 13020", "device 0 right")
    checks, _ = bench.prove("8.9")
    assert checks["cudnn-link"].data["reason"] == "@verify.reason.no-cudnn-header"
    assert "-lcudnn" not in bench.calls.read_text()


def test_kept_cudnn_is_linked_where_the_toolkit_has_none(bench: Bench, tmp_path: Path) -> None:
    (bench.toolkit / "include/cudnn.h").unlink()
    include, library = tmp_path / "usr/include", tmp_path / "usr/lib/libcudnn.so"
    checks, _ = bench.prove("9.0", kept_cudnn=CudnnFiles(include=include, library=library))
    assert (checks["cudnn-link"].state, checks["cudnn-link"].value) == ("pass", "9.26.0")
    (command,) = bench.calls.read_text().splitlines()
    assert f"-I {include} -L {library.parent} -lcudnn" in command


def test_too_new_compiler_gives_way_to_older_one_beside_it(bench: Bench) -> None:
    bench.gcc("g++", "16.1.0")
    older = bench.gcc("g++-14", "14.2.0")
    checks, programs = bench.prove("8.9")
    assert checks["host-compiler"].value == "GCC 14.2.0"
    assert programs is not None
    assert programs.compiler == older


def test_too_new_compiler_alone_is_warned_of_with_command(bench: Bench) -> None:
    bench.gcc("g++", "16.1.0")
    checks, programs = bench.prove("8.9", newest_gnu=2, install_older_compiler="sudo apt-get install g++-2")
    check = checks["host-compiler"]
    assert (check.state, check.value) == ("warn", "GCC 16.1.0")
    assert check.data["case"] == "version-command"
    assert not bench.calls.read_text()
    assert checks["cuda-compile"].data["reason"] == "@verify.reason.no-compiler"
    assert programs is None


def test_missing_compiler_is_warned_of_with_command(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    (bench.programs / "g++").unlink()
    monkeypatch.setenv("PATH", str(bench.programs))
    checks, _ = bench.prove("8.9", newest_gnu=2, install_compiler="sudo apt-get install g++")
    check = checks["host-compiler"]
    assert (check.state, check.value, check.data["case"]) == ("warn", None, "command")
    assert checks["cuda-run"].state == "skip"


def test_chosen_compiler_is_used(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = bench.gcc("own-g++", "13.1.0")
    monkeypatch.setenv("NVCC_CCBIN", str(chosen))
    checks, programs = bench.prove("8.9")
    assert checks["host-compiler"].value == "GCC 13.1.0"
    assert programs is not None
    assert programs.compiler == chosen


@pytest.mark.parametrize("text", ["#!/bin/sh\necho broken >&2; exit 1\n", "#!/bin/sh\necho hello\n"])
def test_nvcc_that_does_not_answer_fails_and_skips_the_rest(bench: Bench, text: str) -> None:
    script(bench.toolkit / "bin/nvcc", text)
    checks, _ = bench.prove("8.9")
    assert checks["nvcc"].state == "fail"
    assert {checks[name].state for name in TOOLKIT_CHECK_IDS[1:]} == {"skip"}


def test_program_that_dies_fails(bench: Bench) -> None:
    bench.nvcc()
    checks, _ = bench.prove("8.9")
    assert (checks["cudnn-link"].state, checks["cuda-run"].state) == ("fail", "fail")


def test_cancel_ends_it_and_leaves_no_folder(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    cancel = threading.Event()

    def report(check: Check) -> None:
        if check.id == "host-compiler":
            cancel.set()

    with pytest.raises(Cancelled):
        prove_toolkit(
            ToolkitProof(folder=bench.toolkit, newest_gnu=15),
            (),
            current_system(),
            cancel=cancel,
            report=report,
            log=lambda _line: None,
        )
    assert list(scratch.iterdir()) == []


def test_host_compiler_that_prints_without_end_is_none(bench: Bench) -> None:
    script(bench.programs / "g++", "#!/bin/sh\n/usr/bin/head -c 3000000 /dev/zero | /usr/bin/tr '\\0' x\n")
    checks, programs = bench.prove(newest_gnu=None)
    assert (checks["host-compiler"].state, programs) == ("warn", None)
    assert checks["host-compiler"].data["reason"] == "@verify.reason.compiler-missing"


def test_environment_with_toolkit_is_proven_with_it(bench: Bench, tmp_path: Path) -> None:
    """A PyTorch that is none builds no extension."""
    environment = environment_with(tmp_path / "env", "__version__ = '2.13.0+cpu'")
    proof = ToolkitProof(folder=bench.toolkit, version="13.2.2", newest_gnu=15)
    checks = VerifyJob(environment, current_system(), time_limit=60, toolkit=proof).run(JobContext())
    results = {check.id: check for check in checks.checks}
    assert {results[name].state for name in TOOLKIT_CHECK_IDS} == {"pass"}
    assert results["cuda-run"].state == "pass"
    assert results[EXTENSION_CHECK_ID].state in ("fail", "skip")
    for language in ("en", "zh_CN"):
        assert all(check.text for check in Texts(language).localize_checks(checks).checks)


@pytest.mark.skipif(current_system().name != "linux", reason="the library is found by its path")
@pytest.mark.parametrize(
    ("answer", "nvml", "reason"),
    [
        ("none 803 13020 system has unsupported display driver", "!18", "driver-mismatch"),
        ("none 35 12020 CUDA driver version is insufficient", "!18", "driver-mismatch"),
        ("none 100 13020 no CUDA-capable device is detected", "!9", "no-driver"),
        # It is too old, whether it runs or not.
        ("none 35 12020 CUDA driver version is insufficient", "!9", "driver-too-old-toolkit"),
    ],
)
def test_program_without_a_card_has_the_drivers_state_as_its_reason(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, nvml: str, reason: str
) -> None:
    library = built(tmp_path)
    if library is None:
        pytest.skip("no C compiler")
    scenario = Scenario(tmp_path / "scenario", library, RTX_4060)
    scenario.set(init=nvml)
    for name, value in scenario.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(nvml_library, "EXTRA_LIBRARY_PATHS", (library,))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    bench.nvcc("runtime 13020", "cudnn 92600 92600", answer)
    environment = environment_with(tmp_path / "env", "__version__ = '2.13.0+cpu'")
    proof = ToolkitProof(folder=bench.toolkit, version="13.2.2", newest_gnu=15)
    checks = VerifyJob(environment, current_system(), time_limit=60, toolkit=proof).run(JobContext())
    (check,) = (check for check in checks.checks if check.id == "cuda-run")
    assert (check.state, check.data["reason"]) == ("skip", f"@verify.reason.{reason}")
    assert Texts("en").check_text(check).startswith("The compiled program starts, but uses no graphics card: ")


def test_program_that_was_never_compiled_is_not_said_to_start(bench: Bench) -> None:
    bench.gcc("g++", "16.1.0")
    checks, _ = bench.prove("8.9", newest_gnu=2)
    assert Texts("en").check_text(checks["cuda-run"]) == (
        "No compiled program was run: there is no C++ compiler that the CUDA Toolkit supports."
    )


@pytest.mark.parametrize(("was_here", "state"), [(False, "fail"), (True, "warn")])
def test_toolkit_whose_folder_is_gone_is_named_as_missing(tmp_path: Path, was_here: bool, state: str) -> None:
    """One that the environment found there and did not install is no fault of the environment."""
    environment = environment_with(tmp_path / "env", "__version__ = '2.13.0+cpu'")
    proof = ToolkitProof(folder=None, version="13.2.2", was_here=was_here)
    checks = VerifyJob(environment, current_system(), time_limit=60, toolkit=proof).run(JobContext())
    results = {check.id: check for check in checks.checks}
    assert (results["nvcc"].state, results["nvcc"].expected) == (state, "13.2.2")
    for check_id in (*TOOLKIT_CHECK_IDS[1:], EXTENSION_CHECK_ID):
        assert (results[check_id].state, results[check_id].data["reason"]) == ("skip", "@verify.reason.earlier")
    assert "CUDA Toolkit 13.2.2" in Texts("en").check_text(results["nvcc"])
    assert "missing" in Texts("en").check_text(results["nvcc"])
    assert "缺少 CUDA Toolkit 13.2.2" in Texts("zh_CN").check_text(results["nvcc"])


@pytest.mark.real_install
def test_extension_without_cuda_is_built_by_real_pytorch(torch_environment: Path) -> None:
    """Real compilers and headers; where ninja is not in the environment that is said."""
    command: list[str | Path] = [
        current_system().environment_python(torch_environment),
        EXTENSION_CHILD,
        *("--toolkit", str(torch_environment), "--major", "13", "--compiler", "/usr/bin/g++"),
    ]
    finished = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    messages: list[dict[str, Any]] = [json.loads(line) for line in finished.stdout.splitlines()]
    assert messages[0] == {"begin": EXTENSION_CHECK_ID}
    assert messages[-1] == {"end": True}
    check = messages[1]["check"]
    assert (check["state"], check["data"].get("reason")) in (("pass", None), ("skip", "@verify.reason.no-ninja"))
