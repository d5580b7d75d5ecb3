"""Cards as scenarios: what stands on the four models' data sheets, and made-up figures of a card at work."""

from __future__ import annotations

Card = dict[str, str]

RTX_4060: Card = {
    "name": "NVIDIA GeForce RTX 4060",
    "uuid": "GPU-00000000-1111-2222-3333-444444444444",
    "capability": "8.9",
    "address": "00000000:01:00.0",
    "pci": "0x288210de",
    "util": "37",
    "mem_util": "12",
    "mem_total": "8585740288",
    "mem_used": "2000000000",
    "mem_reserved": "250000000",
    "temp": "51",
    "temp_max": "84",
    "temp_slow": "87",
    "temp_shutdown": "92",
    "fan": "30",
    "fan_rpm": "1250",
    "power": "63200",
    "power_limit": "115000",
    "power_default": "115000",
    "energy": "123456789",
    "pstate": "2",
    "pcie_gen": "4",
    "pcie_gen_max": "4",
    "pcie_gen_card": "4",
    "pcie_width": "8",
    "pcie_width_max": "8",
    "pcie_tx": "120",
    "pcie_rx": "3400",
    "pcie_replays": "0",
    "clock_sm": "2460",
    "clock_sm_max": "3105",
    "clock_mem": "8501",
    "clock_mem_max": "8501",
    "event_reasons": "0x4",
    "enc": "3",
    "dec": "4",
    "events": "1",
    "display": "1",
    "persistence": "0",
    "compute_mode": "0",
}

# A laptop's card: no fan of its own, no limit to be told, no page of its temperature limits but the distance.
RTX_4060_LAPTOP: Card = {
    **{
        key: value
        for key, value in RTX_4060.items()
        if not key.startswith(("fan", "temp_", "power_limit", "power_default"))
    },
    "name": "NVIDIA GeForce RTX 4060 Laptop GPU",
    "uuid": "GPU-00000000-1111-2222-3333-555555555555",
    "pci": "0x28a010de",
    "temp_margin": "36",
    "tlimit_max": "0",
    "tlimit_slow": "-2",
    "tlimit_shutdown": "-5",
    "mem_used": "300000000",
    "util": "0",
    "mem_util": "0",
    "power": "3100",
    "pstate": "8",
    "clock_sm": "210",
    "clock_mem": "405",
    "event_reasons": "0x1",
    "enc": "0",
    "dec": "0",
    "display": "0",
}

# Pascal: the older names of functions, retired pages but no rows to remap, no energy counter.
GTX_1060: Card = {
    **{key: value for key, value in RTX_4060.items() if key not in ("event_reasons", "energy", "fan_rpm")},
    "name": "NVIDIA GeForce GTX 1060 6GB",
    "uuid": "GPU-00000000-1111-2222-3333-106010601060",
    "capability": "6.1",
    "pci": "0x1c0310de",
    "mem_total": "6442450944",
    "power": "98000",
    "power_limit": "120000",
    "power_default": "120000",
    "temp": "83",
    "temp_max": "83",
    "temp_slow": "99",
    "temp_shutdown": "102",
    "pcie_gen": "3",
    "pcie_gen_max": "3",
    "pcie_gen_card": "3",
    "pcie_width": "16",
    "pcie_width_max": "16",
    "clock_sm": "1700",
    "clock_sm_max": "1911",
    "clock_mem": "4006",
    "clock_mem_max": "4006",
    "throttle_reasons": "0x20",
}

H100: Card = {
    **{key: value for key, value in RTX_4060.items() if not key.startswith("fan") and key != "display"},
    "name": "NVIDIA H100 80GB HBM3",
    "capability": "9.0",
    "pci": "0x233010de",
    "mem_total": "85520809984",
    "mem_used": "64000000000",
    "mem_reserved": "500000000",
    "mem_util": "71",
    "util": "99",
    "temp": "58",
    "temp_memory": "66",
    "temp_max": "87",
    "temp_slow": "89",
    "temp_shutdown": "94",
    "temp_memory_max": "95",
    "power": "688000",
    "power_limit": "700000",
    "power_default": "700000",
    "pstate": "0",
    "pcie_gen": "5",
    "pcie_gen_max": "5",
    "pcie_gen_card": "5",
    "pcie_width": "16",
    "pcie_width_max": "16",
    "clock_sm": "1980",
    "clock_sm_max": "1980",
    "clock_mem": "2619",
    "clock_mem_max": "2619",
    "ecc": "1",
    "ecc_corrected": "0",
    "ecc_uncorrected": "0",
    "ecc_corrected_total": "3",
    "ecc_uncorrected_total": "0",
    "remapped": "1 0 0 0",
    "event_reasons": "0x0",
}


def eight_h100() -> tuple[Card, ...]:
    """As a DGX has them."""
    return tuple(
        {
            **H100,
            "uuid": f"GPU-00000000-1111-2222-3333-{index:012d}",
            "address": f"00000000:{0x1B + 8 * index:02X}:00.0",
            "util": str(92 + index),
        }
        for index in range(8)
    )
