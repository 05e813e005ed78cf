"""Mount tables as proc(5) describes them."""

import os

from runner.payload.mounts import Mount, find_mount, mount_of

TABLE = r"""21 1 0:20 / / rw,relatime - overlay overlay rw,lowerdir=/l
30 21 0:40 / /volumes/1 rw,nosuid,nodev,noexec,relatime shared:5 master:1 - tmpfs tmpfs rw,size=8192k,nr_inodes=1000
31 21 0:41 / /volumes/1 ro,nosuid - tmpfs tmpfs rw,mode=1777
32 21 0:42 / /vol\040umes rw - ext4 /dev/vda rw
bad line
"""


def test_the_last_mount_over_the_longest_prefix_counts():
    assert find_mount(TABLE, "/volumes/1") == Mount("tmpfs", ("ro", "nosuid", "rw", "mode=1777"))
    assert find_mount(TABLE, "/volumes/1/sub").fstype == "tmpfs"
    assert find_mount(TABLE, "/volumes/10").fstype == "overlay"
    assert find_mount(TABLE, "/vol umes").fstype == "ext4"
    assert find_mount("", "/x") == Mount("", ())


def test_the_real_table_is_understood():
    assert mount_of("/proc").fstype == "proc"
    assert mount_of(os.getcwd()).options
