"""What was acknowledged is there after a kill; a database of another program is refused."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from twin.arm.settings import Settings
from twin.arm.store import Store
from twin.errors import TwinError

WRITER = """
import sys
from pathlib import Path
from twin.arm.store import Store
store = Store(Path(sys.argv[1]))
number = 0
while True:
    with store.transaction():
        store.put("things", {"id": f"/a/{number}", "number": number}, "/a")
        store.put("things", {"id": f"/b/{number}", "number": number}, "/b")
    print(number, flush=True)
    number += 1
"""


def test_nothing_acknowledged_is_lost_by_a_kill(tmp_path: Path) -> None:
    file = tmp_path / "azure.sqlite"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    acknowledged = [int(writer.stdout.readline()) for _ in range(25)]
    os.kill(writer.pid, signal.SIGKILL)
    acknowledged += [int(line) for line in writer.stdout if line.endswith("\n")]
    writer.wait()
    store = Store(file)
    for parent in ("/a", "/b"):
        found = {document["number"] for document in store.resources("things", parent)}
        assert set(acknowledged) <= found
    assert len(store.resources("things", "/a")) == len(store.resources("things", "/b"))


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "azure.sqlite")
    with pytest.raises(ValueError, match="halfway"), store.transaction():
        store.put("things", {"id": "/x"}, "")
        with store.transaction():
            store.put("things", {"id": "/y"}, "")
        raise ValueError("halfway")
    assert store.resources("things") == []


def test_deleting_takes_what_is_below_and_nothing_beside(tmp_path: Path) -> None:
    store = Store(tmp_path / "azure.sqlite")
    for id_ in ("/g/A_b", "/g/A_b/pools/x", "/g/Axb", "/g/A_b2"):
        store.put("things", {"id": id_}, "/g")
    store.delete("/G/a_B")
    assert [document["id"] for document in store.resources("things")] == ["/g/A_b2", "/g/Axb"]


def test_settings_survive(tmp_path: Path) -> None:
    file = tmp_path / "azure.sqlite"
    first = Store(file)
    assert first.settings() == Settings()
    first.put_settings(Settings(quotas={"cores": 4}))
    first.close()
    assert Store(file).settings().quotas == {"cores": 4}


def test_another_layout_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "azure.sqlite"
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(TwinError, match="has layout 99, this program reads layout 1"):
        Store(file)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "azure.sqlite"
    file.write_text("this is not a database, however long it is " * 50)
    with pytest.raises(TwinError, match="can't be used"):
        Store(file)
