"""Example programs that train one of the measured models in a memory-saving variant; pure."""

from __future__ import annotations

from typing import NamedTuple

from ..core.results import FitVariant, MemoryFit
from .memory_fit import ACCUMULATION_STEPS, is_batch_fitting, practical_batch


class ExampleModel(NamedTuple):
    """Source fragments of a model's example program.

    `package` provides the model (`install_command` in `bench/memory_fit.py` installs it). `scores` is appended to the
    model's output to get scores, `answers` to a loader's targets to get labels. `data` are synthetic inputs and
    targets with `{batch}` for their number. `accumulation_note` are comment lines for gradient accumulation.
    """

    package: str
    imports: str
    model: str
    optimizer: str
    blocks: str
    scores: str
    answers: str
    data: str
    accumulation_note: tuple[str, ...] = ()


EXAMPLE_MODELS = {
    "resnet50": ExampleModel(
        package="torchvision",
        imports="from torchvision.models import resnet50",
        model="resnet50()",
        optimizer="torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)",
        blocks="[*model.layer1, *model.layer2, *model.layer3, *model.layer4]",
        scores="",
        answers="",
        data="torch.randn({batch}, 3, 224, 224), torch.randint(1000, ({batch},))",
        accumulation_note=("        # Its BatchNorm sees no more of it either, so it learns a little differently.",),
    ),
    "bert-base": ExampleModel(
        package="transformers",
        imports="from transformers import BertConfig, BertForSequenceClassification",
        model="BertForSequenceClassification(BertConfig())",
        optimizer="torch.optim.AdamW(model.parameters(), lr=1e-5)",
        blocks="list(model.bert.encoder.layer)",
        scores=".logits",
        answers="",
        data="torch.randint(1, 30522, ({batch}, 128)), torch.randint(2, ({batch},))",
    ),
    "language-model": ExampleModel(
        package="transformers",
        imports="from transformers import LlamaConfig, LlamaForCausalLM",
        model=(
            "LlamaForCausalLM(LlamaConfig(\n"
            "    vocab_size=32000, hidden_size=768, intermediate_size=2048, num_hidden_layers=12,\n"
            "    num_attention_heads=12, tie_word_embeddings=True, use_cache=False,\n"
            "))"
        ),
        optimizer="torch.optim.AdamW(model.parameters(), lr=1e-5)",
        blocks="list(model.model.layers)",
        scores=".logits.flatten(0, 1)",
        answers=".flatten()",
        data="torch.randint(32000, ({batch}, 128)), torch.randint(32000, ({batch}, 128))",
    ),
}


def memory_savings(fit: MemoryFit) -> frozenset[FitVariant]:
    """What saves memory in what was measured; "together" has mixed precision only where the device computes it."""
    if fit.variant == "plain":
        return frozenset()
    if fit.variant != "together":
        return frozenset({fit.variant})
    mixed: frozenset[FitVariant] = frozenset({"mixed"} if fit.dtype.startswith("mixed-") else ())
    return mixed | {"checkpointing", "accumulation"}


def training_snippet(fit: MemoryFit) -> str:
    """The program whose steps need what was measured: the same model, batch, optimizer, device and ways.

    Its function `train` takes a model, a loader, an optimizer and a loss of one's own as well. Runs on torch 2.0 and
    later, with float16 on a card on 2.3 and later. Where that batch does not fit it takes the largest that does.
    """
    savings, example, channels_last = memory_savings(fit), EXAMPLE_MODELS[fit.model], fit.device != "cpu"
    half_dtype = fit.dtype.removeprefix("mixed-") if "mixed" in savings else None
    scales_gradients = half_dtype == "float16" and channels_last
    # Tensor cores read images channel by channel last.
    channels_last = channels_last and half_dtype is not None and fit.model == "resnet50"
    memory_format = ", memory_format=torch.channels_last" if channels_last else ""
    has_checkpointing = "checkpointing" in savings
    arguments = "model, loader, optimizer, loss_function" + (", blocks" if has_checkpointing else "")

    batch, lines = fit.batch, []
    if is_batch_fitting(fit) is False:
        batch = practical_batch(fit) or 1
        remark = f"this takes {batch}" if practical_batch(fit) else "not even a batch of 1 does"
        lines = [f"# A batch of {fit.batch} does not fit into the free memory: {remark}."]
    lines += [f"# Needs {example.package} beside torch."]
    # Which of several cards "cuda:0" is: torch's own order is another one.
    device_order_lines = ['os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # numbers as the driver gives them', ""]
    device_order_lines = device_order_lines if fit.device != "cpu" else []
    lines += ["import os"] if device_order_lines else []
    lines += ["from functools import partial"] if has_checkpointing else []
    lines += ["", *device_order_lines] if device_order_lines or has_checkpointing else []
    lines += ["import torch"]
    lines += ["from torch.utils.checkpoint import checkpoint"] if has_checkpointing else []
    lines += [example.imports, "", f'device = "{fit.device}"']
    if fit.device != "cpu":
        lines += [
            "# On Windows and in WSL the driver would lend slow system memory where the card's own is nearly full.",
            'if os.name == "nt" or os.path.exists("/dev/dxg"):',
            "    free, total = torch.cuda.mem_get_info(device)",
            "    torch.cuda.set_per_process_memory_fraction(0.95 * free / total, device)",
        ]
    lines += ["", ""]
    lines += [f"def train({arguments}):", f"    model.to(device{memory_format}).train()"]
    if has_checkpointing:
        lines += [
            "    for block in blocks:  # the parts that the model runs one after the other",
            "        if not isinstance(block.forward, partial):  # once, however often this is called",
            "            block.forward = partial(checkpoint, block.forward, use_reentrant=False)",
        ]
    lines += ['    scaler = torch.amp.GradScaler("cuda")'] if scales_gradients else []
    lines += ["    for inputs, targets in loader:"]
    lines += _step_lines(
        example,
        half_dtype,
        memory_format,
        scales_gradients=scales_gradients,
        accumulation_steps=ACCUMULATION_STEPS if "accumulation" in savings else 1,
    )
    update = ["scaler.step(optimizer)", "scaler.update()"] if scales_gradients else ["optimizer.step()"]
    lines += [" " * 8 + line for line in (*update, "optimizer.zero_grad(set_to_none=True)")]
    loss_name = "total" if "accumulation" in savings else "loss"
    lines += [f'    print(f"Loss of the last batch: {{{loss_name}.item():.4f}}")']
    if fit.device != "cpu":
        peak = "torch.cuda.max_memory_allocated(device) / 2**20"
        lines += [f'    print(f"Most memory taken on the GPU: {{{peak}:,.0f}} MB")']

    data = example.data.format(batch=batch)
    arguments = "model, loader, optimizer, torch.nn.CrossEntropyLoss()" + (", blocks" if has_checkpointing else "")
    lines += ["", "", f"model = {example.model}", f"optimizer = {example.optimizer}"]
    lines += [f"blocks = {example.blocks}"] if has_checkpointing else []
    lines += [f"# Three batches of {batch}, made up: your own loader goes here.", f"loader = [({data})] * 3"]
    return "\n".join([*lines, f"train({arguments})"]) + "\n"


def _step_lines(
    example: ExampleModel,
    half_dtype: str | None,
    memory_format: str,
    *,
    scales_gradients: bool,
    accumulation_steps: int,
) -> list[str]:
    """From a batch to its gradients."""
    lines, inputs_name, targets_name, loss_weight, indent = [], "inputs", "targets", "", " " * 8
    if accumulation_steps > 1:
        inputs_name, targets_name, loss_weight = "some", "wanted", " * (len(some) / len(inputs))"
        lines += [
            "        total = 0",
            f"        # One of {accumulation_steps} parts of the batch is on the device at a time.",
            *example.accumulation_note,
            f"        for {inputs_name}, {targets_name} in"
            f" zip(inputs.chunk({accumulation_steps}), targets.chunk({accumulation_steps})):",
        ]
        indent = " " * 12
    lines += [
        f"{indent}{inputs_name}, {targets_name} = {inputs_name}.to(device{memory_format}), {targets_name}.to(device)"
    ]
    loss = f"loss = loss_function(model({inputs_name}){example.scores}, {targets_name}{example.answers}){loss_weight}"
    if half_dtype is None:
        lines += [indent + loss]
    else:
        lines += [
            f"{indent}with torch.autocast(torch.device(device).type, dtype=torch.{half_dtype}):",
            f"{indent}    {loss}",
        ]
    lines += [indent + ("scaler.scale(loss).backward()" if scales_gradients else "loss.backward()")]
    return [*lines, f"{indent}total += loss.detach()"] if accumulation_steps > 1 else lines
