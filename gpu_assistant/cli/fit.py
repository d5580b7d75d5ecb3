"""`gpu-assistant fit`: which models fit into the card's memory, from published figures, or measured."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..core.errors import UsageError
from .jobs import run_job
from .render import fit as render

if TYPE_CHECKING:
    from ..app import App
    from ..core.machine import Machine
    from ..core.results import MemoryFits, ModelFits
    from .output import Output

DEFAULT_MEASURED_MODEL = "resnet50"


def run_fit(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Show what fits; with --measure also what a training step takes on this computer."""
    machine = run_job(app.setup.detect())
    model = arguments.model or (DEFAULT_MEASURED_MODEL if arguments.measure else None)
    fits = app.monitoring.estimate_models(machine, model=model)
    if arguments.measure:
        fits = replace(fits, measured=_measure(app, arguments, machine, fits))
    if output.json:
        output.write_json(fits)
    else:
        render.render_fits(fits, output)
    return 0


def _measure(app: App, arguments: argparse.Namespace, machine: Machine, fits: ModelFits) -> MemoryFits:
    """Raises UsageError("model-unmeasured"), and what the measurement raises."""
    from ..bench.memory_fit import LARGEST_GPU_DEVICE

    estimated = fits.models[0]
    if estimated.measured_as is None:
        models = app.monitoring.estimate_models(machine).models
        known = {each.id for each in models if each.measured_as is not None}
        raise UsageError("model-unmeasured", given=estimated.id, known=", ".join(sorted(known)))
    device = LARGEST_GPU_DEVICE if fits.memory is not None else "cpu"
    job = app.monitoring.estimate_memory(
        app.setup.environment_path(arguments.env), model=estimated.measured_as, batch=estimated.items, device=device
    )
    return run_job(job)
