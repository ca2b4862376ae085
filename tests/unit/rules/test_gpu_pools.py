"""Which pools count as having GPUs."""

import pytest

from aksgpu.facts.base import Place
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.facts.truth import UNKNOWN, Maybe, Truth
from aksgpu.rules.gpu_pools import has_gpus


@pytest.mark.parametrize(
    ("vm_size", "management_mode", "has"),
    [
        ("Standard_NC24ads_A100_v4", None, True),
        ("Standard_NC99ads_Z999_v9", None, True),  # a size of the N family that the table doesn't have yet
        ("Standard_D4s_v5", None, False),
        ("Standard_NV32as_v4", None, False),
        ("Standard_D4s_v5", "Managed", True),
        (None, None, False),
        (UNKNOWN, None, UNKNOWN),
        ("Standard_D4s_v5", UNKNOWN, UNKNOWN),
    ],
)
def test_has_gpus(vm_size: Maybe[str], management_mode: Maybe[str], has: Truth):
    pool = PoolFacts(
        place=Place(object="x"), form=PoolForm(kind="live"), vm_size=vm_size, management_mode=management_mode
    )
    assert has_gpus(pool) is has
