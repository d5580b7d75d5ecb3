"""Proves that a CUDA Toolkit compiles: a program with a kernel is compiled for the card's chip, linked and run.

    nvcc --version ─► host compiler, not too new ─► nvcc: kernel, host code, cuDNN where its header is ─► run it

Without a card the program's host part answers all the same: CUDA's error, and which CUDA the driver supports. Where
programs need no more than the CUDA runtime that was linked into them, this is all that "CUDA is installed" can mean.
`child_extension.py` then builds a PyTorch extension with the same compilers.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from ..core import filesystem
from ..core.errors import AppError
from ..core.results import Check, CheckState
from ..core.types import Value
from ..core.versions import Version, format_cudnn_version, version_key
from ..system.base import Processes, ProcessResult
from .cuda_errors import CUDA_ERRORS, NO_DEVICE, REASON_TOO_OLD, hidden_devices

TOOLKIT_CHECK_IDS = ("nvcc", "host-compiler", "cuda-compile", "cudnn-link", "cuda-run")
# Of "cuda-run": the program was run, and found no card.
CASE_STARTED = "started"
PROGRAM_TIMEOUT_S = 60.0
# On a slow disk, beside a virus scanner that reads every header.
COMPILE_TIMEOUT_S = 300.0
# Older compilers than the default one that are looked for where that one is too new.
OLDER_COMPILERS = 6
MAX_REASON_LENGTH = 240
# Errors about the program that is started, not about us.
PROGRAM_FAILURES = frozenset({"program-missing", "program-timeout", "program-refused", "program-endless"})

SOURCE = r"""
#include <cstdio>
#include <cuda_runtime.h>
#ifdef WITH_CUDNN
#include <cudnn.h>
#endif

__global__ void twice_plus_index(const float *given, float *result, int count) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count) result[index] = 2 * given[index] + index;
}

static const int count = 1 << 20;

static cudaError_t compute(int device, bool *right) {
    static float given[count], result[count];
    float *on_device = nullptr, *computed = nullptr;
    for (int i = 0; i < count; ++i) given[i] = i % 1000;
    cudaError_t error = cudaSetDevice(device);
    if (!error) error = cudaMalloc(&on_device, sizeof given);
    if (!error) error = cudaMalloc(&computed, sizeof result);
    if (!error) error = cudaMemcpy(on_device, given, sizeof given, cudaMemcpyHostToDevice);
    if (!error) {
        twice_plus_index<<<(count + 255) / 256, 256>>>(on_device, computed, count);
        error = cudaGetLastError();
    }
    if (!error) error = cudaMemcpy(result, computed, sizeof result, cudaMemcpyDeviceToHost);
    *right = !error;
    /* Every sum is a whole number below 2^24: float holds it exactly. */
    for (int i = 0; i < count && *right; ++i) *right = result[i] == 2 * given[i] + i;
    cudaFree(on_device);
    cudaFree(computed);
    return error;
}

int main() {
    std::printf("runtime %d\n", CUDART_VERSION);
#ifdef WITH_CUDNN
    std::printf("cudnn %lu %d\n", (unsigned long)cudnnGetVersion(), CUDNN_VERSION);
#endif
    int devices = 0, driver = 0;
    cudaError_t error = cudaGetDeviceCount(&devices);
    cudaDriverGetVersion(&driver);
    if (error || devices == 0) std::printf("none %d %d %s\n", (int)error, driver, cudaGetErrorString(error));
    for (int device = 0; !error && device < devices; ++device) {
        bool right = false;
        cudaError_t result = compute(device, &right);
        std::printf("device %d %s\n", device, result ? cudaGetErrorString(result) : right ? "right" : "wrong");
    }
    return 0;
}
"""


class CudnnFiles(Struct, frozen=True, kw_only=True):
    """What a program is compiled and linked with: the folder of cuDNN's header, and the library that is linked
    (libcudnn.so, cudnn.lib). `dll_folder` has what it loads on Windows.
    """

    include: Path
    library: Path
    dll_folder: Path | None = None


class ToolkitProof(Struct, frozen=True, kw_only=True):
    """The toolkit to prove: its folder (None: it is not there), and the version that is expected. `was_here`: it was
    here before the environment. `cudnn` is cuDNN's own folder, where it is not in the toolkit's; `kept_cudnn` are the
    files of one that was here before. `newest_gnu` is the newest major of GCC that it takes, `lowest_msvc` and
    `below_msvc` are the limits of Microsoft's; the commands install a compiler here, and an older one beside it. None
    where it is unknown.
    """

    folder: Path | None
    version: str | None = None
    was_here: bool = False
    cudnn: Path | None = None
    kept_cudnn: CudnnFiles | None = None
    newest_gnu: int | None = None
    lowest_msvc: str | None = None
    below_msvc: str | None = None
    install_compiler: str | None = None
    install_older_compiler: str | None = None


class HostPrograms(Struct, frozen=True, kw_only=True):
    """With what programs can be built here: the toolkit's folder, nvcc's major (13), and the host compiler's path."""

    toolkit: Path
    nvcc_major: int
    compiler: Path


class CompilerFinding(Struct, frozen=True, kw_only=True):
    """A host compiler: its path, its name and version; `problem` is a text's code where nvcc would not take it."""

    path: Path | None
    label: str | None = None
    problem: str | None = None


def prove_toolkit(
    proof: ToolkitProof,
    capabilities: tuple[str, ...],
    system: Processes,
    *,
    cancel: threading.Event,
    report: Callable[[Check], None],
    log: Callable[[str], None],
) -> HostPrograms | None:
    """Report each check of `TOOLKIT_CHECK_IDS`; returns the compilers, None if nothing can be compiled.

    `capabilities` are those of the cards ("8.9"); where none is known nvcc compiles for its own default.
    Raises Cancelled.
    """
    runner = _Runner(proof, system, cancel, report, log)
    nvcc_major = runner.check_nvcc()
    if proof.folder is None or nvcc_major is None:
        runner.skip_rest("nvcc", "@verify.reason.earlier")
        return None
    finding = find_host_compiler(proof, system, cancel)
    if not runner.check_host_compiler(finding) or finding.path is None:
        runner.skip_rest("host-compiler", "@verify.reason.no-compiler")
        return None
    folder = Path(tempfile.mkdtemp(prefix="gpu-assistant-"))
    try:
        is_compiled = runner.check_program(finding.path, capabilities, folder)
    finally:
        filesystem.rmtree(folder, ignore_errors=True)
    if not is_compiled:
        return None
    return HostPrograms(toolkit=proof.folder, nvcc_major=nvcc_major, compiler=finding.path)


class _Runner:
    """Runs the checks of one toolkit."""

    def __init__(
        self,
        proof: ToolkitProof,
        system: Processes,
        cancel: threading.Event,
        report: Callable[[Check], None],
        log: Callable[[str], None],
    ) -> None:
        self._proof = proof
        self._system = system
        self._cancel = cancel
        self._report = report
        self._log = log
        self._nvcc = (proof.folder or Path()) / "bin" / system.executable("nvcc")

    def skip_rest(self, after: str, reason: str) -> None:
        """Skip all checks after one."""
        for check_id in TOOLKIT_CHECK_IDS[TOOLKIT_CHECK_IDS.index(after) + 1 :]:
            self._add(check_id, "skip", reason=reason)

    def check_nvcc(self) -> int | None:
        """The compiler starts, and is of the expected series; returns its major, None if it does not start.

        A toolkit that was here before may go without the environment's being broken.
        """
        if self._proof.folder is None:
            state: CheckState = "warn" if self._proof.was_here else "fail"
            self._add("nvcc", state, expected=self._proof.version, case="missing")
            return None
        finished = self._run([self._nvcc, "--version"], PROGRAM_TIMEOUT_S)
        match = re.search(r"release (\d+)\.(\d+), V([\d.]+)", finished.stdout) if finished is not None else None
        if match is None:
            self._add("nvcc", "fail", reason=_failure(finished), path=str(self._nvcc))
            return None
        series, expected = f"{match[1]}.{match[2]}", self._proof.version
        is_expected = expected is None or f"{expected}.".startswith(f"{series}.")
        self._add("nvcc", "pass" if is_expected else "warn", value=match[3], expected=expected, path=str(self._nvcc))
        return int(match[1])

    def check_host_compiler(self, finding: CompilerFinding) -> bool:
        """There is a compiler that nvcc takes; one that is missing is no fault of what was installed."""
        if finding.problem is None:
            self._add("host-compiler", "pass", value=finding.label)
            return True
        is_missing = finding.path is None
        command = self._proof.install_compiler if is_missing else self._proof.install_older_compiler
        # By `case` texts name the version, where there is one, and the command, where one is known.
        cases = [*([] if is_missing else ["version"]), *([] if command is None else ["command"])]
        case = {"case": "-".join(cases)} if cases else {}
        newest = self._proof.newest_gnu
        reason = finding.problem
        self._add("host-compiler", "warn", value=finding.label, reason=reason, command=command, newest=newest, **case)
        return False

    def check_program(self, compiler: Path, capabilities: tuple[str, ...], folder: Path) -> bool:
        """Compile, link and run; whether it was compiled."""
        source, program = folder / "proof.cu", folder / self._system.executable("proof")
        source.write_text(SOURCE, encoding="utf-8")
        cudnn = self._find_cudnn()
        chips = sorted({capability.replace(".", "") for capability in capabilities})
        targets = [f"-gencode=arch=compute_{chip},code=sm_{chip}" for chip in chips]
        command: list[str | Path] = [self._nvcc, "-ccbin", compiler, *targets, "-o", program, source]
        environ: dict[str, str | None] = {"NVCC_APPEND_FLAGS": None, "NVCC_PREPEND_FLAGS": None, "TMPDIR": str(folder)}
        finished = self._run([*command, *self._link_arguments(cudnn)], COMPILE_TIMEOUT_S, folder, environ)
        has_cudnn = cudnn is not None and finished is not None and finished.returncode == 0
        cudnn_failure = None
        if cudnn is not None and not has_cudnn:
            cudnn_failure = _failure(finished)
            finished = self._run(command, COMPILE_TIMEOUT_S, folder, environ)
        if finished is None or finished.returncode != 0:
            self._add("cuda-compile", "fail", reason=_failure(finished))
            self.skip_rest("cuda-compile", "@verify.reason.earlier")
            return False
        label = ", ".join(f"sm_{chip}" for chip in chips) or None
        self._add("cuda-compile", "pass", value=label, **({} if label is not None else {"case": "default"}))
        answers = self._run([program], PROGRAM_TIMEOUT_S, folder, self._library_path(cudnn))
        lines = answers.stdout.splitlines() if answers is not None and answers.returncode == 0 else []
        self._report_cudnn(lines, is_sought=cudnn is not None, failure=cudnn_failure)
        self._report_devices(lines, answers)
        return True

    def _report_cudnn(self, lines: list[str], *, is_sought: bool, failure: str | None) -> None:
        if failure is not None:
            self._add("cudnn-link", "fail", reason=failure)
        elif not is_sought:
            self._add("cudnn-link", "skip", reason="@verify.reason.no-cudnn-header")
        elif not lines:
            self._add("cudnn-link", "fail", reason="@verify.reason.program-silent")
        else:
            loaded, _, header = next(line[6:] for line in lines if line.startswith("cudnn ")).partition(" ")
            version, expected = format_cudnn_version(int(loaded)), format_cudnn_version(int(header))
            state: CheckState = "pass" if version == expected else "warn"
            self._add("cudnn-link", state, value=version, expected=expected)

    def _report_devices(self, lines: list[str], answers: ProcessResult | None) -> None:
        if not lines:
            self._add("cuda-run", "fail", reason=_failure(answers))
            return
        no_device = next((line for line in lines if line.startswith("none ")), None)
        if no_device is not None:
            self._add("cuda-run", "skip", reason=_no_device_reason(no_device), case=CASE_STARTED)
            return
        results = [line.split(" ", 2)[1:] for line in lines if line.startswith("device ")]
        wrong = next((f"GPU {index}: {said}" for index, said in results if said != "right"), None)
        if wrong is None and results:
            self._add("cuda-run", "pass", value=len(results))
        else:
            reason = "@verify.reason.wrong-result" if (wrong or "").endswith(": wrong") else wrong
            self._add("cuda-run", "fail", value=len(results), reason=reason or "@verify.reason.program-silent")

    def _find_cudnn(self) -> CudnnFiles | None:
        """In a folder whose include has the header and which has something to link with, else the one that is kept."""
        pattern = "lib/**/cudnn.lib" if self._system.windows is not None else "lib*/libcudnn.so"
        for folder in (self._proof.folder, self._proof.cudnn):
            library = next(iter(sorted(folder.glob(pattern))), None) if folder is not None else None
            if folder is not None and library is not None and (folder / "include/cudnn.h").is_file():
                return CudnnFiles(include=folder / "include", library=library)
        return self._proof.kept_cudnn

    def _link_arguments(self, cudnn: CudnnFiles | None) -> list[str | Path]:
        if cudnn is None:
            return []
        if self._system.windows is not None:
            return ["-DWITH_CUDNN", "-I", cudnn.include, cudnn.library]
        folder = cudnn.library.parent
        return ["-DWITH_CUDNN", "-I", cudnn.include, "-L", folder, "-lcudnn", "-Xlinker", "-rpath", "-Xlinker", folder]

    def _library_path(self, cudnn: CudnnFiles | None) -> dict[str, str | None]:
        """Windows finds DLLs by PATH."""
        if self._system.windows is None:
            return {}
        roots = [root for root in (self._proof.folder, self._proof.cudnn) if root is not None]
        folders = [str(path.parent) for root in roots for path in sorted(root.glob("bin/**/*.dll"))]
        if cudnn is not None and cudnn.dll_folder is not None:
            folders.insert(0, str(cudnn.dll_folder))
        return {"PATH": os.pathsep.join([*dict.fromkeys(folders), os.environ.get("PATH", "")])}

    def _run(
        self,
        command: list[str | Path],
        timeout: float,
        cwd: Path | None = None,
        environ: dict[str, str | None] | None = None,
    ) -> ProcessResult | None:
        """None if it could not be run to its end. Raises Cancelled."""
        try:
            finished = self._system.run(command, timeout=timeout, cwd=cwd, environ=environ, cancel=self._cancel)
        except AppError as error:
            if error.code not in PROGRAM_FAILURES:
                raise
            self._log(f"{command[0]}: {error.code}")
            return None
        for line in (finished.stdout + finished.stderr).splitlines():
            self._log(line)
        return finished

    def _add(
        self,
        check_id: str,
        state: CheckState,
        *,
        value: str | int | None = None,
        expected: str | None = None,
        reason: str | None = None,
        **data: Value,
    ) -> None:
        details: dict[str, Value] = {"value": value, "expected": expected, "reason": reason, "device": None, **data}
        self._report(Check(id=check_id, state=state, value=value, expected=expected, data=details))


def find_host_compiler(proof: ToolkitProof, system: Processes, cancel: threading.Event) -> CompilerFinding:
    """The compiler that nvcc uses for host code: NVCC_CCBIN, else the default one, else an older one beside it."""
    if system.windows is not None:
        return _find_msvc(proof, system.windows.msvc_folders())
    chosen = os.environ.get("NVCC_CCBIN")
    default = Path(chosen) if chosen and Path(chosen).is_file() else system.find_program("g++")
    candidates = [] if default is None else [default]
    if proof.newest_gnu is not None:
        majors = range(proof.newest_gnu, proof.newest_gnu - OLDER_COMPILERS, -1)
        candidates += [path for major in majors if (path := system.find_program(f"g++-{major}")) is not None]
    refused = None
    for path in candidates:
        version = _gcc_version(path, system, cancel)
        if version is None:
            continue
        label = f"GCC {version}"
        if proof.newest_gnu is None or version_key(version)[0] <= proof.newest_gnu:
            return CompilerFinding(path=path, label=label)
        refused = refused or CompilerFinding(path=path, label=label, problem="@verify.reason.compiler-too-new")
    return refused or CompilerFinding(path=None, problem="@verify.reason.compiler-missing")


def _gcc_version(path: Path, system: Processes, cancel: threading.Event) -> str | None:
    try:
        finished = system.run([path, "-dumpfullversion", "-dumpversion"], timeout=PROGRAM_TIMEOUT_S, cancel=cancel)
    except AppError as error:
        if error.code not in PROGRAM_FAILURES:
            raise
        return None
    match = re.match(r"\d+(\.\d+)*", finished.stdout.strip())
    return match[0] if match is not None and finished.returncode == 0 else None


def _find_msvc(proof: ToolkitProof, folders: tuple[Path, ...]) -> CompilerFinding:
    """The newest of Microsoft's compilers that the toolkit takes; nvcc sets up its environment by itself."""
    lowest, below = Version.parse(proof.lowest_msvc), Version.parse(proof.below_msvc)
    found = sorted(_msvc_compilers(folders), key=lambda each: each[0], reverse=True)
    for version, path in found:
        if (lowest is None or version >= lowest) and (below is None or version < below):
            return CompilerFinding(path=path.parent, label=f"MSVC {version.text}")
    if found:
        version, path = found[0]
        problem = "@verify.reason.compiler-unfit"
        return CompilerFinding(path=path.parent, label=f"MSVC {version.text}", problem=problem)
    return CompilerFinding(path=None, problem="@verify.reason.compiler-missing")


def _msvc_compilers(folders: tuple[Path, ...]) -> Iterator[tuple[Version, Path]]:
    for folder in folders:
        for path in folder.glob("Tools/MSVC/*/bin/Hostx64/x64/cl.exe"):
            version = Version.parse(path.parents[3].name)
            if version is not None:
                yield version, path


def _failure(finished: ProcessResult | None) -> str:
    """A program's own words about why it failed: its first line about an error, else its last line."""
    if finished is None:
        return "@verify.reason.program-failed"
    lines = [line.strip() for line in (finished.stderr + "\n" + finished.stdout).splitlines() if line.strip()]
    words = next((line for line in lines if re.search(r"error|fatal|cannot find", line, re.IGNORECASE)), None)
    text = words or (lines[-1] if lines else f"exit {finished.returncode}")
    return text.lstrip("@")[:MAX_REASON_LENGTH]


def _no_device_reason(line: str) -> str:
    """Why a program found no card: a text where the cause is known, else CUDA's own words, of a line such as
    "none 35 12020 CUDA driver version is insufficient for CUDA runtime version".

    The same error tells of a driver that is too old and of none, whose version is 0 (cudaDriverGetVersion).
    """
    _, number, driver, words = line.split(" ", 3)
    reason = CUDA_ERRORS.get(int(number))
    if reason == REASON_TOO_OLD:
        return "@verify.reason.driver-too-old-toolkit" if int(driver) else "@verify.reason.no-driver"
    if reason is None and int(number) in (0, NO_DEVICE):
        return "@verify.reason.hidden-devices" if hidden_devices() else "@verify.reason.program-no-device"
    return reason or words
