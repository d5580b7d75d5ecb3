"""A whole small program that trains one of our models with less memory, to be run and to be copied from; pure."""

from __future__ import annotations

from typing import NamedTuple

from ..core.memory import FitVariant, MemoryFit
from .projection import PARTS, fits, usable_batch


class Example(NamedTuple):
    """A model as people train it: `needs` is the package that it is from (`bench/needed.py` says what brings it).

    `out` makes scores of what the model gives, `wanted` the right answers of a loader's targets; `data` are made-up
    inputs and targets with `{batch}` for how many; `parted` is what to know of a batch in parts.
    """

    needs: str
    imports: str
    made: str
    optimizer: str
    blocks: str
    out: str
    wanted: str
    data: str
    parted: tuple[str, ...] = ()


EXAMPLES = {
    "resnet50": Example(
        needs="torchvision",
        imports="from torchvision.models import resnet50",
        made="resnet50()",
        optimizer="torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)",
        blocks="[*model.layer1, *model.layer2, *model.layer3, *model.layer4]",
        out="",
        wanted="",
        data="torch.randn({batch}, 3, 224, 224), torch.randint(1000, ({batch},))",
        parted=("        # Its BatchNorm sees no more of it either, so it learns a little differently.",),
    ),
    "bert-base": Example(
        needs="transformers",
        imports="from transformers import BertConfig, BertForSequenceClassification",
        made="BertForSequenceClassification(BertConfig())",
        optimizer="torch.optim.AdamW(model.parameters(), lr=1e-5)",
        blocks="list(model.bert.encoder.layer)",
        out=".logits",
        wanted="",
        data="torch.randint(1, 30522, ({batch}, 128)), torch.randint(2, ({batch},))",
    ),
    "language-model": Example(
        needs="transformers",
        imports="from transformers import LlamaConfig, LlamaForCausalLM",
        made=(
            "LlamaForCausalLM(LlamaConfig(\n"
            "    vocab_size=32000, hidden_size=768, intermediate_size=2048, num_hidden_layers=12,\n"
            "    num_attention_heads=12, tie_word_embeddings=True, use_cache=False,\n"
            "))"
        ),
        optimizer="torch.optim.AdamW(model.parameters(), lr=1e-5)",
        blocks="list(model.model.layers)",
        out=".logits.flatten(0, 1)",
        wanted=".flatten()",
        data="torch.randint(32000, ({batch}, 128)), torch.randint(32000, ({batch}, 128))",
    ),
}


def ways_of(fit: MemoryFit) -> frozenset[FitVariant]:
    """What saves memory in what was measured; "together" has mixed precision only where the device computes it."""
    if fit.variant == "plain":
        return frozenset()
    if fit.variant != "together":
        return frozenset({fit.variant})
    mixed: frozenset[FitVariant] = frozenset({"mixed"} if fit.dtype.startswith("mixed-") else ())
    return mixed | {"checkpointing", "accumulation"}


def snippet(fit: MemoryFit) -> str:
    """The program whose steps need what was measured: the same model, batch, optimizer, device and ways.

    Its function `train` takes a model, a loader, an optimizer and a loss of one's own as well. Runs on torch 2.0 and
    later, with float16 on a card on 2.3 and later. Where that batch does not fit it takes the largest that does.
    """
    ways, example, last = ways_of(fit), EXAMPLES[fit.model], fit.device != "cpu"
    half = fit.dtype.removeprefix("mixed-") if "mixed" in ways else None
    scaled = half == "float16" and last
    # Tensor cores read images channel by channel last.
    last = last and half is not None and fit.model == "resnet50"
    form = ", memory_format=torch.channels_last" if last else ""
    checkpointed = "checkpointing" in ways
    given = "model, loader, optimizer, loss_function" + (", blocks" if checkpointed else "")

    batch, lines = fit.batch, []
    if fits(fit) is False:
        batch = usable_batch(fit) or 1
        less = f"this takes {batch}" if usable_batch(fit) else "not even a batch of 1 does"
        lines = [f"# A batch of {fit.batch} does not fit into the free memory: {less}."]
    lines += [f"# Needs {example.needs} beside torch."]
    # Which of several cards "cuda:0" is: torch's own order is another one.
    ordered = ['os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # numbers as the driver gives them', ""]
    ordered = ordered if fit.device != "cpu" else []
    lines += ["import os"] if ordered else []
    lines += ["from functools import partial"] if checkpointed else []
    lines += ["", *ordered] if ordered or checkpointed else []
    lines += ["import torch"]
    lines += ["from torch.utils.checkpoint import checkpoint"] if checkpointed else []
    lines += [example.imports, "", f'device = "{fit.device}"', "", ""]
    lines += [f"def train({given}):", f"    model.to(device{form}).train()"]
    if checkpointed:
        lines += [
            "    for block in blocks:  # the parts that the model runs one after the other",
            "        if not isinstance(block.forward, partial):  # once, however often this is called",
            "            block.forward = partial(checkpoint, block.forward, use_reentrant=False)",
        ]
    lines += ['    scaler = torch.amp.GradScaler("cuda")'] if scaled else []
    lines += ["    for inputs, targets in loader:"]
    lines += _step(example, half, form, scaled=scaled, parts=PARTS if "accumulation" in ways else 1)
    update = ["scaler.step(optimizer)", "scaler.update()"] if scaled else ["optimizer.step()"]
    lines += [" " * 8 + line for line in (*update, "optimizer.zero_grad(set_to_none=True)")]
    last_loss = "total" if "accumulation" in ways else "loss"
    lines += [f'    print(f"Loss of the last batch: {{{last_loss}.item():.4f}}")']
    if fit.device != "cpu":
        peak = "torch.cuda.max_memory_allocated(device) / 2**20"
        lines += [f'    print(f"Most memory taken on the GPU: {{{peak}:,.0f}} MB")']

    data = example.data.format(batch=batch)
    given = "model, loader, optimizer, torch.nn.CrossEntropyLoss()" + (", blocks" if checkpointed else "")
    lines += ["", "", f"model = {example.made}", f"optimizer = {example.optimizer}"]
    lines += [f"blocks = {example.blocks}"] if checkpointed else []
    lines += [f"# Three batches of {batch}, made up: your own loader goes here.", f"loader = [({data})] * 3"]
    return "\n".join([*lines, f"train({given})"]) + "\n"


def _step(example: Example, half: str | None, form: str, *, scaled: bool, parts: int) -> list[str]:
    """From a batch to its gradients."""
    lines, one, other, share, indent = [], "inputs", "targets", "", " " * 8
    if parts > 1:
        one, other, share = "some", "wanted", " * (len(some) / len(inputs))"
        lines += [
            "        total = 0",
            f"        # One of {parts} parts of the batch is on the device at a time.",
            *example.parted,
            f"        for {one}, {other} in zip(inputs.chunk({parts}), targets.chunk({parts})):",
        ]
        indent = " " * 12
    lines += [f"{indent}{one}, {other} = {one}.to(device{form}), {other}.to(device)"]
    loss = f"loss = loss_function(model({one}){example.out}, {other}{example.wanted}){share}"
    if half is None:
        lines += [indent + loss]
    else:
        lines += [f"{indent}with torch.autocast(torch.device(device).type, dtype=torch.{half}):", f"{indent}    {loss}"]
    lines += [indent + ("scaler.scale(loss).backward()" if scaled else "loss.backward()")]
    return [*lines, f"{indent}total += loss.detach()"] if parts > 1 else lines
