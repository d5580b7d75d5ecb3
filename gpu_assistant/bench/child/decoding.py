"""Text generation with a small language model, one sequence at a time, in tokens per second.

Each token is some six hundred small kernels. A GPU computes them faster than a program in Python starts them, so that
`DecodingWorkload` on a GPU measures the CPU; `GraphDecodingWorkload` starts them all at once and measures the GPU.
"""

from __future__ import annotations

import copy
import math
import sys
import time
from typing import Any, Dict, Tuple

from .devices import CudaDevice, Device, is_out_of_memory
from .precision import tolerance
from .workload import Workload, WorkloadSkipped

PROMPT_TOKENS, NEW_TOKENS = 64, 32
SHORT_TOKENS = 8  # generated where the time does not suffice for the full length
FULL_LENGTH_RUNS = 4  # runs of the full length that must fit into the remaining time
MIN_MODEL_BYTES = 1400 * 2**20  # the float64 model that checks the result is the largest part
OPERATIONS_PER_TOKEN = 0.22e9  # two for each weight


class DecodingWorkload(Workload):
    """`size` is (tokens of the prompt, tokens generated); one run generates all of them."""

    id = "decode"
    unit = "tokens/s"

    def __init__(self, device: Device, dtype: str, limit_s: float) -> None:
        super().__init__(device, dtype, (PROMPT_TOKENS, NEW_TOKENS), limit_s)
        self.batch = 1
        self.is_checked_last = device.kind == "cpu"
        self._set_token_count(NEW_TOKENS)

    def required_bytes(self) -> int:
        """Weights and cache; on the CPU the reference, too."""
        return MIN_MODEL_BYTES if self.device.kind == "cpu" else MIN_MODEL_BYTES // 3

    def operations(self) -> float:
        """The prompt and four short runs; a token at a time is limited by memory and counts more."""
        return OPERATIONS_PER_TOKEN * (PROMPT_TOKENS + SHORT_TOKENS * 4 * 5)

    def _set_token_count(self, token_count: int) -> None:
        self.size, self.amount = (PROMPT_TOKENS, token_count), float(token_count)

    def prepare(self) -> None:
        """Create the model, fill its cache with the prompt, and choose the number of tokens by the remaining time."""
        from .models import DECODER_VOCABULARY_SIZE, Decoder

        torch, device_id = self.torch, self.device.id
        torch.manual_seed(0)
        self.float_model = Decoder().eval()
        model = self.float_model if self.dtype == "float32" and device_id == "cpu" else copy.deepcopy(self.float_model)
        self.model = model.to(getattr(torch, self.dtype)).to(device_id)
        self.prompt = torch.randint(0, DECODER_VOCABULARY_SIZE, (1, PROMPT_TOKENS)).to(device_id)
        self.cache = self.model.empty_cache(PROMPT_TOKENS + NEW_TOKENS)
        with torch.inference_mode():
            self.first_token = self.model(self.prompt, 0, self.cache).argmax(-1, keepdim=True)
        if self.device.kind == "cpu":
            self._set_token_count(min(SHORT_TOKENS, NEW_TOKENS))
            (seconds,) = self.device.time_runs(self.run)
            if seconds / self.size[1] * NEW_TOKENS * FULL_LENGTH_RUNS < self.deadline - time.perf_counter():
                self._set_token_count(NEW_TOKENS)
            else:
                self.last_s = seconds

    def run(self) -> None:
        """Generate the tokens by greedy decoding."""
        token = self.first_token
        self.generated = [token]
        with self.torch.inference_mode():
            for position in range(PROMPT_TOKENS, sum(self.size)):
                self.logits = self.model(token, position, self.cache)
                token = self.logits.argmax(-1, keepdim=True)
                self.generated.append(token)

    def sequence(self) -> Any:
        """The prompt and the generated tokens without the last one, whose logits the model has not computed."""
        return self.torch.cat([self.prompt, *self.generated[:-1]], -1)

    def check(self) -> Tuple[float, float]:
        """Compare the last logits with those of a float64 model that gets prompt and generated tokens at once."""
        torch = self.torch
        if not self.is_checked_last:
            (self.last_s,) = self.device.time_runs(self.run)
        token_ids = self.sequence().cpu()
        with torch.inference_mode():
            reference = self.float_model.double()(token_ids)
        del self.float_model
        error = float((self.logits.cpu().double() - reference).abs().max() / reference.abs().max())
        return (error if math.isfinite(error) else 1.0), tolerance(self.dtype)

    def settings(self) -> Dict[str, Any]:
        """The precision switches and the model's dimensions."""
        return {**super().settings(), "parameters": sum(each.numel() for each in self.model.parameters())}


class GraphDecodingWorkload(DecodingWorkload):
    """The same on a GPU, with the step of a token recorded once as a CUDA graph and replayed for each token."""

    id = "decode-graph"
    device: CudaDevice

    def prepare(self) -> None:
        """Also record the step; raises WorkloadSkipped where that is not possible."""
        super().prepare()
        torch = self.torch
        self.frequencies = self.model.rotary_frequencies()
        with torch.inference_mode():
            # Each step reads the token at its position and writes the one after it.
            self.tokens = self.prompt.new_zeros(1, PROMPT_TOKENS + NEW_TOKENS + 1)
            self.tokens[:, :PROMPT_TOKENS] = self.prompt
            self.tokens[:, PROMPT_TOKENS : PROMPT_TOKENS + 1] = self.first_token
            self.position = self.prompt.new_full((1,), PROMPT_TOKENS)
            try:
                self.graph = self.device.capture_graph(self._step)
            except RuntimeError as error:
                if is_out_of_memory(error) or self.device.is_lost():
                    raise
                print("%s: %s" % (type(error).__name__, error), file=sys.stderr)
                raise WorkloadSkipped("no-graph") from error

    def _step(self) -> None:
        self.logits = self.model.step(
            self.tokens.index_select(1, self.position), self.position, self.frequencies, self.cache
        )
        self.position += 1
        self.tokens.index_copy_(1, self.position, self.logits.argmax(-1, keepdim=True))

    def run(self) -> None:
        """Generate the tokens by greedy decoding."""
        with self.torch.inference_mode():
            self.position.fill_(PROMPT_TOKENS)
            for _ in range(self.size[1]):
                self.graph.replay()

    def sequence(self) -> Any:
        """As of `DecodingWorkload`."""
        return self.tokens[:, : sum(self.size)]
