"""What ``runner doctor`` says of gVisor, from the engine's own list of runtimes."""

import pytest

from runner.sandbox.backends.base import BackendFacts
from runner.sandbox.backends.docker.checkup import gvisor

WITH = BackendFacts("docker", runtimes=("runc", "runsc"))


@pytest.mark.parametrize(("arguments", "status"), [
    (["--platform=ptrace", "--oci-seccomp"], "ok"), (["-oci-seccomp=true"], "ok"), (["--oci-seccomp=false"], "warn"),
    (["--platform=ptrace"], "warn"), ([], "warn"), (None, "warn")])
def test_gvisor_is_fit_only_with_its_filter(arguments, status):
    found = gvisor(WITH, {"Runtimes": {"runsc": {"path": "/usr/bin/runsc", "runtimeArgs": arguments}}})
    assert (found.status, "--oci-seccomp" in found.fix) == (status, status == "warn")


def test_no_gvisor_is_a_shared_kernel():
    found = gvisor(BackendFacts("docker", runtimes=("runc",)), {"Runtimes": {"runc": {}}})
    assert (found.status, "shared" in found.seen) == ("warn", True)


def test_an_engine_that_tells_nothing_of_its_runtimes_is_not_fit():
    assert [gvisor(WITH, info).status for info in ({}, {"Runtimes": None}, {"Runtimes": {"runsc": {}}})] == ["warn"] * 3
