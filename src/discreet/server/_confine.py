"""The front gives up rights before it starts listening (a sandbox): on Linux, with Landlock.

From then on this process, and every process that it starts, can read its own programs, read and write the folder of the
queue, and nothing else on the disk: neither the records nor the ledger, whatever code an attacker manages to run in it.
From version 4 of Landlock on (Linux 6.7), it can open no TCP connection except to the port of a queue on a server; from
version 6 on (Linux 6.12), it can send no signal to processes outside, nor connect to their abstract UNIX sockets. What
Landlock does not cover remains: sizes and times of files (stat), their modes, times and attributes, UDP.
Where the system has no Landlock, the processes are separated only by their users, if at all; the front says so, and
also if its connections are not restricted.
"""

import ctypes
import os
import site
import struct
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # system call numbers, the same on all architectures
_VERSION, _BENEATH, _PORT = 1, 1, 2
_NO_NEW_PRIVILEGES = 38
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_BIND, _CONNECT = 1, 2
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""What each version of Landlock can forbid on the disk."""
NETWORK_FROM = 4
"""The version of Landlock from which connections can be forbidden, too: those by TCP."""
_SCOPED_FROM, _SCOPES = 6, 1 | 2
"""The version of Landlock from which abstract UNIX sockets (1) and signals (2) can be kept within the process."""
_SYSTEM = ("/usr", "/lib", "/lib64", "/etc/ssl", "/etc/localtime", "/etc/ld.so.cache", "/proc/self", "/proc/cpuinfo")
"""The last two are no files on a disk."""
_DEVICES = ("/dev/null", "/dev/urandom", "/dev/random")


def version() -> int:
    """Return the version of Landlock that the system has; 0 for none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(_call(_CREATE, None, 0, _VERSION)))


def confine(folder: Path | None, connects_to: int | None = None) -> bool:
    """Restrict this process to the queue's folder, or to connections to its port; tell whether that was possible."""
    if (known := version()) == 0:
        return False
    on_disk = _RIGHTS[max(each for each in _RIGHTS if each <= known)]
    network = _BIND | _CONNECT if known >= NETWORK_FROM else 0
    rules = struct.pack("QQ", on_disk, network) if network else struct.pack("Q", on_disk)
    rules += struct.pack("Q", _SCOPES) if known >= _SCOPED_FROM else b""
    ruleset = _call(_CREATE, rules, len(rules), 0)
    if ruleset < 0:
        return False
    try:
        for path in {*map(Path, _SYSTEM), *_programs()}:
            _allow(ruleset, path, _READ & on_disk)
        _allow(ruleset, Path(__file__).resolve().parents[2], _READ_DIR)  # so that this library can be imported
        for path in map(Path, _DEVICES):
            _allow(ruleset, path, _READ_FILE | _WRITE_FILE)
        if folder is not None:
            _allow(ruleset, folder, on_disk)
        if network and connects_to is not None:
            _call(_ADD, ruleset, _PORT, struct.pack("QQ", _CONNECT, connects_to), 0)
        if ctypes.CDLL(None, use_errno=True).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
            return False
        return _call(_RESTRICT, ruleset, 0) == 0
    finally:
        os.close(ruleset)


def shown() -> list[Path]:
    """Return all paths that a front needs besides the folder of its queue."""
    bases = (Path(sys.prefix), Path(sys.base_prefix))
    own = [base / name for base in bases for name in ("bin", "lib", "lib64")]
    return [*map(Path, _SYSTEM[:-2]), *map(Path, _DEVICES), *own, *_programs()]


def _programs() -> Iterable[Path]:
    """Return where Python, its libraries and this library are."""
    named = sysconfig.get_paths()
    found = {Path(named[each]) for each in ("stdlib", "platstdlib", "purelib", "platlib", "scripts")}
    found |= {Path(each) for each in (*site.getsitepackages(), site.getusersitepackages())}
    found |= {Path(sys.base_prefix) / "lib", Path(__file__).resolve().parents[1], Path(sys.executable).resolve()}
    found.add(Path(sys.prefix) / "pyvenv.cfg")
    return found


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what does not exist needs no right
    try:
        files_alone = _EXECUTE | _WRITE_FILE | _READ_FILE | (1 << 14)
        usable = rights if os.path.isdir(path) else rights & files_alone
        _call(_ADD, ruleset, _BENEATH, struct.pack("=Qi", usable, opened), 0)
    finally:
        os.close(opened)


def _call(number: int, *values: object) -> int:
    return int(ctypes.CDLL(None, use_errno=True).syscall(number, *values))
