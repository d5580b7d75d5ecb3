"""A small language model that writes, one sequence at a time: tokens a second."""

from __future__ import annotations

import copy
import math
import time
from typing import Any, Dict, Tuple

from .devices import Device
from .precision import tolerance
from .workload import Workload

PROMPT, NEW = 64, 32
LITTLE = 8  # words that are written where there is no time for more
RUNS = 4  # as many of the full length should fit into the time that is left
LEAST_BYTES = 1400 * 2**20  # the float64 model that checks the result is the largest part
OPERATIONS = 0.22e9  # of one word: two for each weight


class Decoding(Workload):
    """`size` is (words of the prompt, words written); one run writes all of them."""

    id = "decode"
    unit = "tokens/s"

    def __init__(self, device: Device, dtype: str, limit_s: float) -> None:
        super().__init__(device, dtype, (PROMPT, NEW), limit_s)
        self.batch = 1
        self.checked_last = device.kind == "cpu"
        self._take(NEW)

    def needs(self) -> int:
        """Weights and cache; on the processor the reference as well."""
        return LEAST_BYTES if self.device.kind == "cpu" else LEAST_BYTES // 3

    def operations(self) -> float:
        """The prompt, and four runs of a few words; a word at a time waits for memory and counts more."""
        return OPERATIONS * (PROMPT + LITTLE * 4 * 5)

    def _take(self, words: int) -> None:
        self.size, self.amount = (PROMPT, words), float(words)

    def prepare(self) -> None:
        """The model, the prompt's keys and values in its cache, and how many words there is time for."""
        from .decoder import VOCABULARY, Decoder

        torch, where = self.torch, self.device.id
        torch.manual_seed(0)
        self.weights = Decoder().eval()
        kept = self.weights if self.dtype == "float32" and where == "cpu" else copy.deepcopy(self.weights)
        self.model = kept.to(getattr(torch, self.dtype)).to(where)
        self.prompt = torch.randint(0, VOCABULARY, (1, PROMPT)).to(where)
        self.cache = self.model.room(PROMPT + NEW)
        with torch.inference_mode():
            self.first = self.model(self.prompt, 0, self.cache).argmax(-1, keepdim=True)
        if self.device.kind == "cpu":
            self._take(min(LITTLE, NEW))
            (seconds,) = self.device.seconds(self.run)
            if seconds / self.size[1] * NEW * RUNS < self.deadline - time.perf_counter():
                self._take(NEW)
            else:
                self.last_s = seconds

    def run(self) -> None:
        """Write the words, always the likeliest one."""
        word = self.first
        self.written = [word]
        with self.torch.inference_mode():
            for at in range(PROMPT, sum(self.size)):
                self.scores = self.model(word, at, self.cache)
                word = self.scores.argmax(-1, keepdim=True)
                self.written.append(word)

    def check(self) -> Tuple[float, float]:
        """The last scores against those of the float64 model, which reads prompt and written words at once."""
        torch = self.torch
        if not self.checked_last:
            (self.last_s,) = self.device.seconds(self.run)
        words = torch.cat([self.prompt, *self.written[:-1]], -1).cpu()
        with torch.inference_mode():
            reference = self.weights.double()(words)
        del self.weights
        error = float((self.scores.cpu().double() - reference).abs().max() / reference.abs().max())
        return (error if math.isfinite(error) else 1.0), tolerance(self.dtype)

    def settings(self) -> Dict[str, Any]:
        """How large the model is."""
        return {**super().settings(), "parameters": sum(each.numel() for each in self.model.parameters())}
