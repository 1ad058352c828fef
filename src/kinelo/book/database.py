"""Where a book is kept: one SQLite file, or tables in PostgreSQL. All that differs between the two stands here.

Statements are written once, with ``?`` for values. A transaction counts as a whole or not at all. Readers have a
connection of their own in every thread and see what was committed; writers of one process take turns, writers of
several wait for each other (SQLite) or for the rows they share (PostgreSQL).
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import stat
import threading
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from kinelo.book.schema import INDEXES, MILESTONES, TABLES, VIEWS
from kinelo.errors import InputError, in_one_line
from kinelo.runtime.extras import require

WAIT_SECONDS = 60.0
"""How long a writer waits for another one."""
CONNECT_SECONDS = 10
"""How long a PostgreSQL server may take to let somebody in, unless the address says otherwise."""
RETRIES = 8
"""How often a transaction that met another one in PostgreSQL is begun again."""
DURABLE = ("FULL", "NORMAL")
FEW_VALUES = 8
"""Values that are handed over one by one, which takes less time than a list of them."""
MOST_HELD = 1000
"""Rows that a cursor of PostgreSQL may hold in memory until the next question."""


def database_of(address: str, *, synchronous: str = "FULL") -> Database:
    """The database that a path or an address names; nothing is opened yet."""
    if synchronous not in DURABLE:
        raise InputError(f"synchronous={synchronous!r} is not known; it is 'FULL' or 'NORMAL'.")
    if is_server(address):
        return Postgres(address)
    return SQLite(Path(address), synchronous)


def is_server(address: str) -> bool:
    """Whether an address is that of a PostgreSQL database.

    >>> is_server("postgresql://localhost/chess"), is_server("chess.db")
    (True, False)
    """
    return address.startswith(("postgresql://", "postgres://"))


class UnreachableError(InputError):
    """A database does not answer, or not in time: what was asked may be asked again."""


class Database:
    """What both kinds share: connections by thread, transactions, errors in one sentence."""

    name: str
    types: ClassVar[dict[str, str]]
    for_update = ""
    next_number = "nextval('kinelo_number')"
    """The number of a new row of a table."""
    errors: tuple[type[Exception], ...] = ()

    def __init__(self) -> None:
        self.writing_lock = threading.RLock()
        self._own = threading.local()
        self._all: list[Any] = []
        self._writer: Any = None
        self._watch: Any = None
        self.answer: Any = None
        """The answer to the question with which a transaction began; None where it is the one before."""
        self.ahead: list[tuple] | None = None
        """Rows that were asked for with it, where a database answers both at once."""
        self._asked_at: Any = None

    # Connections

    def connect(self, *, writing: bool) -> Any:
        """A new connection."""
        raise NotImplementedError

    def connection(self) -> Any:
        """The connection of this thread: the writer's inside a transaction, else one for reading."""
        if self._writer is not None and getattr(self._own, "inside", False):
            return self._writer
        reader = getattr(self._own, "reader", None)
        if reader is None:
            reader = self._own.reader = self.connect(writing=False)
            self._all.append(reader)
        return reader

    def asked(self, sql: str, values: Sequence[Any]) -> Any:
        """A statement that was carried out, with its answer."""
        return self.connection().execute(self.translated(sql), values)

    def close(self) -> None:
        """Close every connection; the next use opens new ones."""
        for one in (*self._all, self._writer):
            if one is not None:
                with contextlib.suppress(*self.errors):
                    one.close()
        self._all, self._writer, self._own, self._watch = [], None, threading.local(), None

    # Statements

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple]:
        """All rows of a question."""
        try:
            return self.asked(sql, values).fetchall()
        except self.errors as error:
            raise self.worded(error) from None

    def one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first row of a question, None where there is none."""
        try:
            return self.asked(sql, values).fetchone()
        except self.errors as error:
            raise self.worded(error) from None

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Carry out a statement, inside a transaction."""
        try:
            self.asked(sql, values)
        except self.errors as error:
            raise self.worded(error) from None

    def many(self, sql: str, values: Iterable[Sequence[Any]]) -> None:
        """Carry out a statement with each of several values, inside a transaction."""
        raise NotImplementedError

    def entered(self, insert: str, sql: str, entries: Sequence[tuple[Sequence[Any], Sequence[Sequence[Any]]]]) -> bool:
        """Insert rows, and carry out a statement with each of the values of each; False where a row was not new."""
        raise NotImplementedError

    def translated(self, sql: str) -> str:
        """A statement as this database takes it."""
        return sql

    def among(self, column: str) -> str:
        """That a column is one of several values, handed over by :meth:`listed`."""
        raise NotImplementedError

    def listed(self, values: Iterable[str | int]) -> Any:
        """Several values as one."""
        raise NotImplementedError

    def one_of(self, column: str, values: Sequence[str]) -> tuple[str, list[Any]]:
        """That a column is one of several values, and what is handed over for it."""
        if 0 < len(values) <= FEW_VALUES:
            return f"{column} IN ({', '.join('?' * len(values))})", list(values)
        return self.among(column), [self.listed(values)]

    def numbers(self, count: int, table: str) -> Sequence[int]:
        """So many new numbers for rows of a table, which grow in the order of transactions that share anything."""
        raise NotImplementedError

    # Transactions

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All statements inside count together, once the disk has said so, or none does."""
        with self.writing_lock:
            try:
                self.start()
                yield
                self.finish()
            except BaseException:
                self.abandon()
                raise

    def start(self, *, everybody: bool | None = None, question: str = "", rows: tuple[str, Any] | None = None) -> None:
        """Begin a transaction, under the lock of those who write; keep out everybody, those who do, or none.

        ``answer`` is then the first row that a question gives; None where nothing was committed since it was asked in
        the transaction before. ``ahead`` are the rows of a statement with values, where that saves a message.
        """
        self.ahead = None
        if self._writer is None or self._is_closed(self._writer):
            self._writer, self._asked_at = self.connect(writing=True), None
        self._own.inside = True
        try:
            try:
                self.answer = self._begin(everybody, question, rows)
            except self.errors:
                if not self._is_closed(self._writer):
                    raise
                self._writer = self.connect(writing=True)  # it was lost since; nothing was sent by it yet
                self.answer = self._begin(everybody, question, rows)
        except self.errors as error:
            raise self.worded(error) from None

    def _begin(self, everybody: bool | None, question: str, rows: tuple[str, Any] | None) -> Any:
        """Begin a transaction; the answer to a question."""
        raise NotImplementedError

    def finish(self) -> None:
        """Let everything since :meth:`start` count."""
        try:
            self.asked("COMMIT", ())
        except self.errors as error:
            raise self.worded(error) from None
        self._own.inside = False

    def abandon(self) -> None:
        """Let nothing since :meth:`start` count."""
        self._own.inside = False
        if self._writer is not None:
            self._give_up()

    def _is_closed(self, connection: Any) -> bool:
        """Whether a connection was lost since it was made."""
        return False

    def _give_up(self) -> None:
        """Undo what a transaction has done so far, or leave its connection."""
        raise NotImplementedError

    def rewrite_pages(self) -> None:
        """Write all pages anew, so that nothing stands in those that were freed."""
        raise NotImplementedError

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All questions inside are answered from one moment."""
        raise NotImplementedError

    def is_conflict(self, error: BaseException) -> bool:
        """Whether a transaction may be begun again, because it met another one."""
        return False

    def moment(self) -> Any:
        """Something that differs where anything may have been committed by others in between."""
        raise NotImplementedError

    @contextmanager
    def in_words(self) -> Iterator[None]:
        """Errors of the database as one sentence."""
        try:
            yield
        except self.errors as error:
            raise self.worded(error) from None

    def worded(self, error: Exception) -> Exception:
        """An error of the database as one sentence, unless the transaction may be begun again."""
        return error if self.is_conflict(error) else self.sentence(error)

    def sentence(self, error: Exception) -> Exception:
        """What to say of an error of the database."""
        return InputError(f"{self.name}: {in_one_line(error).rstrip('.')[:200]}; nothing was changed.")

    # Schema

    def exists(self) -> bool:
        """Whether there is a book, or anything in its place."""
        raise NotImplementedError

    def begun(self) -> bool:
        """Whether tables have been made."""
        raise NotImplementedError

    def begin_file(self) -> None:
        """Make a file where one is needed and there is none."""

    def create(self) -> None:
        """Make the tables, inside a transaction."""
        for sql in (*TABLES.values(), *INDEXES.values(), *VIEWS.values()):
            self.run(self.definition(sql))

    def definition(self, sql: str) -> str:
        """The definition of a table, an index or a view in the words of this database."""
        return sql.format(**self.types)

    def check_schema(self) -> None:
        """Refuse tables that Kinelo did not make."""
        raise NotImplementedError

    def has(self, table: str) -> bool:
        """Whether there is a table of this name, which not every book has."""
        raise NotImplementedError

    def tables(self) -> dict[str, str]:
        """Definitions of the tables that this book has."""
        return TABLES | (MILESTONES if self.has("milestone") else {})

    def damage(self) -> list[str]:
        """What the database itself finds wrong with its file."""
        return []

    def not_ours(self, what: str) -> InputError:
        """What to say of tables that Kinelo did not make."""
        return InputError(f"{self.name} is no rating book as Kinelo makes them ({what}); nothing was changed.")


class SQLite(Database):
    """One file, with a write-ahead log beside it while it is open."""

    types: ClassVar[dict[str, str]] = {
        "real": "REAL", "integer": "INTEGER", "text": "TEXT", "blob": "BLOB", "date": "TEXT", "flag": "INTEGER",
        "number": "INTEGER PRIMARY KEY", "day": "date(last_day * 86400, 'unixepoch')",
    }  # fmt: skip
    next_number = "(SELECT COALESCE(MAX(number), 0) + 1 FROM {table})"
    errors = (sqlite3.Error, UnicodeError, OverflowError)  # damaged text, and numbers that no column holds

    def __init__(self, path: Path, synchronous: str) -> None:
        super().__init__()
        self.path, self.name, self.synchronous = path, str(path), synchronous
        self.log = path.parent / f"{path.name}-wal"
        self._watching = threading.Lock()

    def _is_writable(self) -> bool:
        return os.access(self.path, os.W_OK) and os.access(self.path.absolute().parent, os.W_OK)

    def _as_it_lies(self) -> Any:
        """What differs where a file has changed that cannot be written and has no log; None of any other.

        Such a file is read as it lies, without locks. One that has a log beside it is read with that: what was
        committed last stands there.
        """
        if self._is_writable() or self.log.exists():
            return None
        with contextlib.suppress(FileNotFoundError):
            found = os.stat(self.path)
            return found.st_ino, found.st_size, found.st_mtime_ns

    def connection(self) -> Any:
        """The connection of this thread; a new one where the file was read as it lay and has changed since."""
        local = self._own
        lay = getattr(local, "lay", None)
        if lay is not None and not local.reader.in_transaction and self._as_it_lies() != lay:
            local.reader = local.lay = None
        if getattr(local, "reader", None) is None:
            local.lay = self._as_it_lies()
        return super().connection()

    def connect(self, *, writing: bool) -> Any:
        """A new connection."""
        quoted = urllib.parse.quote(str(self.path.absolute()))
        writable = self._is_writable()
        if writing and not writable:
            raise OSError(13, "Permission denied", str(self.path))
        mode = "mode=rw" if writable else "mode=ro" if self._as_it_lies() is None else "mode=ro&immutable=1"
        with self.in_words():
            connection = sqlite3.connect(
                f"file:{quoted}?{mode}", uri=True, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                connection.execute("PRAGMA trusted_schema = OFF")
                connection.execute("PRAGMA cell_size_check = ON")
                if writable and connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal" and writing:
                    connection.execute("PRAGMA journal_mode = WAL")
                connection.execute(f"PRAGMA synchronous = {self.synchronous}")
                if not writing:
                    connection.execute("PRAGMA query_only = ON")
            except BaseException:
                connection.close()
                raise
        return connection

    def many(self, sql: str, values: Iterable[Sequence[Any]]) -> None:
        """Carry out a statement with each of several values."""
        try:
            self.connection().executemany(sql, values)
        except self.errors as error:
            raise self.worded(error) from None

    def entered(self, insert: str, sql: str, entries: Sequence[tuple[Sequence[Any], Sequence[Sequence[Any]]]]) -> bool:
        """Insert rows, and carry out a statement with each of the values of each."""
        try:
            for row, values in entries:
                if self._writer.execute(insert, row).rowcount != 1:
                    return False
                self._writer.executemany(sql, values)
        except self.errors as error:
            raise self.worded(error) from None
        return True

    def _begin(self, everybody: bool | None, question: str, rows: tuple[str, Any] | None) -> Any:
        """Begin a transaction, in which nobody else writes; what others commit changes the number of the data."""
        self._writer.execute("BEGIN IMMEDIATE")
        before, self._asked_at = self._asked_at, None
        if not question:
            return None
        number = self._asked_at = self._writer.execute("PRAGMA data_version").fetchone()[0]
        return None if number == before else self._writer.execute(question).fetchone()

    def among(self, column: str) -> str:
        """That a column is one of several values."""
        return f"{column} IN (SELECT value FROM json_each(?))"

    def listed(self, values: Iterable[str | int]) -> Any:
        """Several values as one."""
        import json

        return json.dumps(list(values))

    def numbers(self, count: int, table: str) -> Sequence[int]:
        """So many new numbers for rows."""
        last = self.one(f"SELECT MAX(number) FROM {table}")[0] or 0
        if last + count >= 2**63:
            raise self.not_ours(f"its table {table!r} holds the number {last}")
        return range(last + 1, last + 1 + count)

    def rewrite_pages(self) -> None:
        """Write the file anew, and empty the log beside it."""
        self.close()
        with self.writing_lock, self.in_words():
            connection = self.connect(writing=True)
            try:
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute("VACUUM")
                busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                connection.close()
        if busy:
            raise InputError(
                f"{self.name} is being read by another program, and its log still holds what was erased: close that "
                "program and erase again."
            )

    def _give_up(self) -> None:
        try:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
        except sqlite3.Error:
            self._writer.close()
            self._writer = None

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All questions inside are answered from one moment."""
        connection = self.connection()
        if connection.in_transaction:
            yield
            return
        with self.in_words():
            connection.execute("BEGIN")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")

    def moment(self) -> Any:
        """What differs after every commit, as one connection counts them for all threads."""
        lies = self._as_it_lies()
        if lies is not None:
            return lies
        with self._watching, self.in_words():
            if self._watch is None:
                self._watch = self.connect(writing=False)
                self._all.append(self._watch)
            return self._watch.execute("PRAGMA data_version").fetchone()[0]

    def sentence(self, error: Exception) -> Exception:
        """What to say of an error."""
        text = str(error)
        if isinstance(error, sqlite3.OperationalError) and "full" in text:
            return OSError(28, "No space left on device", self.name)
        if ("unable to open" in text or "readonly" in text) and self.log.exists() and not self._is_writable():
            return InputError(f"{self.name} cannot be read: its last changes stand in {self.log}, which needs a folder "
                              "that may be written. Copy both files to one, and open the copy.")  # fmt: skip
        if isinstance(error, sqlite3.OperationalError) and ("readonly" in text or "disk I/O" in text):
            return OSError(5, text, self.name)
        damaged = ("malformed", "not a database", "corrupt", "decode", "mismatch", "too large")
        if any(word in text for word in damaged):
            return InputError(f"{self.name} is damaged or is no rating book ({text}); nothing was changed, put back a "
                              "copy of the file.")  # fmt: skip
        if "locked" in text or "busy" in text:
            return UnreachableError(f"{self.name} has been written by another program for more than {WAIT_SECONDS:.0f} "
                              "seconds; nothing was changed, try again.")  # fmt: skip
        return super().sentence(error)

    def begun(self) -> bool:
        """Whether tables have been made."""
        return self.one("SELECT 1 FROM sqlite_master LIMIT 1") is not None

    def exists(self) -> bool:
        """Whether there is anything in the place of a book."""
        try:
            kind = os.stat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        if (self.path / "book.knl").exists():
            raise InputError(f"{self.name} is a rating book of version 0.4 or before, which this one does not open: "
                             "start a new book, and add the same files to it.")  # fmt: skip
        if stat.S_ISDIR(kind.st_mode):
            raise InputError(f"{self.name} is a folder; a rating book is one file, such as {self.path / 'ratings.db'}.")
        if not stat.S_ISREG(kind.st_mode):
            raise InputError(f"{self.name} is not a regular file; a rating book is one.")
        return kind.st_size > 0 and self.begun()

    def begin_file(self) -> None:
        """Make an empty file where there is none."""
        self.path.absolute().parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()

    def check_schema(self) -> None:
        """Refuse tables that Kinelo did not make."""
        schema = {(kind, name): sql for kind, name, sql in self.rows("SELECT type, name, sql FROM sqlite_master")}
        if odd := [name for kind, name in schema if kind == "trigger"]:
            raise self.not_ours(f"it holds the trigger {odd[0]!r:.60}")
        for kind, ours in (("table", self.tables()), ("index", INDEXES), ("view", VIEWS)):
            for name, sql in ours.items():
                if _plain(schema.get((kind, name)) or "") != _plain(self.definition(sql)):
                    raise self.not_ours(f"its {kind} {name!r} is missing or another")

    def has(self, table: str) -> bool:
        """Whether there is a table of this name."""
        return self.one("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)) is not None

    def damage(self) -> list[str]:
        """What the database itself finds wrong."""
        return [str(row[0]) for row in self.rows("PRAGMA integrity_check(20)") if row[0] != "ok"]


ADDED = {
    "trigger": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgrelid IN ({ours})",
    "rule": "SELECT rulename FROM pg_rewrite WHERE ev_class IN ({ours})",
    "policy": "SELECT polname FROM pg_policy WHERE polrelid IN ({ours})",
    "constraint": "SELECT conname FROM pg_constraint WHERE contype IN ('c', 'x', 'f') AND conrelid IN ({ours})",
    "index": "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid IN ({ours}) AND (indexprs IS NOT NULL OR "
    "COALESCE(pg_get_expr(indpred, indrelid), '(named = 0)') <> '(named = 0)')",
    "default": "SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid IN ({ours}) AND "
    "pg_get_expr(adbin, adrelid) NOT IN ('nextval(''kinelo_number''::regclass)', '0')",
}
"""Questions for what a PostgreSQL server would run whenever a table is written, beyond what the book made."""


class Postgres(Database):
    """Tables in a PostgreSQL database, in the schema that the connection finds first."""

    types: ClassVar[dict[str, str]] = {
        "real": "DOUBLE PRECISION", "integer": "BIGINT", "text": "TEXT", "blob": "BYTEA", "date": "DATE",
        "flag": "BIGINT",
        "number": "BIGINT PRIMARY KEY DEFAULT nextval('kinelo_number')", "day": "DATE '1970-01-01' + last_day::INTEGER",
    }  # fmt: skip
    for_update = " FOR UPDATE"

    def __init__(self, address: str) -> None:
        super().__init__()
        require("psycopg")
        import psycopg

        self.psycopg, self.address, self.errors = psycopg, address, (psycopg.Error, UnicodeError)
        plain = urllib.parse.urlsplit(address)
        self.name = f"{plain.scheme}://{plain.hostname or ''}{plain.path}"  # without user and password
        said = "connect_timeout" in urllib.parse.parse_qs(plain.query) or "PGCONNECT_TIMEOUT" in os.environ
        self._patience = {} if said else {"connect_timeout": CONNECT_SECONDS}
        self._kept: list[Any] = []
        """Cursors of the writer: to make one takes half as long as to ask by it."""

    def connect(self, *, writing: bool) -> Any:
        """A new connection."""
        with self.in_words():
            connection = self.psycopg.connect(self.address, autocommit=True, **self._patience)
            # A plan for all values: lists of names have few, and the same statements come again and again.
            usual = "SET datestyle = 'ISO'; SET client_min_messages = warning; SET plan_cache_mode = force_generic_plan"
            connection.execute(usual if writing else f"{usual}; SET default_transaction_read_only = on")
            return connection

    def connection(self) -> Any:
        """The connection of this thread; a new one where the server went away."""
        reader = super().connection()
        if reader.closed and reader is not self._writer:  # the server went away and may be back
            del self._own.reader
            reader = super().connection()
        return reader

    def asked(self, sql: str, values: Sequence[Any]) -> Any:
        """A statement that was carried out, by the cursor of the thread."""
        connection, cursor = self.connection(), getattr(self._own, "cursor", None)
        if cursor is None or cursor.connection is not connection:
            cursor = self._own.cursor = connection.cursor()
        return cursor.execute(self.translated(sql), values)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple]:
        """All rows of a question."""
        rows = self._again(super().rows, sql, values)
        if len(rows) > MOST_HELD:
            self._own.cursor = None
        return rows

    def one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first row of a question, None where there is none."""
        return self._again(super().one, sql, values)

    def _again(self, ask: Callable[..., Any], *words: Any) -> Any:
        """Ask, once more where a connection for reading was lost since and nothing was begun by it."""
        try:
            return ask(*words)
        except UnreachableError:
            own = vars(self._own)
            if own.get("inside") or own.get("snapshot") or "reader" not in own or not own["reader"].closed:
                raise
            return ask(*words)

    def translated(self, sql: str) -> str:
        """A statement with the marks of psycopg."""
        return _percent(sql)

    def many(self, sql: str, values: Iterable[Sequence[Any]]) -> None:
        """Carry out a statement with each of several values."""
        with self.in_words(), self.connection().cursor() as cursor:
            cursor.executemany(self.translated(sql), list(values))

    def entered(self, insert: str, sql: str, entries: Sequence[tuple[Sequence[Any], Sequence[Sequence[Any]]]]) -> bool:
        """Insert rows, and carry out a statement with each of the values of each, in one message to the server."""
        cursors = self._cursors(len(entries))
        with self.in_words(), self._writer.pipeline():
            for cursor, (row, values) in zip(cursors, entries):
                cursor.execute(_together(insert, sql, len(values)), [*row, *(x for one in values for x in one)])
        return all(cursor.fetchone()[0] for cursor in cursors)

    def _cursors(self, count: int) -> list[Any]:
        """So many cursors of the writer."""
        kept = self._kept
        if kept and kept[0].connection is not self._writer:
            kept.clear()
        kept += [self._writer.cursor() for _ in range(len(kept), count)]
        return kept[:count]

    def _begin(self, everybody: bool | None, question: str, rows: tuple[str, Any] | None) -> Any:
        """Begin a transaction, with locks, the question and rows in one message.

        Others are kept out by a lock on the whole book, which those who touch some slots share.
        """
        verb = "pg_advisory_xact_lock" if everybody else "pg_advisory_xact_lock_shared"
        lock = "" if everybody is None else f"SELECT {verb}('slot'::regclass::oid::bigint)"
        if not question:
            self._writer.execute(f"BEGIN; {lock}")
            return None
        begin, locked, ahead, answer = self._cursors(4)
        with self._writer.pipeline():
            begin.execute("BEGIN")
            locked.execute(lock)
            if rows is not None:
                ahead.execute(self.translated(rows[0]), rows[1])
            answer.execute(question)
        self.ahead = None if rows is None else ahead.fetchall()
        return answer.fetchone()

    def among(self, column: str) -> str:
        """That a column is one of several values."""
        return f"{column} = ANY(?)"

    def listed(self, values: Iterable[str | int]) -> Any:
        """Several values as one."""
        return list(values)

    def numbers(self, count: int, table: str) -> Sequence[int]:
        """So many new numbers for rows."""
        rows = self.rows("SELECT nextval('kinelo_number') FROM generate_series(1, ?)", (count,))
        return sorted(number for (number,) in rows)

    def rewrite_pages(self) -> None:
        """Write every table anew; the server's own log and copies of it are the server's."""
        with self.writing_lock, self.in_words():
            connection = self.connect(writing=True)
            try:
                for table in self.tables():
                    connection.execute(f"VACUUM (FULL) {table}")
            finally:
                connection.close()

    def _is_closed(self, connection: Any) -> bool:
        return connection.closed

    def _give_up(self) -> None:
        try:
            self._writer.execute("ROLLBACK")
        except self.psycopg.Error:
            self._writer.close()
            self._writer = None

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All questions inside are answered from one moment."""
        connection = self.connection()
        if connection.info.transaction_status != self.psycopg.pq.TransactionStatus.IDLE:
            yield
            return
        self._again(self.run, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        connection, self._own.snapshot = self.connection(), True
        try:
            yield
        finally:
            self._own.snapshot = False
            with contextlib.suppress(self.psycopg.Error):
                connection.execute("ROLLBACK")

    def is_conflict(self, error: BaseException) -> bool:
        """Whether another transaction was in the way."""
        met = self.psycopg.errors
        return isinstance(error, met.DeadlockDetected | met.SerializationFailure | met.UniqueViolation)

    def moment(self) -> Any:
        """What differs after every commit."""
        return self.one("SELECT pg_current_snapshot()::text")[0]

    def sentence(self, error: Exception) -> Exception:
        """What to say of an error."""
        if isinstance(error, self.psycopg.errors.DiskFull):
            return OSError(28, "No space left on device", self.name)
        if isinstance(error, self.psycopg.OperationalError):
            return UnreachableError(
                f"{self.name} cannot be reached or has broken off ({in_one_line(error).rstrip('.')[:160]}). What was "
                "being sent may count or not: send it again, a match with an identifier counts once."
            )
        return super().sentence(error)

    def begun(self) -> bool:
        """Whether tables have been made."""
        return self.one("SELECT to_regclass('about')")[0] is not None

    def exists(self) -> bool:
        """Whether there is anything in the place of a book."""
        return self.begun()

    def has(self, table: str) -> bool:
        """Whether there is a table of this name."""
        return self.one("SELECT to_regclass(?)", (table,))[0] is not None

    def create(self) -> None:
        """Make the tables, and the sequence of their numbers."""
        self.run("CREATE SEQUENCE kinelo_number")
        super().create()

    def check_schema(self) -> None:
        """Refuse tables that Kinelo did not make."""
        schema = self.rows("SELECT c.relname, a.attname, format_type(a.atttypid, NULL) FROM pg_class c "
                          "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
                          "WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'about'::regclass) "
                          "AND c.relkind = 'r'")  # fmt: skip
        columns: dict[str, dict[str, str]] = {}
        for table, column, kind in schema:
            columns.setdefault(table, {})[column] = kind.upper()
        for name, sql in self.tables().items():
            ours = dict(re.findall(r"^  (\w+) (DOUBLE PRECISION|\w+)", self.definition(sql), re.MULTILINE))
            ours.pop("PRIMARY", None)
            if columns.get(name) != ours:
                raise self.not_ours(f"its table {name!r} is missing or another")
        ours = ", ".join(f"'{name}'::regclass" for name in self.tables())
        for what, sql in ADDED.items():
            odd = self.one(sql.format(ours=ours))
            if odd is not None:
                raise self.not_ours(f"it holds the {what} {odd[0]!r:.60}")


@lru_cache(256)
def _percent(sql: str) -> str:
    """A statement with the marks of psycopg."""
    return sql.replace("?", "%s")


@lru_cache(16)
def _together(insert: str, sql: str, times: int) -> str:
    """An insertion, and a statement so many times, as one that says how many rows were inserted."""
    more = "".join(f", more{k} AS ({sql})" for k in range(times))
    return _percent(f"WITH entered AS ({insert} RETURNING 1){more} SELECT COUNT(*) FROM entered")


def _plain(sql: str) -> str:
    return " ".join(sql.split())
