"""What the Azure endpoint has accepted, in one SQLite file that survives a kill at any moment.

Resources are JSON documents under their lower-cased ARM id. Every write happens in a transaction that is on
disk before the answer goes out.
"""

import json
import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from twin.arm.settings import Settings
from twin.errors import TwinError

VERSION = 1
_SCHEMA = """
CREATE TABLE resources (id TEXT PRIMARY KEY, kind TEXT NOT NULL, parent TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX resources_by_parent ON resources (kind, parent);
CREATE TABLE operations (id TEXT PRIMARY KEY, target TEXT NOT NULL, status TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX operations_by_status ON operations (status);
CREATE TABLE settings (id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL);
"""


class Store:
    """Documents of the simulated Azure. Safe to use from many threads."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.RLock()
        try:
            self._db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._create()
        except sqlite3.DatabaseError as error:
            raise self._unusable(error) from error

    def _create(self) -> None:
        found = self._db.execute("PRAGMA user_version").fetchone()[0]
        if found == 0:
            self._db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
        elif found != VERSION:
            raise TwinError(
                f"The twin's database {self._file} has layout {found}, this program reads layout {VERSION}. Use the "
                f"program that wrote it, or forget the twin with `aksgpu twin reset --name {self._file.parent.name}`."
            )

    def _unusable(self, error: sqlite3.Error) -> TwinError:
        return TwinError(
            f"The twin's database {self._file} can't be used: {error}. Free disk space or fix its permissions, or "
            f"forget the twin with `aksgpu twin reset --name {self._file.parent.name}`."
        )

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Make what happens inside all or nothing, and alone; may be nested. Raises TwinError when the disk is full."""
        with self._lock:
            outermost = not self._db.in_transaction
            try:
                if outermost:
                    self._db.execute("BEGIN IMMEDIATE")
                yield
                if outermost:
                    self._db.execute("COMMIT")
            except BaseException as error:
                if outermost and self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise self._unusable(error) from error
                raise

    # Resources

    def get(self, id_: str) -> dict[str, Any] | None:
        """Return the document with this ARM id, in any case."""
        with self._lock:
            row = self._db.execute("SELECT body FROM resources WHERE id = ?", (id_.lower(),)).fetchone()
        return json.loads(row[0]) if row else None

    def put(self, kind: str, document: dict[str, Any], parent: str) -> None:
        """Write a document under its `id`."""
        with self.transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO resources VALUES (?, ?, ?, ?)",
                (document["id"].lower(), kind, parent.lower(), json.dumps(document)),
            )

    def delete(self, id_: str) -> None:
        """Forget a document and everything below it."""
        key = id_.lower()
        with self.transaction():
            self._db.execute(
                "DELETE FROM resources WHERE id = ? OR substr(id, 1, ?) = ?", (key, len(key) + 1, f"{key}/")
            )

    def resources(self, kind: str, parent: str | None = None) -> list[dict[str, Any]]:
        """Return the documents of a kind, of one parent or of all, ordered by id."""
        query, values = "SELECT body FROM resources WHERE kind = ?", [kind]
        if parent is not None:
            query, values = f"{query} AND parent = ?", [kind, parent.lower()]
        with self._lock:
            rows = self._db.execute(f"{query} ORDER BY id", values).fetchall()
        return [json.loads(row[0]) for row in rows]

    # Long-running operations

    def put_operation(self, operation: dict[str, Any]) -> None:
        """Write an operation under its `id`; it has `target` and `status`."""
        with self.transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO operations VALUES (?, ?, ?, ?)",
                (operation["id"], operation["target"], operation["status"], json.dumps(operation)),
            )

    def operation(self, id_: str) -> dict[str, Any] | None:
        """Return an operation."""
        with self._lock:
            row = self._db.execute("SELECT body FROM operations WHERE id = ?", (id_,)).fetchone()
        return json.loads(row[0]) if row else None

    def unfinished(self) -> list[dict[str, Any]]:
        """Return the operations in progress, oldest first."""
        with self._lock:
            rows = self._db.execute("SELECT body FROM operations WHERE status = 'InProgress' ORDER BY rowid").fetchall()
        return [json.loads(row[0]) for row in rows]

    # Settings

    def settings(self) -> Settings:
        """Return the settings; defaults when none were written."""
        with self._lock:
            row = self._db.execute("SELECT body FROM settings").fetchone()
        return Settings.model_validate_json(row[0]) if row else Settings()

    def put_settings(self, settings: Settings) -> None:
        """Write the settings."""
        with self.transaction():
            self._db.execute("INSERT OR REPLACE INTO settings VALUES (1, ?)", (settings.model_dump_json(),))
