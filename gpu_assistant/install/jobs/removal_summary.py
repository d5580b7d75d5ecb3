"""What a removal takes away and leaves, in a person's words: a line for each thing that counts, from the steps that
`uninstall.py` and `purge.py` preview. Texts: `removal.<code of the step>`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...core.message import Message
from ...core.plan import Step
from ...core.types import Value
from ..files.inventory import format_names
from .purge import PURGE_KIND

# Kinds of steps whose folder has a name of its own, `removal.kind.<kind>`.
NAMED_KINDS = ("python-runtime", "cuda-redist", "cuda-installer")
SETTING_CODES = ("restore-file", "restore-variable", "remove-path-entry", "clear-login")


def summarize_removal(steps: Sequence[Step]) -> tuple[Message, ...]:
    """The lines, what goes before what stays. Empty folders that go, too, are not worth one."""
    return tuple(_lines(steps))


def _lines(steps: Sequence[Step]) -> Iterator[Message]:
    for step in steps:
        if step.code.startswith(("remove-environment", "remove-folder")):
            yield Message(f"removal.{step.code}", {**step.data, "thing": _thing(step)})
        elif (
            step.code == "remove-driver"
            or step.kind == PURGE_KIND
            or step.code.startswith(("remove-files", "remove-packages"))
        ):
            yield Message(f"removal.{step.code}", step.data)
    settings = sum(step.code in SETTING_CODES for step in steps)
    if settings:
        yield Message("removal.settings", {"count": settings})
    moved = tuple(str(step.data["thing"]) for step in steps if step.code == "move-back")
    if moved:
        yield Message("removal.move-back", {"files": format_names(moved)})
    remaining = [step.data.get("thing") for step in steps if step.code.startswith("leave-") and step.kind != "root"]
    names = tuple(str(name) for name in remaining if name is not None)
    if names:
        yield Message("removal.stays", {"files": format_names(names)})


def _thing(step: Step) -> Value:
    return f"@removal.kind.{step.kind}" if step.kind in NAMED_KINDS else step.data.get("path")
