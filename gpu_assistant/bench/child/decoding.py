"""Text generation with a small language model, one sequence at a time, in tokens per second."""

from __future__ import annotations

import copy
import math
import time
from typing import Any, Dict, Tuple

from .devices import Device
from .precision import tolerance
from .workload import Workload

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

    def check(self) -> Tuple[float, float]:
        """Compare the last logits with those of a float64 model that gets prompt and generated tokens at once."""
        torch = self.torch
        if not self.is_checked_last:
            (self.last_s,) = self.device.time_runs(self.run)
        token_ids = torch.cat([self.prompt, *self.generated[:-1]], -1).cpu()
        with torch.inference_mode():
            reference = self.float_model.double()(token_ids)
        del self.float_model
        error = float((self.logits.cpu().double() - reference).abs().max() / reference.abs().max())
        return (error if math.isfinite(error) else 1.0), tolerance(self.dtype)

    def settings(self) -> Dict[str, Any]:
        """The precision switches and the model's dimensions."""
        return {**super().settings(), "parameters": sum(each.numel() for each in self.model.parameters())}
