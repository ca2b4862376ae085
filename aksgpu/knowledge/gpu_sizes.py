"""VM sizes with NVIDIA GPUs, and how to recognise one that has none.

Sources: `known_skus.yaml` and `supported-gpus.yaml` of karpenter-provider-azure, `gpu_components.go` of AgentBaker, and
the Azure compute documentation. Where these are silent, a number here is from the size's name or general
knowledge; no rule depends on such a number.
"""

import difflib
import re
from datetime import date
from typing import Final, Literal, NamedTuple

AS_OF: Final = date(2026, 11, 30)


class GpuSize(NamedTuple):
    """One VM size."""

    name: str
    vcpus: int | None
    memory_gib: int | None
    gpus: float
    """Below 1 for a share of one GPU."""
    model: str
    gpu_memory_gib: int
    """Of one GPU, or of the share."""
    family: str
    """Quota family."""
    infiniband: bool | None
    """None when no source says."""
    mig: bool | None
    """Whether AKS can split its GPUs with multi-instance GPU; None when no source says."""
    architecture: Literal["amd64", "arm64"] = "amd64"
    grid: bool = False
    """Needs the GRID driver, which AKS installs only from a recent node image on."""
    retired: date | None = None
    """The day from which Azure no longer runs it."""

    @property
    def shared(self) -> bool:
        """Tell whether what the node shows as one GPU is a share of one."""
        return self.gpus < 1


_T4 = "Standard NCASv3_T4 Family"
_A100 = "StandardNCADSA100v4Family"
_H100 = "StandardNCadsH100v5Family"
_A10 = "StandardNVADSA10v5Family"
_RTX = "StandardNCdsRTXPRO6000BSEv6XLFamily"

SIZES: Final = (
    GpuSize("Standard_NC4as_T4_v3", 4, 28, 1, "T4", 16, _T4, infiniband=False, mig=False),
    GpuSize("Standard_NC8as_T4_v3", 8, 56, 1, "T4", 16, _T4, infiniband=False, mig=False),
    GpuSize("Standard_NC16as_T4_v3", 16, 110, 1, "T4", 16, _T4, infiniband=False, mig=False),
    GpuSize("Standard_NC64as_T4_v3", 64, 440, 4, "T4", 16, _T4, infiniband=False, mig=False),
    GpuSize("Standard_NC24ads_A100_v4", 24, 220, 1, "A100", 80, _A100, infiniband=False, mig=True),
    GpuSize("Standard_NC48ads_A100_v4", 48, 440, 2, "A100", 80, _A100, infiniband=False, mig=True),
    GpuSize("Standard_NC96ads_A100_v4", 96, 880, 4, "A100", 80, _A100, infiniband=False, mig=True),
    GpuSize("Standard_NC40ads_H100_v5", 40, 320, 1, "H100", 94, _H100, infiniband=False, mig=True),
    GpuSize("Standard_NC80adis_H100_v5", 80, 640, 2, "H100", 94, _H100, infiniband=False, mig=True),
    GpuSize("Standard_ND96asr_v4", 96, 900, 8, "A100", 40, "Standard NDASv4_A100 Family", infiniband=True, mig=True),
    GpuSize(
        "Standard_ND96amsr_A100_v4", 96, 1900, 8, "A100", 80, "standard NDAMSv4_A100Family", infiniband=True, mig=True
    ),
    GpuSize("Standard_ND96isr_H100_v5", 96, 1900, 8, "H100", 80, "standardNDSH100v5Family", infiniband=True, mig=True),
    GpuSize(
        "Standard_ND96isr_H200_v5", 96, 1850, 8, "H200", 141, "standardNDISRH200V5Family", infiniband=True, mig=True
    ),
    GpuSize(
        "Standard_ND128isr_NDR_GB200_v6",
        128,
        900,
        4,
        "GB200",
        192,
        "standardNDISRGB200V6NDRFamily",
        infiniband=True,
        mig=None,
        architecture="arm64",
    ),
    *(
        GpuSize(
            f"Standard_ND128{feature}_GB300_v6",
            128,
            864,
            4,
            "GB300",
            288,
            "standardNDISRGB300V6Family",
            infiniband=True,
            mig=None,
            architecture="arm64",
        )
        for feature in ("isr", "isrG5")
    ),
    GpuSize("Standard_NV6ads_A10_v5", 6, 55, 1 / 6, "A10", 4, _A10, infiniband=False, mig=False, grid=True),
    GpuSize("Standard_NV12ads_A10_v5", 12, 110, 1 / 3, "A10", 8, _A10, infiniband=False, mig=False, grid=True),
    GpuSize("Standard_NV18ads_A10_v5", 18, 220, 1 / 2, "A10", 12, _A10, infiniband=False, mig=False, grid=True),
    GpuSize("Standard_NV36ads_A10_v5", 36, 440, 1, "A10", 24, _A10, infiniband=False, mig=False, grid=True),
    GpuSize("Standard_NV36adms_A10_v5", 36, 880, 1, "A10", 24, _A10, infiniband=False, mig=False, grid=True),
    GpuSize("Standard_NV72ads_A10_v5", 72, 880, 2, "A10", 24, _A10, infiniband=False, mig=False, grid=True),
    *(
        GpuSize(
            f"Standard_{size}_xl_RTXPRO6000BSE_v6",
            vcpus,
            memory,
            gpus,
            "RTX PRO 6000",
            96,
            _RTX,
            infiniband=None,
            mig=None,
            grid=True,
        )
        for size, vcpus, memory, gpus in (
            ("NC24lds", 24, 72, 0.25),
            ("NC36ds", 36, None, 0.5),
            ("NC36lds", 36, None, 0.5),
            ("NC72ds", 72, None, 1),
            ("NC72lds", 72, None, 1),
            ("NC144ds", 144, 516, 1),
            ("NC144lds", 144, 264, 1),
            ("NC288ds", 288, 1032, 2),
            ("NC288lds", 288, 516, 2),
        )
    ),
    *(
        GpuSize(
            f"Standard_NC{size}_v3",
            vcpus,
            memory,
            gpus,
            "V100",
            16,
            "standardNCSv3Family",
            infiniband=size.endswith("rs"),
            mig=False,
            retired=date(2025, 9, 30),
        )
        for size, vcpus, memory, gpus in (
            ("6s", 6, 112, 1),
            ("12s", 12, 224, 2),
            ("24s", 24, 448, 4),
            ("24rs", 24, 448, 4),
        )
    ),
    GpuSize("Standard_ND40rs_v2", 40, 672, 8, "V100", 32, "standardNDv2Family", infiniband=True, mig=False),
)

GRID_NODE_IMAGE: Final = "202606.08.1"
"""The first node image of AKS that runs the sizes with the GRID driver."""

_BY_NAME: Final = {size.name.casefold(): size for size in SIZES}

# Azure names sizes by family first. All NVIDIA sizes are in N; no other family has a GPU of NVIDIA. In N, the NVv4, NG,
# V620, V710, MI300X and MI325X series have GPUs of AMD, and the NP series has FPGAs.
_AZURE_SIZE = re.compile(r"(?:standard|basic)_([a-z]+)\d.*", re.IGNORECASE)
_NOT_NVIDIA = re.compile(r"standard_(?:n[pg]\d+.*|nv\d+as_v4|n[a-z]*\d.*_(?:mi\d+x?|v[67]\d0)_.*)", re.IGNORECASE)

Kind = Literal["nvidia", "no-nvidia", "unknown"]


def find(name: str) -> GpuSize | None:
    """Return a size of the table; Azure compares names without regard to case."""
    return _BY_NAME.get(name.casefold())


def kind(name: str) -> Kind:
    """Tell whether a size has NVIDIA GPUs; `unknown` for a name of the N family that the table doesn't have."""
    if find(name) is not None:
        return "nvidia"
    if _NOT_NVIDIA.fullmatch(name):
        return "no-nvidia"
    match = _AZURE_SIZE.fullmatch(name)
    if match is None or match[1].casefold().startswith("n"):
        return "unknown"
    return "no-nvidia"


def near(name: str) -> list[str]:
    """Return up to three sizes of the table that look like `name`."""
    hits = difflib.get_close_matches(name.casefold(), list(_BY_NAME), n=3, cutoff=0.7)
    return [_BY_NAME[hit].name for hit in hits]
