"""A PostgreSQL server of our own for the tests, which may be stopped and started again."""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

PASSWORD = "s3cret-of-the-team"
USER = "probatum"
_PR_SET_PDEATHSIG = 1


def binaries() -> Path | None:
    """The folder of the newest server's programs; Debian keeps them out of the way."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    kept = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(kept, key=lambda path: int(path.parts[-3]), default=None)
    return newest.parent if newest else None


def why_none() -> str:
    """Why there is no server to test with; nothing where there is one."""
    if binaries() is None:
        return "PostgreSQL is not installed: tools/install_for_tests.sh postgresql"
    if importlib.util.find_spec("psycopg") is None:
        return "psycopg is not installed: pip install 'probatum[postgres]'"
    return ""


class Server:
    """A server on the loopback, on a free port, with its files in a temporary folder."""

    def __init__(self) -> None:
        where = binaries()
        assert where is not None
        self._programs = where
        self._numbers = itertools.count(1)
        self._made: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self.folder = Path(tempfile.mkdtemp(prefix="probatum-pg-"))
        self._data = self.folder / "data"
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            # It refuses to run as root.
            user = _unprivileged()
            self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        password = self.folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._run("initdb", "-A", "scram-sha-256", "-U", USER, f"--pwfile={password}", "-E", "UTF8")
        self.start()

    def _run(self, program: str, *options: str) -> None:
        command = [str(self._programs / program), "-D", str(self._data), *options]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=self.folder, check=False, **self._as
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        """Start it and wait until it answers."""
        options = {"port": str(self.port), "listen_addresses": "127.0.0.1"}
        options["unix_socket_directories"] = ""
        command = [str(self._programs / "postgres"), "-D", str(self._data)]
        command += [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            streams = {"stdout": log, "stderr": log}
            self._process = subprocess.Popen(
                command, cwd=self.folder, preexec_fn=_end_with_us, **streams, **self._as
            )
        deadline = time.monotonic() + 60
        while not self._answers():
            said = (self.folder / "log").read_text(errors="replace")
            assert self._process.poll() is None, said
            assert time.monotonic() < deadline, said
            time.sleep(0.05)

    def _answers(self) -> bool:
        command = [str(self._programs / "pg_isready"), "-q", "-h", "127.0.0.1"]
        return subprocess.run([*command, "-p", str(self.port)], check=False).returncode == 0

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """Stop it; by default at once, as a crash would, with a recovery at the next start."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(timeout=60)
            self._process = None

    def restart(self, pause: float = 0.0) -> None:
        """Stop it at once and start it again."""
        self.stop()
        time.sleep(pause)
        self.start()

    def url(self, database: str = "postgres") -> str:
        """The address of a database, with the password."""
        return f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def new(self) -> str:
        """The address of a new, empty database."""
        name = f"store{next(self._numbers)}"
        self.ask(f"create database {name}")
        self._made.append(name)
        return self.url(name)

    def drop(self) -> None:
        """Drop what was made, as each database takes its time when a server recovers."""
        while self._made:
            self.ask(f"drop database {self._made.pop()} with (force)")

    def ask(self, statement: str, database: str = "postgres") -> list[Any]:
        """What a statement gives."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            done = connection.execute(statement.encode())
            return done.fetchall() if done.description else []

    def close(self) -> None:
        """Stop it and delete its files."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _unprivileged() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise AssertionError("PostgreSQL does not run as root, and there is no user nobody here")


def _end_with_us() -> None:
    # Where tests are killed, no server is left behind; SIGQUIT is its quick end.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)
