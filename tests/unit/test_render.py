"""What the engine is told, word by word."""

import dataclasses
import json

import pytest

from runner.sandbox.backends.docker.render import render, tmpfs_options, volume_options
from runner.sandbox.spec import ContainerSpec, Limits, TmpfsMount, VolumeMount

SPEC = ContainerSpec(
    name="n", image_id="sha256:" + "a" * 64, argv=("/.runner/init", "--", "sh"), user="10001:10001", workdir="/",
    hostname="sandbox", limits=Limits(memory=1 << 30, pids=64, cpus=0.5, nofile=100, file_size=5, shm=7),
    seccomp='{"defaultAction": "SCMP_ACT_ERRNO"}', labels=(("a", "b"),), env=(("TZ", "UTC"),),
    volumes=(VolumeMount("v", "/workspace"), VolumeMount("t", "/.runner", read_only=True)),
    tmpfs=(TmpfsMount("/tmp", 10, 20),))


def test_every_protection_is_there():
    host = render(SPEC)["HostConfig"]
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert host["CapDrop"] == ["ALL"]
    assert "CapAdd" not in host
    assert host["SecurityOpt"] == ["no-new-privileges", f"seccomp={SPEC.seccomp}"]
    assert host["IpcMode"] == "private"
    assert (host["Memory"], host["MemorySwap"]) == (1 << 30, 1 << 30)
    assert host["PidsLimit"] == 64
    assert host["NanoCpus"] == 500_000_000
    assert host["LogConfig"] == {"Type": "none"}
    assert {limit["Name"]: limit["Hard"] for limit in host["Ulimits"]} == {"core": 0, "fsize": 5, "nofile": 100}


def test_the_image_decides_nothing():
    body = render(SPEC)
    assert body["Entrypoint"] == ["/.runner/init"]
    assert body["Cmd"] == ["--", "sh"]
    assert body["Healthcheck"] == {"Test": ["NONE"]}
    assert body["User"] == "10001:10001"
    assert body["NetworkDisabled"] is True


def test_a_hosts_file_is_made_without_a_network_and_without_the_hosts_resolver():
    body = render(dataclasses.replace(SPEC, hosts_file=True))
    assert (body["NetworkDisabled"], body["HostConfig"]["NetworkMode"]) == (False, "none")
    assert body["HostConfig"]["Dns"] == ["127.0.0.1"]


def test_stdin_is_a_leash():
    body = render(SPEC)
    assert (body["OpenStdin"], body["StdinOnce"], body["Tty"]) == (True, True, False)


def test_only_named_volumes_can_be_mounted():
    host = render(SPEC)["HostConfig"]
    assert "Binds" not in host
    assert {mount["Type"] for mount in host["Mounts"]} == {"volume"}
    assert all(mount["VolumeOptions"]["NoCopy"] for mount in host["Mounts"])


@pytest.mark.parametrize("word", ["Privileged", "AutoRemove", "Init"])
def test_what_is_always_off(word):
    assert render(SPEC)["HostConfig"][word] is False


@pytest.mark.parametrize("word", ["Devices", "PidMode", "UsernsMode", "UTSMode", "GroupAdd", "Sysctls", "Links"])
def test_there_is_no_word_for_more(word):
    assert word not in json.dumps(render(SPEC))
    assert not {field.name for field in dataclasses.fields(ContainerSpec)} & {"privileged", "devices", "binds"}


def test_mount_options():
    assert tmpfs_options(TmpfsMount("/tmp", 10, 20)) == "rw,noexec,nosuid,nodev,size=10,nr_inodes=20,mode=1777"
    assert ",exec," in tmpfs_options(TmpfsMount("/tmp", 10, 20, executable=True))
    assert volume_options(4097, 9)["o"] == "nr_blocks=2,nr_inodes=9,mode=1777,nosuid,nodev"
