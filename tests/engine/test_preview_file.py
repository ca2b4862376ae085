"""What the real engine writes as a state and as a preview is read as the pools that it holds."""

import json

import pytest

from aksgpu.readers import pulumi_files
from tests.engine.conftest import CHECKOUT, Dev

COMMANDS = {
    "state": ("pulumi", "stack", "export", "--stack", "dev"),
    "preview": ("pulumi", "preview", "--stack", "dev", "--non-interactive", "--json", "--show-sames"),
}


@pytest.mark.parametrize("what", COMMANDS)
def test_a_file_of_the_real_engine(dev: Dev, what: str):
    printed = dev.twin.run(*COMMANDS[what], cwd=CHECKOUT).stdout
    data = json.loads(printed)
    assert pulumi_files.recognises(data)
    reading = pulumi_files.read(data, "file.json")
    assert reading.unreadable == ()
    assert "DRA" in {pool.driver_mode for pool in reading.estate.pools}
    assert {pool.place.file for pool in reading.estate.pools} == {"file.json"}
    assert not reading.estate.changes
