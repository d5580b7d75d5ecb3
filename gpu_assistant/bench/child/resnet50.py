"""ResNet-50 in plain torch, as torchvision has it: the same parts, names and initial weights.

He et al., "Deep Residual Learning for Image Recognition" (2015), with the stride in the 3 × 3 convolution.
"""

from __future__ import annotations

from typing import Any

from torch import nn

LAYERS = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))  # width, blocks, stride
EXPANSION = 4
IMAGE = (3, 224, 224)
CLASSES = 1000


class Bottleneck(nn.Module):
    """1 × 1, 3 × 3, 1 × 1, beside a way past them."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        out = width * EXPANSION
        self.conv1 = nn.Conv2d(channels, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, out, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or channels != out:
            self.downsample = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x: Any) -> Any:
        """(N, channels, H, W) → (N, 4 × width, H / stride, W / stride)."""
        past = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.relu(self.bn2(self.conv2(x)))
        return self.relu(self.bn3(self.conv3(x)) + past)


class ResNet50(nn.Module):
    """(N, 3, 224, 224) → (N, 1000)."""

    def __init__(self, classes: int = CLASSES) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, padding=1)
        channels = 64
        for number, (width, count, stride) in enumerate(LAYERS, 1):
            blocks = []
            for at in range(count):
                blocks.append(Bottleneck(channels, width, stride if at == 0 else 1))
                channels = width * EXPANSION
            setattr(self, "layer%d" % number, nn.Sequential(*blocks))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(channels, classes)
        for part in self.modules():
            if isinstance(part, nn.Conv2d):
                nn.init.kaiming_normal_(part.weight, mode="fan_out", nonlinearity="relu")

    def blocks(self) -> Any:
        """The parts that checkpointing computes again."""
        return [block for number in range(1, 5) for block in getattr(self, "layer%d" % number)]

    def forward(self, x: Any) -> Any:
        """Scores of each class."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for block in self.blocks():
            x = block(x)
        return self.fc(self.avgpool(x).flatten(1))
