"""A program runs in the environment's own Python as a process of its own; what goes wrong has one plain sentence."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading
from pathlib import Path

import psutil
import pytest

from gpu_assistant.core.errors import AppError, Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import DataDir
from gpu_assistant.examples import job as example_job
from gpu_assistant.examples.child_protocol import ExampleProgress, ExampleStart
from gpu_assistant.examples.job import ExampleJob, ExampleSettings
from gpu_assistant.system import current_system
from gpu_assistant.system.locks import data_folder_lock
from gpu_assistant.texts.localized import Texts

from ..fakes.environments import environment_with

# As much of PyTorch as the program that runs scripts asks for.
TORCH = """
__version__ = "2.15.0+cpu"
class cuda:
    class OutOfMemoryError(RuntimeError): pass
    is_available = staticmethod(lambda: False)
get_num_threads = lambda: 1
"""

# The part of example-memory's data that says which memory.
MEMORY = {each: {"memory": f"@example.memory.{each}"} for each in ("gpu", "computer")}


def make_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, *, torch: str | None = TORCH, **options
) -> ExampleJob:
    path = tmp_path / "script.py"
    path.write_text(script, encoding="utf-8")
    monkeypatch.setattr(example_job, "script_path", lambda name: path)
    environment = environment_with(tmp_path / "env", torch)
    return ExampleJob(environment, current_system(), DataDir(tmp_path / "data"), "first-program", **options)


def failure(job: ExampleJob) -> AppError:
    with pytest.raises(AppError) as raised:
        job.run(JobContext())
    for language in ("en", "zh_CN"):
        assert Texts(language).error_text(raised.value)
    return raised.value


def test_shown_figures_are_reported_and_prints_are_logged(tmp_path, monkeypatch):
    reports, lines = [], []
    job = make_job(
        tmp_path, monkeypatch, "print('hello')\nshow(step=1, steps=2, loss=0.5)\nshow(step=2, steps=2, score=1.0)\n"
    )
    result = job.run(JobContext(report=reports.append, log=lines.append))
    assert reports == [
        ExampleStart(torch="2.15.0+cpu", device="cpu"),
        ExampleProgress(step=1, steps=2, loss=0.5),
        ExampleProgress(step=2, steps=2, score=1.0),
    ]
    assert (result.torch, result.device, result.last) == ("2.15.0+cpu", "cpu", reports[-1])
    assert "hello" in lines


def test_settings_reach_the_script_and_arguments_do_not(tmp_path, monkeypatch):
    weights = tmp_path / "权重 w"
    weights.mkdir()
    job = make_job(
        tmp_path,
        monkeypatch,
        "import sys\nshow(step=1, steps=1, text=weights + '|' + device + '|' + str(len(sys.argv)))",
        settings=ExampleSettings(weights=weights),
        device="cpu",
    )
    last = job.run(JobContext()).last
    assert last is not None
    assert last.text == f"{weights}|cpu|1"


@pytest.mark.parametrize(
    ("script", "code", "data"),
    [
        ("raise ValueError('no good')", "example-failed", {"reason": "ValueError: no good"}),
        ("import PIL", "example-package", {"package": "pillow"}),
        ("import torch\nraise torch.cuda.OutOfMemoryError('CUDA out of memory')", "example-memory", MEMORY["gpu"]),
        ("raise RuntimeError('CUDA error: out of memory')", "example-memory", MEMORY["gpu"]),
        ("raise RuntimeError('cuDNN error: CUDNN_STATUS_ALLOC_FAILED')", "example-memory", MEMORY["gpu"]),
        ("raise MemoryError", "example-memory", MEMORY["computer"]),
        ("raise RuntimeError('DefaultCPUAllocator: can\\'t allocate memory')", "example-memory", MEMORY["computer"]),
        ("import os\nos._exit(7)", "example-ended", {"status": 7}),
    ],
)
def test_what_goes_wrong_in_a_script(tmp_path, monkeypatch, script, code, data):
    error = failure(make_job(tmp_path, monkeypatch, script))
    assert error.code == code
    assert data.items() <= error.data.items()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals")
def test_killed_program_is_named(tmp_path, monkeypatch):
    script = f"import os\nos.kill(os.getpid(), {int(signal.SIGKILL)})"
    assert failure(make_job(tmp_path, monkeypatch, script)).code == "example-killed"


def test_missing_torch_and_missing_environment(tmp_path, monkeypatch):
    assert failure(make_job(tmp_path, monkeypatch, "", torch=None)).code == "bench-torch-missing"
    job = ExampleJob(tmp_path / "nothing", current_system(), DataDir(tmp_path / "data"), "first-program")
    assert failure(job).code == "environment-missing"


def test_torch_that_hangs_is_ended(tmp_path, monkeypatch):
    job = make_job(tmp_path, monkeypatch, "", torch="import threading\nthreading.Event().wait()", start_limit=0.5)
    assert failure(job).code == "bench-silent"


def test_cancel_ends_the_process(tmp_path, monkeypatch):
    script = "import os, threading\nshow(step=0, steps=1, text=str(os.getpid()))\nthreading.Event().wait()"
    job, cancel, pids = make_job(tmp_path, monkeypatch, script), threading.Event(), []

    def report(event):
        if isinstance(event, ExampleProgress):
            pids.append(int(event.text))
            cancel.set()

    with pytest.raises(Cancelled):
        job.run(JobContext(report=report, cancel=cancel))
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(pids[0]).wait(timeout=60)


def test_simulated_machine_runs_nothing(tmp_path, monkeypatch):
    marker = tmp_path / "ran"
    job = make_job(tmp_path, monkeypatch, f"open({str(marker)!r}, 'w')", simulated=True)
    assert failure(job).code == "example-simulated"
    assert not marker.exists()


def test_nothing_runs_beside_a_benchmark(tmp_path, monkeypatch):
    job = make_job(tmp_path, monkeypatch, "")
    with data_folder_lock(DataDir(tmp_path / "data"), "benchmark"):
        assert failure(job).code == "example-beside"


def test_picture_sorter_is_refused_before_torch_loads(tmp_path):
    environment = environment_with(tmp_path / "env", None)
    job = ExampleJob(environment, current_system(), DataDir(tmp_path / "data"), "picture-sorter")
    assert failure(job).code == "picture-folder"


@pytest.mark.real_install
def test_first_program_learns_with_the_real_torch(torch_environment, tmp_path):
    """Ended as soon as it has learned enough: the whole run takes minutes on a computer that others use, too."""
    shown: list[ExampleProgress] = []
    cancel = threading.Event()

    def report(event: object) -> None:
        if isinstance(event, ExampleProgress):
            shown.append(event)
            if event.score is not None and event.score > 0.7:
                cancel.set()

    job = ExampleJob(torch_environment, current_system(), DataDir(tmp_path), "first-program")
    with pytest.raises(Cancelled):
        job.run(JobContext(report=report, cancel=cancel))
    # Written down beforehand: ten digits, so one in ten by chance at first; most of them after a sixth of the steps.
    first, last = shown[0], shown[-1]
    assert first.score is not None
    assert first.score < 0.3
    assert last.step <= 150
    assert first.loss is not None
    assert last.loss is not None
    assert last.loss < 0.6 * first.loss
    assert len(last.pictures) == 30
    assert sum(each.correct is True for each in last.pictures) >= 15


LLAMA = {
    "model_type": "llama", "vocab_size": 50, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "tie_word_embeddings": True,
}  # fmt: skip


def llama_weights(folder: Path, lacking: str | None = None) -> Path:
    """A tiny model's folder in the layout of Hugging Face, all weights 0.01 in float32."""
    import struct

    layer = {
        "input_layernorm.weight": [16], "post_attention_layernorm.weight": [16],
        "self_attn.q_proj.weight": [16, 16], "self_attn.k_proj.weight": [8, 16], "self_attn.v_proj.weight": [8, 16],
        "self_attn.o_proj.weight": [16, 16], "mlp.gate_proj.weight": [24, 16], "mlp.up_proj.weight": [24, 16],
        "mlp.down_proj.weight": [16, 24],
    }  # fmt: skip
    shapes = {"model.embed_tokens.weight": [50, 16], "model.norm.weight": [16]}
    shapes |= {f"model.layers.{n}.{name}": shape for n in range(2) for name, shape in layer.items()}
    contents, data = {}, b""
    for name, shape in shapes.items():
        if name != lacking:
            count = shape[0] * (shape[1] if len(shape) > 1 else 1)
            contents[name] = {
                "dtype": "F32",
                "shape": shape,
                "data_offsets": [len(data), len(data) + 4 * count],
            }
            data += struct.pack(f"<{count}f", *([0.01] * count))
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA))
    header = json.dumps(contents).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + data)
    return folder


@pytest.mark.real_install
def test_language_model_takes_the_users_weights(torch_environment, tmp_path):
    settings = ExampleSettings(weights=llama_weights(tmp_path / "weights"))
    job = ExampleJob(torch_environment, current_system(), DataDir(tmp_path), "language-model", settings=settings)
    last = job.run(JobContext()).last
    assert last is not None
    assert last.parameters == 50 * 16 + 16 + 2 * (2 * 16 + 2 * 16 * 16 + 2 * 8 * 16 + 3 * 24 * 16)
    assert last.rate is not None
    assert last.rate > 0
    assert (last.step, last.steps) == (128, 128)


@pytest.mark.real_install
def test_weights_that_lack_a_part_are_refused(torch_environment, tmp_path):
    settings = ExampleSettings(weights=llama_weights(tmp_path / "weights", "model.norm.weight"))
    job = ExampleJob(torch_environment, current_system(), DataDir(tmp_path), "language-model", settings=settings)
    error = failure(job)
    assert error.code == "example-failed"
    assert "norm.weight" in str(error.data["reason"])
