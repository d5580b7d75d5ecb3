"""How many examples a batch has: any number is typed, the arrows go along the powers of two."""

from __future__ import annotations

from ..components import SpinBox

MAX_BATCH = 4096


class BatchSizeBox(SpinBox):
    """`valueChanged` comes with every number that is typed."""

    def __init__(self) -> None:
        super().__init__()
        self.setRange(1, MAX_BATCH)

    def set_text(self, template: str, name: str) -> None:
        """`words` with "{count}" where the number stands; `name` says what it is about. What is being typed stays."""
        prefix, _, suffix = template.partition("{count}")
        if (prefix, suffix) != (self.prefix(), self.suffix()):
            self.setPrefix(prefix)
            self.setSuffix(suffix)
        self.setAccessibleName(name)

    def stepBy(self, steps: int) -> None:
        """To the next power of two: those are what one usually takes."""
        value = self.value()
        for _ in range(abs(steps)):
            value = 1 << value.bit_length() if steps > 0 else max(1 << (value - 1).bit_length() >> 1, 1)
        self.setValue(value)
        self.selectAll()
