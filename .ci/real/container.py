"""Runs inside the root of `.ci/real/container`: detects, and plans for every goal; says what was found."""

from __future__ import annotations

import json
import subprocess
import sys

GOALS = ("pytorch", "tensorflow", "cuda-dev", "all")


def run(*arguments: str) -> dict[str, object]:
    finished = subprocess.run(
        [sys.executable, "-m", "gpu_assistant", *arguments, "--json", "--data-dir", "/tmp/data"],
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode != 0:
        sys.exit(f"{arguments}: exit status {finished.returncode}: {finished.stderr}")
    answer: dict[str, object] = json.loads(finished.stdout)
    return answer


def main() -> None:
    kind = sys.argv[1]
    machine = run("detect")
    found = machine.get("container") or "none"
    if found != kind:
        sys.exit(f"{kind} was expected, and {found} was found")
    cards = [gpu["pci_id"] for gpu in machine["gpus"]]  # type: ignore[attr-defined]
    if cards != ["10de:2882"]:
        sys.exit(f"{kind}: the card was not found: {cards}")
    for goal in GOALS:
        plan = run("plan", "--offline", "--goal", goal)
        action = plan["recommendation"]["driver"]["action"]  # type: ignore[index]
        steps = [step["kind"] for step in plan["steps"] if "driver" in step["kind"]]  # type: ignore[attr-defined]
        restarts = any(step.get("needs_reboot") for step in plan["steps"])  # type: ignore[attr-defined]
        has_driver_step = bool(steps) or restarts or action in ("install", "update", "downgrade")
        print(f"{kind} {goal}: driver {action}, steps {steps}, restart {restarts}")
        if has_driver_step != (kind == "none"):
            sys.exit(f"{kind} {goal}: {'a driver' if has_driver_step else 'no driver'} is planned")


if __name__ == "__main__":
    main()
