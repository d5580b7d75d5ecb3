"""How many examples a batch has: any number is typed, the arrows go along the powers of two."""

from __future__ import annotations

from ..components import NumberBox

LARGEST = 4096


class BatchBox(NumberBox):
    """`valueChanged` comes with every number that is typed."""

    def __init__(self) -> None:
        super().__init__()
        self.setRange(1, LARGEST)

    def set_words(self, words: str, name: str) -> None:
        """`words` with "{count}" where the number stands; `name` says what it is about. What is being typed stays."""
        before, _, after = words.partition("{count}")
        if (before, after) != (self.prefix(), self.suffix()):
            self.setPrefix(before)
            self.setSuffix(after)
        self.setAccessibleName(name)

    def stepBy(self, steps: int) -> None:
        """To the next power of two: those are what one usually takes."""
        value = self.value()
        for _ in range(abs(steps)):
            value = 1 << value.bit_length() if steps > 0 else max(1 << (value - 1).bit_length() >> 1, 1)
        self.setValue(value)
        self.selectAll()
