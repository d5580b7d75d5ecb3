"""The code of a training loop that needs less memory, to be copied into one's own program; pure."""

from __future__ import annotations

from ..core.results import DType, FitVariant


def snippet(device: str, variants: frozenset[FitVariant], *, mixed: DType = "mixed-bfloat16", parts: int = 4) -> str:
    """A function `train(model, loader, optimizer, loss_function)` for this device ("cpu", "cuda:0").

    With "mixed" it computes in the format of `mixed`, with "accumulation" it gathers `parts` batches of the loader
    for one update, with "checkpointing" it keeps only what lies between the model's `blocks`. Runs on torch 2.0 and
    later.
    """
    parts = parts if "accumulation" in variants else 1
    half = mixed.removeprefix("mixed-") if "mixed" in variants else None
    scaled = half == "float16" and device != "cpu"
    lines = ["import torch"]
    if "checkpointing" in variants:
        lines += ["from functools import partial", "from torch.utils.checkpoint import checkpoint"]
    lines += ["", "", "def train(model, loader, optimizer, loss_function):", f'    model.to("{device}").train()']
    if "checkpointing" in variants:
        lines += [
            "    for block in model.blocks:  # the parts that your model runs one after the other",
            "        block.forward = partial(checkpoint, block.forward, use_reentrant=False)",
        ]
    if scaled:
        lines += ["    scaler = torch.cuda.amp.GradScaler()"]
    each = "inputs, targets"
    lines += [f"    for number, ({each}) in enumerate(loader, 1):" if parts > 1 else f"    for {each} in loader:"]
    lines += [f'        {each} = inputs.to("{device}"), targets.to("{device}")']
    loss = "loss_function(model(inputs), targets)" + (f" / {parts}" if parts > 1 else "")
    if half is not None:
        lines += [
            f'        with torch.autocast("{device.split(":", maxsplit=1)[0]}", dtype=torch.{half}):',
            f"            loss = {loss}",
        ]
    else:
        lines += [f"        loss = {loss}"]
    lines += ["        scaler.scale(loss).backward()" if scaled else "        loss.backward()"]
    update = ["scaler.step(optimizer)", "scaler.update()"] if scaled else ["optimizer.step()"]
    update += ["optimizer.zero_grad(set_to_none=True)"]
    if parts > 1:
        lines += [f"        if number % {parts} == 0:"]
    indent = " " * (12 if parts > 1 else 8)
    return "\n".join([*lines, *(indent + line for line in update)]) + "\n"
