"""As somebody who has taken the front over: what can be seen, changed and reached from inside."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from discreet._core.documents import canonical_json, read_json
from discreet.server._confine import shown, version
from discreet.server._namespaces import may_isolate

ATTACKER = r"""
import ctypes, json, os, signal, socket, sys
from pathlib import Path
from discreet.server._confine import confine, shown
from discreet.server._namespaces import isolate, may_isolate

queue, study, port, publisher, is_alone = json.loads(sys.argv[1])
queue, study = Path(queue), Path(study)
if is_alone:
    isolate(shown(), queue)
confine(queue)

def tried(what):
    try:
        return "done" if what() is None else "seen"
    except OSError as problem:
        return type(problem).__name__

def udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        way.sendto(b"secret", ("127.0.0.1", port))

def tcp():
    socket.create_connection(("127.0.0.1", port), 2).close()

def abstract():
    with socket.socket(socket.AF_UNIX) as way:
        way.connect("\0discreet-test-" + str(port))

def mounted():
    if ctypes.CDLL(None, use_errno=True).umount2(b"/tmp", 2):
        raise PermissionError

def set_attribute():
    os.setxattr(study / "study.db", "user.mark", b"x")

acts = {
    "stat of the ledger": lambda: os.stat(study / "study.db"),
    "stat of the records": lambda: os.stat(study / "survey.csv"),
    "the names in the folder": lambda: os.listdir(study),
    "chmod of the records": lambda: os.chmod(study / "survey.csv", 0o666),
    "times of the ledger": lambda: os.utime(study / "study.db"),
    "attribute of the ledger": set_attribute,
    "content of the records": lambda: open(study / "survey.csv").read(),
    "a signal to the publisher": lambda: os.kill(publisher, 0),
    "UDP": udp, "TCP": tcp, "an abstract socket": abstract,
    "taking the disk off": mounted,
    "write to its own programs": lambda: os.chmod(sys.executable, 0o777),
    "the queue": lambda: (queue / "queue.db").write_text("x") and None,
    "accounts of the machine": lambda: open("/etc/passwd").read(),
}
print(json.dumps({name: tried(act) for name, act in acts.items()}))
"""

FORBIDDEN = (
    "stat of the ledger", "stat of the records", "the names in the folder", "chmod of the records",
    "times of the ledger", "attribute of the ledger", "content of the records", "a signal to the publisher", "UDP",
    "TCP", "an abstract socket", "taking the disk off", "write to its own programs", "accounts of the machine",
)  # fmt: skip
REMAINS_WITHOUT_NAMESPACES = {
    "stat of the ledger", "stat of the records", "chmod of the records", "times of the ledger", "UDP",
    "write to its own programs",
}  # fmt: skip
"""What Landlock does not cover; docs/threat-model.md says so. (Attributes depend on the file system.)"""


def attacked(tmp_path: Path, is_alone: bool) -> dict[str, str]:
    """Return what somebody who has taken over a front gets."""
    study, queue = tmp_path / "study", tmp_path / "study" / "study.serve"
    queue.mkdir(parents=True)
    (study / "survey.csv").write_text("secret\n")
    (study / "study.db").write_text("ledger")
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        port = tcp.getsockname()[1]
        udp.bind(("127.0.0.1", port))
        abstract.bind(f"\0discreet-test-{port}")
        abstract.listen()
        done = subprocess.run(
            [sys.executable, "-c", ATTACKER, canonical_json([str(queue), str(study), port, os.getpid(), is_alone])],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = cast(dict[str, str], read_json(done.stdout))
        udp.setblocking(False)
        if found["UDP"] != "done":
            with pytest.raises(BlockingIOError):
                udp.recv(100)
    assert (study / "survey.csv").read_text() == "secret\n"
    assert found["the queue"] == "done"
    return found


def test_a_front_of_its_own_sees_and_reaches_nothing_but_its_queue(tmp_path: Path) -> None:
    (tmp_path / "trial").mkdir()
    if not may_isolate(shown(), tmp_path / "trial"):
        pytest.skip("this system lets an ordinary process make no namespaces")
    found = attacked(tmp_path, is_alone=True)
    assert {name for name in FORBIDDEN if found[name] in ("done", "seen")} == set(), found


@pytest.mark.skipif(version() < 6, reason="this system has no Landlock of version 6")
def test_with_landlock_alone_what_remains_is_what_the_threat_model_says(tmp_path: Path) -> None:
    found = attacked(tmp_path, is_alone=False)
    reached = {name for name in FORBIDDEN if found[name] in ("done", "seen")}
    assert reached - {"attribute of the ledger"} <= REMAINS_WITHOUT_NAMESPACES, found
