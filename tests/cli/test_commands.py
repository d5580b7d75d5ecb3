"""Good and bad calls: stdout, stderr and exit codes as the contract fixes them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import jsonschema
import pytest

from gpu_assistant.monitor.history import History
from tests.cli.conftest import ROOT, Call, one_sentence

MACHINES = ROOT / "tests/machines"
RTX = str(MACHINES / "windows11-rtx4060-566.json")


def schema(name: str) -> dict[str, object]:
    return json.loads((ROOT / f"resources/schemas/{name}.schema.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_help_in_both_languages(call: Call, language: str) -> None:
    done = call("--lang", language, "--help")
    assert done.returncode == 0
    assert "install" in done.stdout
    assert ("显卡" in done.stdout) == (language == "zh_CN")


@pytest.mark.parametrize(
    "command", ["detect", "recommend", "plan", "install", "uninstall", "verify", "bench", "health", "monitor"]
)
def test_every_command_has_help(call: Call, command: str) -> None:
    done = call(command, "--help")
    assert done.returncode == 0
    assert "--data-dir" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["--wings"],
        ["detect", "--machine"],
        ["monitor", "--count", "0"],
        ["monitor", "--count", "many"],
        ["monitor", "--interval", "-1"],
        ["monitor", "--interval", "nan"],
        ["recommend", "--goal", "mining"],
        ["bench", "--quick", "--full"],
        ["health", "--level", "4"],
        ["health", "--minutes", "0"],
        ["health", "--minutes", "long"],
        ["health", "--minutes", "5"],
        ["health", "--level", "2", "--minutes", "5"],
        ["--lang", "fr", "detect"],
        ["--json"],
        ["detect", "--wheelhouse", "no/such/folder"],
        ["install", "--plan", "no/such/file.json"],
        ["install", "--plan", "x.json", "--resume"],
        ["recommend", "--machine", ""],
        ["install", "--yes", "--env", " "],
    ],
    ids=" ".join,
)
def test_invalid_arguments(call: Call, arguments: list[str]) -> None:
    done = call(*arguments)
    assert done.returncode == 2
    assert (done.stdout == "") == ("--json" not in arguments)
    assert one_sentence(done.stderr), done.stderr


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff\xfe garbage",
        b"[]",
        b'{"schema": "gpu-assistant/machine/1"}',
        b'{"schema": "gpu-assistant/machine/9", "os": {"system": "linux"}, "gpus": []}',
        b'{"schema": "gpu-assistant/machine/1", "os": {"system": "linux"}, "gpus": [{"vendor": "nvidia", "name": 1}]}',
        b'{"schema": "gpu-assistant/machine/1", "os": {"system": "linux"}, "gpus": ' + b"[" * 5000,
    ],
    ids=["empty", "binary", "list", "no-os", "future", "wrong-type", "deep"],
)
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_broken_machine_files(call: Call, tmp_path: Path, content: bytes, language: str) -> None:
    path = tmp_path / "machine.json"
    path.write_bytes(content)
    done = call("--lang", language, "recommend", "--machine", str(path))
    assert done.returncode == 2
    assert done.stdout == ""
    assert one_sentence(done.stderr), done.stderr
    assert path.name in done.stderr


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_foreign_machine_file_is_accepted(call: Call, tmp_path: Path, language: str) -> None:
    path = tmp_path / "machine.json"
    path.write_text('{"schema": "gpu-assistant/machine/1", "os": {"system": "beos"}, "gpus": []}', encoding="utf-8")
    done = call("--lang", language, "recommend", "--machine", str(path))
    assert done.returncode == 1
    assert done.stdout == ""
    assert one_sentence(done.stderr), done.stderr
    assert all(system in done.stderr for system in ("Windows", "Linux", "macOS"))


def test_byte_order_mark_is_accepted(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    path.write_bytes(b"\xef\xbb\xbf" + Path(RTX).read_bytes())
    assert call("recommend", "--machine", str(path)).returncode == 0


def test_detect_prints_a_machine(call: Call) -> None:
    done = call("detect", "--json")
    assert done.returncode == 0
    jsonschema.validate(json.loads(done.stdout), schema("machine"))


@pytest.mark.parametrize("path", sorted(MACHINES.glob("*.json")), ids=lambda path: path.stem)
def test_recommend_and_plan_for_every_machine(call: Call, path: Path) -> None:
    for command in ("recommend", "plan"):
        done = call(command, "--json", "--lang", "zh_CN", "--machine", str(path))
        assert done.returncode == 0, done.stderr
        jsonschema.validate(json.loads(done.stdout), schema("recommendation" if command == "recommend" else "plan"))


def test_text_output_has_no_json(call: Call) -> None:
    for command in ("detect", "recommend", "plan"):
        for language in ("en", "zh_CN"):
            done = call(command, "--lang", language, "--machine", RTX)
            assert done.returncode == 0, done.stderr
            assert "4060" in done.stdout or "PyTorch" in done.stdout
            assert "None" not in done.stdout
            assert "{" not in done.stdout


def test_simulated_install_runs_nothing(call: Call, tmp_path: Path) -> None:
    done = call("install", "--json", "--machine", RTX, "--env", str(tmp_path / "env"))
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    for event in events:
        jsonschema.validate(event, schema("event"))
    assert events[0]["event"] == "plan"
    assert events[-1]["event"] == "end"
    assert {event["state"] for event in events if event["event"] == "step"} <= {"waiting", "skipped"}
    assert not (tmp_path / "env").exists()


def test_simulated_plan_is_refused_for_install(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    assert call("plan", "--machine", RTX, "--output", str(file)).returncode == 0
    done = call("install", "--plan", str(file), "--yes")
    assert done.returncode == 2
    assert "--dry-run" in done.stderr
    assert one_sentence(done.stderr)
    assert call("install", "--plan", str(file), "--dry-run").returncode == 0


def test_dry_run_prints_the_plan(call: Call) -> None:
    planned, dry = call("plan", "--machine", RTX), call("install", "--dry-run", "--machine", RTX)
    assert planned.stdout.strip()
    assert dry.stdout.startswith(planned.stdout.rstrip("\n"))


@pytest.mark.linux
@pytest.mark.skipif(sys.platform != "linux", reason="only there may a person be without a screen")
def test_missing_display_is_reported(call: Call) -> None:
    done = call(environ={"DISPLAY": "", "WAYLAND_DISPLAY": "", "QT_QPA_PLATFORM": ""})
    assert done.returncode == 1
    assert one_sentence(done.stderr), done.stderr


@pytest.mark.linux
@pytest.mark.skipif(sys.platform != "linux", reason="only there may a screen be named that does not answer")
@pytest.mark.parametrize(
    ("names", "named"),
    [
        ({"DISPLAY": ":987"}, "DISPLAY=:987"),
        ({"DISPLAY": "nonsense"}, "DISPLAY=nonsense"),
        ({"WAYLAND_DISPLAY": "wayland-987"}, "WAYLAND_DISPLAY=wayland-987"),
        ({"DISPLAY": ":987", "QT_QPA_PLATFORM": "xcb"}, "DISPLAY=:987"),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_unresponsive_display_is_reported(call: Call, names: dict[str, str], named: str, language: str) -> None:
    nothing = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "QT_QPA_PLATFORM": ""}
    done = call("--lang", language, environ=nothing | names)
    assert done.returncode == 1
    assert one_sentence(done.stderr), done.stderr
    assert named in done.stderr


@pytest.mark.linux
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize(
    "arguments", [("detect", "--json"), ("catalog", "show"), ("--help",), ("--version",)], ids=" ".join
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_unwritable_stdout(arguments: tuple[str, ...], unbuffered: str) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gpu_assistant", *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert one_sentence(done.stderr), done.stderr


@pytest.mark.linux
@pytest.mark.skipif(sys.platform != "linux", reason="Windows has no SIGINT to send to another process")
def test_ctrl_c_ends_the_monitor(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gpu_assistant", "monitor", "--json", "--interval", "0.05"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=120)
    assert (process.returncode, complaint) == (0, b"")


@pytest.mark.linux
@pytest.mark.skipif(sys.platform != "linux", reason="Windows has no SIGINT to send to another process")
@pytest.mark.parametrize("module", ["core/errors", "texts/translate", "cli/parser", "app/context", "cli/output"])
def test_early_ctrl_c_prints_one_sentence(tmp_path: Path, module: str) -> None:
    """The moment is that in which a module is opened: it interrupts itself there."""
    arguments = (
        "import os, signal, sys\n"
        "def hook(event, given):\n"
        "    if event == 'open' and str(given[0]).replace(compiled, '.py').replace('__pycache__/', '')"
        f".endswith('/{module}.py') and not done:\n"
        "        done.append(1)\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # what a shell starts with "&" ignores it
        "done, compiled = [], f'.{sys.implementation.cache_tag}.pyc'\n"
        "from gpu_assistant.__main__ import main\n"
        "sys.argv = ['gpu-assistant', 'monitor', '--count', '1', '--lang', 'en']\n"
        "sys.addaudithook(hook)\n"
        "sys.exit(main())\n"
    )
    environ = {**os.environ, "GPU_ASSISTANT_DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", arguments], cwd=ROOT, env=environ, capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stderr) == (3, "Stopped. Run the same command to start over.\n")


def test_install_needs_confirmation(call: Call, tmp_path: Path) -> None:
    done = call("install", "--env", str(tmp_path / "env"))
    assert done.returncode == 2
    *plan, refusal = done.stderr.strip().splitlines()
    assert plan[0].startswith("1. ")  # what would be done is told before, as where somebody can be asked
    assert "--yes" in refusal
    assert not (tmp_path / "env").exists()


def test_nothing_to_resume(call: Call) -> None:
    done = call("install", "--resume", "--yes")
    assert done.returncode == 1
    assert one_sentence(done.stderr)


@pytest.mark.parametrize("command", ["verify", "bench", "health", "uninstall"])
def test_a_missing_environment(call: Call, tmp_path: Path, command: str) -> None:
    more = ["--yes"] if command == "uninstall" else []
    done = call(command, "--env", str(tmp_path / "nowhere"), *more)
    assert done.returncode == 1
    assert one_sentence(done.stderr), done.stderr


def test_invalid_data_dir(call: Call, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    done = call("install", "--yes", "--data-dir", str(tmp_path / "file" / "data"))
    assert done.returncode == 2
    assert one_sentence(done.stderr), done.stderr
    assert "--data-dir" in done.stderr


def test_monitor_prints_samples(call: Call, tmp_path: Path) -> None:
    csv = tmp_path / "samples.csv"
    done = call("monitor", "--json", "--interval", "0.05", "--count", "3", "--csv", str(csv))
    assert done.returncode == 0, done.stderr
    samples = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(samples) == 3
    for sample in samples:
        jsonschema.validate(sample, schema("sample"))
    assert samples[0]["t"] < samples[-1]["t"]
    assert len(csv.read_text(encoding="utf-8").splitlines()) >= 3


def test_history_is_exported(call: Call, tmp_path: Path) -> None:
    history = History(tmp_path / "data" / "history")
    now = time.time()
    for second in range(30):
        history.add(now - 30 + second, {"cpu": 5.0})
    history.close()
    done = call("monitor", "--history", "1h", "--csv", str(tmp_path / "out.csv"))
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8-sig").splitlines()
    assert lines[0] == "time,t,cpu"
    assert len(lines) - 1 in (30, 31)
    # A file that is there is nobody's to overwrite, and what is damaged is not left out in silence.
    again = call("monitor", "--history", "1h", "--csv", str(tmp_path / "out.csv"))
    assert again.returncode == 2
    assert "out.csv" in again.stderr
    assert (tmp_path / "out.csv").read_text(encoding="utf-8-sig").splitlines() == lines
    (file,) = (tmp_path / "data" / "history").glob("1s-*.history")
    data = bytearray(file.read_bytes())
    data[-7] ^= 0x55
    file.write_bytes(data)
    worn = call("monitor", "--history", "1h", "--csv", str(tmp_path / "worn.csv"), "--lang", "en")
    assert worn.returncode == 0
    assert "Damaged parts of the history were left out (1)" in worn.stderr
    assert call("monitor", "--history", "1h").returncode == 2
    assert call("monitor", "--history", "1w", "--csv", str(tmp_path / "out.csv")).returncode == 2


def test_empty_history_writes_no_file(call: Call, tmp_path: Path) -> None:
    done = call("monitor", "--history", "24h", "--csv", str(tmp_path / "out.csv"), "--lang", "en")
    assert (done.returncode, done.stdout) == (1, "")
    assert "The window keeps a history" in done.stderr
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.linux
@pytest.mark.skipif(sys.platform != "linux", reason="Windows has no SIGINT to send to another process")
def test_prometheus_metrics(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gpu_assistant", "monitor", "--serve-metrics", "0", "--interval", "0.05"]
    environ = {**os.environ, "GPU_ASSISTANT_DATA_DIR": str(tmp_path), "LC_ALL": "C.UTF-8"}
    with subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        url = next(word for word in line.split() if word.startswith("http://127.0.0.1:")).rstrip(".")
        with urllib.request.urlopen(url, timeout=120) as answer:
            text = answer.read().decode()
        process.send_signal(signal.SIGINT)
        out, complaint = process.communicate(timeout=120)
    assert (process.returncode, out, complaint) == (0, b"", b"")
    assert "gpu_assistant_memory_bytes{" in text


@pytest.mark.parametrize("port", ["-1", "65536", "x"])
def test_invalid_port(call: Call, port: str) -> None:
    done = call("monitor", "--serve-metrics", port)
    assert done.returncode == 2
    assert one_sentence(done.stderr), done.stderr


@pytest.mark.parametrize(("address", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_public_metrics_address_is_noted(call: Call, address: str, warned: bool) -> None:
    arguments = ["--serve-metrics", "0", "--metrics-address", address, "--interval", "0.05", "--count", "1"]
    done = call("monitor", *arguments, "--lang", "en")
    assert done.returncode == 0
    assert ("Every computer that can reach this one" in done.stderr) == warned


@pytest.mark.parametrize("address", ["192.0.2.1", "no address", "a..b"])
def test_foreign_metrics_address_is_refused(call: Call, address: str) -> None:
    done = call("monitor", "--serve-metrics", "0", "--metrics-address", address, "--count", "1", "--lang", "en")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"“{address}”" in done.stderr
    assert "port" not in done.stderr


def test_metrics_address_needs_port(call: Call) -> None:
    done = call("monitor", "--metrics-address", "127.0.0.1", "--count", "1", "--lang", "en")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--serve-metrics PORT" in done.stderr


@pytest.mark.parametrize("arguments", [["--count", "1"], ["--history", "1h"]])
def test_folder_as_csv_file_is_refused(call: Call, tmp_path: Path, arguments: list[str]) -> None:
    done = call("monitor", "--csv", str(tmp_path), *arguments, "--lang", "en")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{tmp_path} is a folder" in done.stderr


@pytest.mark.parametrize("span", ["0h", "99999999d"])
def test_invalid_history_span(call: Call, span: str) -> None:
    done = call("monitor", "--history", span, "--csv", "out.csv", "--lang", "en")
    assert done.returncode == 2
    assert "from 1 to 99999" in done.stderr


@pytest.mark.parametrize("arguments", ["--interval 5", "--count 1", "--processes", "--serve-metrics 0"])
def test_live_options_conflict_with_history(call: Call, tmp_path: Path, arguments: str) -> None:
    done = call("monitor", "--history", "1h", "--csv", str(tmp_path / "h.csv"), *arguments.split(), "--lang", "en")
    assert (done.returncode, done.stdout, list(tmp_path.glob("h.csv"))) == (2, "", [])
    assert f"{arguments.split(maxsplit=1)[0]} is for new data" in done.stderr
