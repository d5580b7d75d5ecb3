"""ResNet-50 in plain torch, as torchvision has it: the same parts, names and initial weights.

He et al., "Deep Residual Learning for Image Recognition" (2015), with the stride in the 3 × 3 convolution.
"""

from __future__ import annotations

from typing import Any

from torch import nn

RESNET_STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))  # width, blocks, stride
RESNET_EXPANSION = 4
RESNET_IMAGE_SHAPE = (3, 224, 224)
RESNET_CLASSES = 1000


class Bottleneck(nn.Module):
    """1 × 1, 3 × 3, 1 × 1, beside a way past them."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        out_channels = width * RESNET_EXPANSION
        self.conv1 = nn.Conv2d(channels, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, out_channels, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(out_channels)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or channels != out_channels:
            self.downsample = nn.Sequential(nn.Conv2d(channels, out_channels, 1, stride, bias=False), nn.BatchNorm2d(out_channels))

    def forward(self, x: Any) -> Any:
        """(N, channels, H, W) → (N, 4 × width, H / stride, W / stride)."""
        shortcut = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.relu(self.bn2(self.conv2(x)))
        return self.relu(self.bn3(self.conv3(x)) + shortcut)


class ResNet50(nn.Module):
    """(N, 3, 224, 224) → (N, 1000)."""

    def __init__(self, classes: int = RESNET_CLASSES) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, padding=1)
        channels = 64
        for stage_index, (width, block_count, stride) in enumerate(RESNET_STAGES, 1):
            blocks = []
            for block_index in range(block_count):
                blocks.append(Bottleneck(channels, width, stride if block_index == 0 else 1))
                channels = width * RESNET_EXPANSION
            setattr(self, "layer%d" % stage_index, nn.Sequential(*blocks))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(channels, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def blocks(self) -> Any:
        """The parts that checkpointing computes again."""
        return [block for number in range(1, 5) for block in getattr(self, "layer%d" % number)]

    def forward(self, x: Any) -> Any:
        """Scores of each class."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for block in self.blocks():
            x = block(x)
        return self.fc(self.avgpool(x).flatten(1))
