"""Small failures of the kinds that reports are about, each with what is right for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from runner.case import RequestedLimits
from runner.oracles.contract import Contract, ProcessSignature, PythonSignature
from runner.workloads.command import CommandWorkload

PYTHON = CommandWorkload(argv=("python3", "case.py"))
SMALL = RequestedLimits(memory=256 << 20, work=64 << 20, tmp=16 << 20)
SEGV, ABRT, FPE = (ProcessSignature("posix_signal", number) for number in (11, 6, 8))


@dataclass(frozen=True)
class Kind:
    """A payload of one script, a contract, and the answer of a replay.

    ``record``: ``None`` when nobody would record it, else the exit code that ``runner record`` must give
    when it is told the command only (and, for exit code 0, the contract's pattern).
    """

    name: str
    script: str
    contract: Contract
    verdict: Literal["reproduced", "not_reproduced", "no_verdict"]
    cause: str
    returncode: int | None
    workload: CommandWorkload = PYTHON
    mismatch: str | None = None
    signal: int | None = None
    signal_hint: int | None = None
    child_oom: bool = False
    timeout: float = 30.0
    limits: RequestedLimits = field(default_factory=RequestedLimits)
    record: int | None = None

    def write(self, payload: Path) -> Path:
        """Make the payload."""
        payload.mkdir()
        (payload / "case.py").write_text(self.script, encoding="utf-8")
        return payload


def shell(text: str) -> CommandWorkload:
    return CommandWorkload(shell=text)


def raises(class_name: str, message: str, *frames: str) -> Contract:
    return Contract(1, None, PythonSignature(class_name, message, frames))


EXCEPTIONS = [
    Kind("chained by cause", """
def parse(text):
    try:
        return int(text)
    except ValueError as error:
        raise RuntimeError("bad row") from error
parse("x")
""", raises("RuntimeError", "bad row", "case.py:parse", "case.py:<module>"), "not_reproduced", "exited", 1,
         mismatch="signature"),
    Kind("chained by cause, chosen by a pattern", """
def parse(text):
    try:
        return int(text)
    except ValueError as error:
        raise RuntimeError("bad row") from error
parse("x")
""", Contract(1, "RuntimeError: bad row",
              PythonSignature("RuntimeError", "bad row", ("case.py:parse", "case.py:<module>"))),
         "reproduced", "exited", 1, record=0),
    Kind("while handling another", """
try:
    {}["user"]
except KeyError:
    def fall(back): return back.name
    fall(None)
""", Contract(1, "AttributeError", PythonSignature("AttributeError", "'NoneType' object has no attribute 'name'",
                                                   ("case.py:fall", "case.py:<module>"))),
         "reproduced", "exited", 1, record=0),
    Kind("a group of exceptions", """
raise ExceptionGroup("two at once", [ValueError("first of them"), TypeError("second of them")])
""", Contract(1, "two at once"), "reproduced", "exited", 1, record=0),
    Kind("in a thread only", """
import threading
def work(): raise OSError("worker gave up")
thread = threading.Thread(target=work); thread.start(); thread.join()
""", Contract(0, "OSError: worker gave up"), "reproduced", "exited", 0, record=0),
    Kind("too deep", """
def down(n): return down(n + 1)
down(0)
""", Contract(1, "RecursionError: maximum recursion depth exceeded"), "reproduced", "exited", 1, record=0),
    Kind("a message over several lines, with an address in it", """
class Thing: pass
raise LookupError(f"no such thing:\\n  wanted {Thing()}\\n  had nothing")
""", Contract(1, r"LookupError: no such thing:\n\s+wanted <\S+ object at 0x[0-9a-f]+>"), "reproduced", "exited", 1,
         record=0),
    Kind("a name in another script", """
class Größe(Exception): pass
raise Größe("zu groß: 150 €")
""", Contract(1, "zu groß: \\d+ €"), "reproduced", "exited", 1, record=0),
    Kind("not even Python", "def broken(:\n", Contract(1, "SyntaxError"), "reproduced", "exited", 1, record=0),
    Kind("another exception than the recorded one", """
raise ValueError("some other trouble")
""", raises("ValueError", "the recorded trouble", "case.py:<module>"), "not_reproduced", "exited", 1,
         mismatch="signature"),
    Kind("another exception each time", """
import os
raise type("E" + os.urandom(16).hex(), (Exception,), {})("no two runs fail alike")
""", raises("ValueError", "no two runs fail alike", "case.py:<module>"), "not_reproduced", "exited", 1,
         mismatch="signature", record=3),
    Kind("a worker of a pool that was killed", """
import os, signal
from concurrent.futures import ProcessPoolExecutor
def work(_): os.kill(os.getpid(), signal.SIGKILL)
if __name__ == "__main__":
    with ProcessPoolExecutor(1) as pool:
        list(pool.map(work, [1]))
""", Contract(1, "BrokenProcessPool"), "reproduced", "exited", 1, record=0),
    Kind("nobody at the keyboard", "input('Your name? ')", Contract(1, "EOFError"), "reproduced", "exited", 1,
         record=0),
    Kind("no network", """
import socket
socket.create_connection(("192.0.2.1", 80), timeout=5)
""", Contract(1, "OSError: .*Network is unreachable"), "reproduced", "exited", 1, record=0),
]

ENDINGS = [
    *(Kind(f"the program chooses {code}", f"import sys; sys.exit({code})", Contract(code), "reproduced", "exited", code,
           record=0) for code in (2, 124, 125, 126, 127, 137, 139, 143, 255)),
    Kind("139 is no SIGSEGV", "import sys; sys.exit(139)", Contract(None, None, SEGV), "not_reproduced", "exited", 139,
         mismatch="signature"),
    Kind("SIGSEGV", "import ctypes; print('going', flush=True); ctypes.string_at(0)", Contract(None, None, SEGV),
         "reproduced", "signaled", 139, signal=11, record=0),
    Kind("SIGSEGV by its exit code", "import ctypes; ctypes.string_at(0)", Contract(139), "reproduced", "signaled", 139,
         signal=11),
    Kind("SIGSEGV as ReproMin's host backend wrote it", "import ctypes; ctypes.string_at(0)", Contract(-11),
         "reproduced", "signaled", 139, signal=11),
    Kind("SIGSEGV behind assignments", "import ctypes; ctypes.string_at(0)", Contract(None, None, SEGV), "reproduced",
         "signaled", 139, workload=shell("LEVEL=3 python3 case.py 2>&1"), signal=11, record=0),
    Kind("SIGSEGV behind a shell", "import ctypes; ctypes.string_at(0)", Contract(139, "Segmentation fault"),
         "reproduced", "exited", 139, workload=shell("cd . && python3 case.py"), signal_hint=11, record=0),
    Kind("a shell's 139 is no signal of ours", "import ctypes; ctypes.string_at(0)", Contract(None, None, SEGV),
         "not_reproduced", "exited", 139, workload=shell("cd . && python3 case.py"), mismatch="signature",
         signal_hint=11),
    Kind("SIGABRT", "import os; os.abort()", Contract(None, None, ABRT), "reproduced", "signaled", 134, signal=6,
         record=0),
    Kind("SIGFPE", "import os, signal; os.kill(os.getpid(), signal.SIGFPE)", Contract(None, None, FPE), "reproduced",
         "signaled", 136, signal=8, record=0),
    Kind("a SIGKILL of its own", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
         Contract(None, None, ProcessSignature("posix_signal", 9)), "reproduced", "signaled", 137, signal=9, record=0),
    Kind("a SIGTERM of its own", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)", Contract(143), "reproduced",
         "signaled", 143, signal=15, record=0),
    Kind("a child with SIGSEGV", """
import subprocess, sys
done = subprocess.run([sys.executable, "-c", "import ctypes; ctypes.string_at(0)"])
print("worker died with", done.returncode); sys.exit(3)
""", Contract(3, "worker died with -11"), "reproduced", "exited", 3, record=0),
    Kind("exit code 0 is a legal expectation", "print('total: -1')", Contract(0, "total: -1"), "reproduced", "exited",
         0, record=0),
    Kind("exit code 0 where it failed before", "print('total: 42')", Contract(1, "total: -1"), "not_reproduced",
         "exited", 0, mismatch="exit_code", record=2),
    Kind("success alone says nothing", "print('all is well')", Contract(0), "reproduced", "exited", 0, record=2),
    Kind("a command that is not there", "", Contract(127, "not found"), "reproduced", "exited", 127,
         workload=shell("no-such-program --help"), record=0),
    Kind("a program that is not there", "", Contract(127), "no_verdict", "not_started", None,
         workload=CommandWorkload(argv=("no-such-program",)), mismatch="no_verdict", record=2),
    Kind("a file that is no program", "", Contract(126, "ermission denied"), "reproduced", "exited", 126,
         workload=shell("./case.py"), record=0),
    Kind("a script of a shell", "", Contract(7, "step 2 failed"), "reproduced", "exited", 7,
         workload=shell("set -e\necho step 1\nif ! false; then echo step 2 failed >&2; exit 7; fi\n"), record=0),
]

LIMITS = [
    Kind("a regular expression that runs for ever", """
import re
print("looking", flush=True)
re.match(r"(a+)+$", "a" * 64 + "!")
""", Contract(137, "looking"), "not_reproduced", "timed_out", 124, timeout=2.0, mismatch="timeout", record=3),
    Kind("deaf to TERM and INT", """
import signal, threading
for number in (signal.SIGTERM, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
print("deadlock", flush=True); lock = threading.Lock(); lock.acquire(); lock.acquire()
""", Contract(None, "deadlock"), "not_reproduced", "timed_out", 124, timeout=2.0, mismatch="timeout"),
    Kind("all is said, and a child holds the output open", """
import subprocess, sys
subprocess.Popen(["sleep", "300"]); print("done, badly"); sys.exit(4)
""", Contract(4, "done, badly"), "reproduced", "exited", 4, timeout=20.0, record=0),
    Kind("more memory than there is", """
print("growing", flush=True)
held = [bytearray(1 << 24) for _ in range(1 << 10)]
""", Contract(137, "growing"), "not_reproduced", "oom_killed", 137, limits=SMALL, mismatch="resource", signal=9,
         record=3),
    Kind("a child takes the memory", """
import subprocess, sys
done = subprocess.run([sys.executable, "-c", "held = [bytearray(1 << 24) for _ in range(1 << 10)]"])
print("child ended with", done.returncode); sys.exit(5)
""", Contract(5, "child ended with -9"), "reproduced", "exited", 5, limits=SMALL, child_oom=True, record=0),
    Kind("a shell's program takes the memory", """
held = [bytearray(1 << 24) for _ in range(1 << 10)]
""", Contract(137), "not_reproduced", "exited", 137, workload=shell("cd . && python3 case.py"), limits=SMALL,
         mismatch="resource", signal_hint=9, child_oom=True, record=3),
    Kind("it says that it has no memory", """
print("Killed: out of memory", flush=True); raise SystemExit(137)
""", Contract(137, "out of memory"), "reproduced", "exited", 137, record=0),
    Kind("a flood of output", """
import sys
line = b"x" * 65535 + b"\\n"
print("here it comes", flush=True)
for _ in range(2048): sys.stdout.buffer.write(line)
""", Contract(0, "here it comes"), "not_reproduced", "output_limit", 137, mismatch="resource", record=3),
    Kind("a failure at the end of much output", """
import sys
for number in range(400_000): print("row", number, "is fine")
sys.exit("row 400000 is broken")
""", Contract(1, "row \\d+ is broken"), "reproduced", "exited", 1, record=0),
    Kind("a disk that is full", """
with open("big", "wb") as file:
    for _ in range(1 << 12): file.write(bytes(1 << 20))
""", Contract(1, "no such words"), "not_reproduced", "disk_limit", 1, limits=SMALL, mismatch="resource"),
    Kind("a disk that is full, and that is the failure", """
with open("big", "wb") as file:
    for _ in range(1 << 12): file.write(bytes(1 << 20))
""", Contract(1, "No space left on device"), "reproduced", "exited", 1, limits=SMALL, record=3),
    Kind("a hundred threads", """
import threading
gate = threading.Barrier(101)
for _ in range(100): threading.Thread(target=gate.wait).start()
gate.wait(); raise SystemExit("101 threads, one failure")
""", Contract(1, "101 threads"), "reproduced", "exited", 1, record=0),
    Kind("two hundred children", """
import os, sys
children = [os.fork() or os._exit(number % 3) for number in range(200)]
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
sys.exit(f"{sum(code != 0 for code in codes)} of {len(codes)} failed")
""", Contract(1, "133 of 200 failed"), "reproduced", "exited", 1, record=0),
    Kind("more processes than there may be", """
import os, signal
children = []
try:
    while len(children) < 5000:
        child = os.fork()
        if not child: signal.pause()
        children.append(child)
finally:
    for child in children: os.kill(child, signal.SIGKILL)
""", Contract(1, "BlockingIOError"), "reproduced", "exited", 1, record=0),
]

OUTPUTS = [
    Kind("Windows line ends", r"""
import sys
sys.stdout.buffer.write(b"first\r\nFATAL: disk\r\nlast\r\n"); sys.exit(9)
""", Contract(9, "FATAL: disk"), "reproduced", "exited", 9, record=0),
    Kind("an exception with Windows line ends", r"""
import sys, traceback
try: raise KeyError("port")
except KeyError: sys.stderr.buffer.write(traceback.format_exc().replace("\n", "\r\n").encode())
sys.exit(1)
""", raises("KeyError", "'port'", "case.py:<module>"), "reproduced", "exited", 1, record=0),
    Kind("not UTF-8", r"""
import sys
sys.stderr.buffer.write(b"ERROR: \xff\xfe\x80 bad name: caf\xe9\n"); sys.exit(2)
""", Contract(2, "ERROR: .* bad name"), "reproduced", "exited", 2, record=0),
    Kind("NUL and escapes", r"""
import sys
sys.stdout.buffer.write(b"\x1b[31mERROR\x1b[0m\x00 at \x07 byte 7\n"); sys.exit(2)
""", Contract(2, "byte 7"), "reproduced", "exited", 2, record=0),
    Kind("text in many scripts", "import sys; sys.exit('エラー: データ № 7 не найдена 🙈')",
         Contract(1, "データ № \\d не найдена"), "reproduced", "exited", 1, record=0),
    Kind("no line end at all", "import sys; sys.stdout.write('E: half a li'); sys.exit(1)", Contract(1, "half a li$"),
         "reproduced", "exited", 1, record=0),
    Kind("silence", "raise SystemExit(5)", Contract(5), "reproduced", "exited", 5, record=0),
    Kind("both streams", """
import sys
print("out: one"); print("err: two", file=sys.stderr); sys.exit(6)
""", Contract(6, r"out: one\s+err: two"), "reproduced", "exited", 6, record=0),
    Kind("another process number each time", """
import os, sys
sys.exit(f"worker {os.getpid()} crashed at 0x{id(object()):x}")
""", Contract(1, r"worker \d+ crashed at 0x"), "reproduced", "exited", 1, record=0),
]

KINDS = [*EXCEPTIONS, *ENDINGS, *LIMITS, *OUTPUTS]
