"""What podman is asked for, so that it gives the same sandbox."""

import dataclasses

import pytest
from test_render import SPEC

from runner.sandbox.backends.docker.dialect import DOCKER, PODMAN, dialect_of
from runner.sandbox.backends.docker.podman import profile_path, render_for_podman
from runner.sandbox.backends.docker.render import render
from runner.sandbox.seccomp import profile_names, profile_text
from runner.sandbox.spec import TmpfsMount, VolumeMount

MOUNTED = dataclasses.replace(
    SPEC, name="runner-ab-run-0001",
    volumes=(VolumeMount("work", "/workspace"), VolumeMount("tools", "/.runner", read_only=True),
             VolumeMount("filled", "/opt/tools", read_only=True, copy_up=True)),
    tmpfs=(TmpfsMount("/tmp", 1 << 20, 100, executable=True), TmpfsMount("/data", 4096, 10)))


def test_mounts_carry_their_flags_and_none_is_a_host_path():
    bound = render_for_podman(MOUNTED)["HostConfig"]["Binds"]
    assert bound == [
        "work:/workspace:rw,nosuid,nodev,nocopy", "tools:/.runner:ro,nosuid,nodev,nocopy",
        "filled:/opt/tools:ro,nosuid,nodev", "runner-ab-run-0001-tmp-1:/tmp:rw,exec,nosuid,nodev,nocopy",
        "runner-ab-run-0001-tmp-2:/data:rw,noexec,nosuid,nodev,nocopy"]
    assert all("/" not in entry.split(":")[0] for entry in bound)


def test_a_tmpfs_is_a_volume_with_both_caps_and_an_owner():
    scratch = PODMAN.scratch(MOUNTED)
    assert [(name, mount.target) for name, mount in scratch] == [
        ("runner-ab-run-0001-tmp-1", "/tmp"), ("runner-ab-run-0001-tmp-2", "/data")]
    assert PODMAN.volume(1 << 20, 100, 0o1777)["o"] == "nr_blocks=256,nr_inodes=100,mode=1777,nosuid,nodev,uid=0,gid=0"


def test_what_it_would_open_by_itself_is_closed():
    opened = render_for_podman(MOUNTED)["HostConfig"]["Tmpfs"]
    assert sorted(opened) == ["/run", "/var/tmp"]
    assert all(options.split(",")[0] == "ro" for options in opened.values())
    bare = dataclasses.replace(MOUNTED, tmpfs=(), volumes=())
    assert sorted(render_for_podman(bare)["HostConfig"]["Tmpfs"]) == ["/run", "/tmp", "/var/tmp"]


def test_an_images_own_volume_there_stays_ours():
    declared = dataclasses.replace(MOUNTED, tmpfs=(TmpfsMount("/run", 4096, 10),))
    assert "/run" not in render_for_podman(declared)["HostConfig"]["Tmpfs"]


def test_no_limit_of_docker_is_left_out():
    usual, asked = render(MOUNTED)["HostConfig"], render_for_podman(MOUNTED)["HostConfig"]
    assert [limit for limit in usual["Ulimits"] if limit not in asked["Ulimits"]] == []
    changed = {key for key in usual if usual[key] != asked.get(key)}
    assert changed == {"Mounts", "Tmpfs", "Ulimits"}


@pytest.mark.parametrize("name", profile_names())
def test_the_profile_is_the_file_that_docker_gets_as_text(name):
    with open(profile_path(name), encoding="utf-8") as file:
        assert file.read() == profile_text(name)


def test_only_podman_is_spoken_to_so():
    assert (dialect_of("podman"), dialect_of("docker"), dialect_of("")) == (PODMAN, DOCKER, DOCKER)
    assert dialect_of("podman", "runsc") is PODMAN
