"""Drafts of reports, as ``runner record`` would make them."""

from __future__ import annotations

from runner.case import RecordedEnvironment, RecordedExecution, RequestedLimits
from runner.oracles.contract import Contract, JavaSignature, ProcessSignature, PythonSignature
from runner.sandbox.image import ImagePin
from runner.sources.draft import Baseline, RecordedTree, ReportDraft
from runner.sources.environment import environment_sha256
from runner.workloads.command import CommandWorkload

PAYLOAD = RecordedTree("ledger", files=2, bytes=256, entries=4, exact="a1" * 32, content="b2" * 32,
                       tree_exact="c3" * 32, tree_content="d4" * 32)
IMAGE = ImagePin("sha256:" + "e5" * 32, "runner/command", "linux/amd64", "sha256:" + "f6" * 32,
                 (("python", "3.11.2"), ("sh", "1.35.0")))
DOCKER = RecordedExecution("docker", IMAGE, "none", 20.0, "default", "09" * 32,
                           RequestedLimits(memory=256 << 20, pids=64, cpus=1.0, tmp=64 << 20, work=10 << 20))
HOST = RecordedExecution("host", None, "none", 20.0, "default", "09" * 32)
PAIRS = (("REPRO_MODE", "strict"), ("REPRO_LEVEL", "3"))
ENVIRONMENT = RecordedEnvironment(("REPRO_LEVEL", "REPRO_MODE"), environment_sha256(PAIRS))
NO_ENVIRONMENT = RecordedEnvironment((), environment_sha256(()))

PYTHON = PythonSignature("ValueError", "out of range: 150", ("app/pricing.py:apply", "run.py:<module>"))
JAVA = JavaSignature("java.lang.IllegalStateException", "", ("shop.Cart.add", "shop.Main.main"))
SEGV = ProcessSignature("posix_signal", 11, "SIGSEGV")


def draft(workload: CommandWorkload | None = None, contract: Contract | None = None, *,
          execution: RecordedExecution = DOCKER, environment: RecordedEnvironment = NO_ENVIRONMENT,
          exit_code: int | None = 7) -> ReportDraft:
    return ReportDraft(
        created="2026-11-30T12:00:00Z", tool_version="0.1.0",
        workload=workload or CommandWorkload(shell="sh reproduce.sh"),
        contract=contract or Contract(7, "LEDGER_MISMATCH", None),
        payload=PAYLOAD, environment=environment, execution=execution, baseline=Baseline(3, 3, exit_code))


DRAFTS = {
    "docker-shell": draft(environment=ENVIRONMENT),
    "docker-argv-signal": draft(CommandWorkload(argv=("python3", "-c", "x 'y' \u00e9\n"), cwd="app",
                                                artifacts=("out/log.txt",)),
                                Contract(None, None, SEGV), exit_code=139),
    "host-python": draft(CommandWorkload(argv=("python3", "run.py")), Contract(None, "ValueError", PYTHON),
                         execution=HOST, exit_code=1),
    "docker-java": draft(CommandWorkload(argv=("java", "Main")), Contract(1, None, JAVA), exit_code=1),
}
