"""Chassis types, vendor names, PCI ids and architectures, from recorded text."""

from __future__ import annotations

import pytest

from gpu_assistant.system import hardware_ids


@pytest.mark.parametrize(
    ("device_class", "maker", "display"),
    [
        ("030000", "10de", True),
        ("030200", "10de", True),
        ("040300", "10de", False),
        ("120000", "1002", True),  # an Instinct card
        ("120000", "1da3", False),  # somebody else's accelerator
        ("060000", "8086", False),
    ],
)
def test_display_adapter_classes(device_class: str, maker: str, display: bool) -> None:
    assert hardware_ids.is_display_adapter(device_class, maker) is display


@pytest.mark.parametrize(
    ("names", "kernel", "cloud"),
    [
        (("7783-7084-3265-9085-8269-3286-77", "Microsoft Corporation"), None, "azure"),
        ((None, "Microsoft Corporation", "Virtual Machine"), "6.8.0-1021-azure", "azure"),
        ((None, "Microsoft Corporation", "Virtual Machine"), "6.8.0-85-generic", None),  # any Hyper-V
        (("Amazon EC2",), None, "aws"),
        ((None, "Google", "Google Compute Engine"), None, "gcp"),
        (("", "Alibaba Cloud", "Alibaba Cloud ECS"), None, "aliyun"),
        (("OracleCloud.com", "QEMU"), None, "other"),
        (("", "ASUS", "System Product Name"), "6.8.0-85-generic", None),
    ],
)
def test_cloud_provider(names: tuple[str | None, ...], kernel: str | None, cloud: str | None) -> None:
    assert hardware_ids.cloud_provider(names, kernel) == cloud


@pytest.mark.parametrize(
    ("maker", "product", "virtual"),
    [
        ("VMware, Inc.", "VMware7,1", True),
        ("Microsoft Corporation", "Virtual Machine", True),
        ("Microsoft Corporation", "Surface Laptop 5", False),
        ("Amazon EC2", "g5.xlarge", True),
        ("Amazon EC2", "g4dn.metal", False),
        ("ASUS", "System Product Name", False),
        ("", None, None),
    ],
)
def test_virtual_machine_by_vendor_string(maker: str, product: str | None, virtual: bool | None) -> None:
    assert hardware_ids.is_virtual_machine(maker, product) is virtual


def test_names_from_pci_ids() -> None:
    lines = "# c\n10de  NVIDIA Corporation\n\t2882  AD107 [GeForce RTX 4060]\n\t\t1043 88dc  Board\n"
    lines += "8086  Intel Corporation\n\t46a6  Alder Lake-P GT2 [Iris Xe Graphics]\nC 03  Display\n\t46a6  no\n"
    wanted = {("10de", "2882"), ("8086", "46a6"), ("8086", "ffff")}
    assert hardware_ids.read_device_names(lines.splitlines(keepends=True), wanted) == {
        ("10de", "2882"): "NVIDIA GeForce RTX 4060",
        ("8086", "46a6"): "Intel Iris Xe Graphics",
    }


@pytest.mark.parametrize(
    ("machine", "arch"), [("x86_64", "x86_64"), ("AMD64", "x86_64"), ("aarch64", "arm64"), ("riscv64", None)]
)
def test_arch(machine: str, arch: str | None) -> None:
    assert hardware_ids.normalize_architecture(machine) == arch
