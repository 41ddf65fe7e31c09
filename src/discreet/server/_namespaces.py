"""A front that sees a disk of its own, no network and no other process (Linux namespaces), where the system allows it.

Landlock forbids what is done to files, but everybody may still ask for the size and the time of a file (stat), change
the mode of one's own (chmod), and send datagrams. So where the system lets an ordinary user make namespaces, the front
goes into new ones before it confines itself: of users (with no rights in it), mounts (an empty disk on which stand only
its own programs and the folder of the queue), network (with nothing in it: the socket that it listens on already goes
on working), processes (none but its own) and UNIX messages. Nothing of the study is there to be looked at. A front
whose queue is on a database server needs network, host names and a password, and is left to Landlock and to its user.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from discreet.server._slot import fork

_NEW_MOUNTS, _NEW_USERS, _NEW_PROCESSES, _NEW_NETWORK, _NEW_MESSAGES = (
    0x00020000, 0x10000000, 0x20000000, 0x40000000, 0x08000000,
)  # fmt: skip
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_DETACH = 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41}
_DROP_FROM_BOUNDING_SET, _DIE_WITH_PARENT = 24, 1
_CAPABILITIES_VERSION_3 = 0x20080522
_CAPSET = {"x86_64": 126, "aarch64": 91, "riscv64": 91}
_FLAGS = {1: 1, 2: 2, 4: 4, 8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}
"""What statvfs says of a mount, and the flag of mount(2) that keeps it: a remount may not take restrictions away."""
_ROOTS = ("/tmp", "/var/tmp", "/mnt")


class _NotPossibleError(OSError):
    """The system does not allow it."""


def may_isolate(shown: Iterable[Path], writable: Path) -> bool:
    """Return whether the system lets this process do all of it, by doing it in a process that ends then."""
    if sys.platform != "linux" or os.uname().machine not in _PIVOT_ROOT:
        return False
    child = fork()
    if child == 0:
        _try(shown, writable)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _try(shown: Iterable[Path], writable: Path) -> NoReturn:
    """Do it in a process of its own, and end that; nothing of what goes wrong may lead back to the caller's code."""
    code = 1
    try:
        _unshare()
        inner = fork()
        if inner == 0:
            _settle(tuple(shown), writable)
            code = 0
        else:
            code = os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
    except BaseException:  # noqa: BLE001 - it is not possible here, whatever the reason
        code = 1
    finally:
        os._exit(0 if code == 0 else 1)


def isolate(shown: Iterable[Path], writable: Path) -> None:
    """Go on in a new process that sees only these paths, of which it may write to one; this one waits for its end.

    Between the two is one more: only a process with a single thread may enter a namespace of users, and only the
    processes that it starts are in the new namespace of processes.
    """
    _go_on_in_a_child()
    _unshare()
    _go_on_in_a_child()
    _settle(tuple(shown), writable)


def _go_on_in_a_child() -> None:
    child = fork()
    if child != 0:
        os._exit(_awaited(child))
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def _awaited(child: int) -> int:
    """Pass signals on to a process until it ends; return how it ended."""

    def pass_on(number: int, _: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(child, number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, pass_on)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code >= 0 else 128 - code


def _unshare() -> None:
    """Enter the new namespaces; in that of users, everybody but this user is missing."""
    user, group = os.getuid(), os.getgid()
    kinds = _NEW_USERS | _NEW_MOUNTS | _NEW_PROCESSES | _NEW_MESSAGES | _NEW_NETWORK
    _checked(ctypes.CDLL(None, use_errno=True).unshare(kinds))
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _settle(shown: tuple[Path, ...], writable: Path) -> None:
    """Put the empty disk together, move to it, and give up the rights that this took."""
    _mount("none", "/", _RECURSIVE | _PRIVATE)
    root = next(Path(each) for each in _ROOTS if Path(each).is_dir())
    places = tuple(_opened([*shown, writable]))
    _mount("tmpfs", str(root), _NO_SETUID | _NO_DEVICES, "tmpfs", "size=1m,mode=755")
    for path, kind in places:
        _show(path, kind, root, is_writable=path == writable.resolve())
    (root / "proc").mkdir(exist_ok=True)
    with suppress(OSError):  # only where the system shows all of it; nothing needs it
        _mount("proc", str(root / "proc"), _NO_SETUID | _NO_DEVICES, "proc")
    os.chdir(root)
    libc = ctypes.CDLL(None, use_errno=True)
    _checked(libc.syscall(_PIVOT_ROOT[os.uname().machine], b".", b"."))
    _checked(libc.umount2(b".", _DETACH))
    os.chdir(writable)
    _mount("none", "/", _REMOUNT | _BIND | _READ_ONLY | _NO_SETUID | _NO_DEVICES)
    _drop_rights(libc)


def _opened(paths: Iterable[Path]) -> Iterator[tuple[Path, int | str]]:
    """Yield what is to be shown, outermost first: an open path, or where a link leads."""
    links = {path for path in paths if path.is_symlink()}
    found: set[Path] = set()
    for path in sorted({path.resolve() for path in paths} | links, key=lambda each: len(each.parts)):
        if any(outer in path.parents for outer in found) or not path.exists():
            continue
        if path in links:
            yield path, os.readlink(path)
        else:
            found.add(path)
            yield path, os.open(path, os.O_PATH | os.O_CLOEXEC)


def _show(path: Path, kind: int | str, root: Path, *, is_writable: bool) -> None:
    target = root / path.relative_to("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(kind, str):
        if not target.is_symlink():
            target.symlink_to(kind)
        return
    source = f"/proc/self/fd/{kind}"
    if os.path.isdir(source):
        target.mkdir(exist_ok=True)
    else:
        target.touch()
    _mount(source, str(target), _BIND | _RECURSIVE)
    os.close(kind)
    if not is_writable and not str(path).startswith("/dev/"):
        kept = os.statvfs(target).f_flag
        flags = sum(flag for said, flag in _FLAGS.items() if kept & said)
        _mount("none", str(target), _REMOUNT | _BIND | _READ_ONLY | flags)


def _drop_rights(libc: ctypes.CDLL) -> None:
    """Give up all capabilities of the new namespace of users, for good."""
    for number in range(64):
        libc.prctl(_DROP_FROM_BOUNDING_SET, number, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION_3, 0)
    _checked(libc.syscall(_CAPSET[os.uname().machine], header, (ctypes.c_uint32 * 6)()))


def _mount(source: str, target: str, flags: int, kind: str | None = None, options: str | None = None) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    texts = [None if text is None else text.encode() for text in (source, target, kind)]
    _checked(libc.mount(*texts, ctypes.c_ulong(flags), None if options is None else options.encode()))


def _checked(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise _NotPossibleError(number, os.strerror(number))
