"""The code of a training loop that needs less memory, to be copied into one's own program; pure."""

from __future__ import annotations

from ..core.results import DType, FitVariant

# The parts that a model runs one after the other, as those models have them that people train.
BLOCKS = {
    "resnet50": ("torchvision's ResNet-50", "[*model.layer1, *model.layer2, *model.layer3, *model.layer4]"),
    "bert-base": ("Hugging Face's BertForSequenceClassification", "list(model.bert.encoder.layer)"),
    "language-model": ("Hugging Face's LlamaForCausalLM", "list(model.model.layers)"),
}


def snippet(
    device: str,
    variants: frozenset[FitVariant],
    *,
    model: str = "resnet50",
    mixed: DType = "mixed-bfloat16",
    parts: int = 4,
) -> str:
    """A function `train(model, loader, optimizer, loss_function)` for this device ("cpu", "cuda:0").

    With "mixed" it computes in the format of `mixed`, with "accumulation" it works on each batch of the loader in
    `parts` pieces before one update, with "checkpointing" it keeps only what lies between the `blocks`, which it gets
    as well; a comment has those of `model`. Runs on torch 2.0 and later, with float16 on a card on 2.3 and later.
    """
    parts = parts if "accumulation" in variants else 1
    half = mixed.removeprefix("mixed-") if "mixed" in variants else None
    scaled = half == "float16" and device != "cpu"
    lines = ["import torch"]
    given = "model, loader, optimizer, loss_function"
    if "checkpointing" in variants:
        whose, blocks = BLOCKS[model]
        given += ", blocks"
        lines += ["from functools import partial", "from torch.utils.checkpoint import checkpoint", "", ""]
        lines += ["# blocks: the parts that your model runs one after the other.", f"# With {whose}:", f"#   {blocks}"]
    else:
        lines += ["", ""]
    lines += [f"def train({given}):", f'    model.to("{device}").train()']
    if "checkpointing" in variants:
        lines += [
            "    for block in blocks:",
            "        if not isinstance(block.forward, partial):  # once, however often this is called",
            "            block.forward = partial(checkpoint, block.forward, use_reentrant=False)",
        ]
    lines += ['    scaler = torch.amp.GradScaler("cuda")'] if scaled else []
    lines += ["    for inputs, targets in loader:"]
    some = "inputs, targets"
    indent = " " * 8
    share = ""
    if parts > 1:
        some = "some, wanted"
        share = " * (len(some) / len(inputs))"
        lines += [
            f"        # One of {parts} parts of the batch is on the device at a time.",
            "        # BatchNorm sees no more of it either, so a model with it learns a little differently.",
            f"        for {some} in zip(inputs.chunk({parts}), targets.chunk({parts})):",
        ]
        indent = " " * 12
    one, other = some.split(", ")
    lines += [f'{indent}{some} = {one}.to("{device}"), {other}.to("{device}")']
    loss = f"loss = loss_function(model({one}), {other}){share}"
    if half is not None:
        kind = device.split(":", maxsplit=1)[0]
        lines += [f'{indent}with torch.autocast("{kind}", dtype=torch.{half}):', f"{indent}    {loss}"]
    else:
        lines += [indent + loss]
    lines += [indent + ("scaler.scale(loss).backward()" if scaled else "loss.backward()")]
    update = ["scaler.step(optimizer)", "scaler.update()"] if scaled else ["optimizer.step()"]
    lines += [" " * 8 + line for line in (*update, "optimizer.zero_grad(set_to_none=True)")]
    return "\n".join(lines) + "\n"
