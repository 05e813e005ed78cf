"""The client believes nothing: every word out of place is StewardLost, and nothing is taken without a cap."""

import pytest
from trees import LIMITS, sample

from runner.errors import SeedMismatch, StewardLost
from runner.payload import frames
from runner.payload.frames import DATA, DONE, FAILED, ITEM, encode, raw
from runner.payload.seal import seal
from runner.sandbox.steward import Steward

DIGEST = b"0" * 64
FINGERPRINT = (DIGEST, DIGEST, b"1", b"1", b"1")


class Script:
    """A channel that answers what it was given, whatever is asked."""

    def __init__(self, *answers):
        self.sent = b""
        self._answers = b"".join(answers)

    def send(self, data):
        self.sent += data

    def receive(self, count):
        if len(self._answers) < count:
            raise StewardLost("the steward ended")
        part, self._answers = self._answers[:count], self._answers[count:]
        return part


MOUNT = encode(ITEM, b"1", b"2", b"tmpfs", b"rw,nosuid")
BROKEN = {
    "ended": ("usage", [b""]),
    "half a frame": ("usage", [encode(DONE, b"1")[:-1]]),
    "unknown tag": ("usage", [raw(b"?", b"")]),
    "huge frame": ("usage", [b"\x7f\xff\xff\xffE"]),
    "field past the end": ("usage", [raw(DONE, b"\0\0\0\5x")]),
    "too few fields": ("usage", [encode(DONE, b"1")]),
    "no number": ("usage", [encode(DONE, b"1", b"2", b"3", b"-4")]),
    "data out of turn": ("usage", [raw(DATA, b"x")]),
    "item out of turn": ("wipe", [encode(ITEM, b"x"), encode(DONE)]),
    "no digest": ("fingerprint", [encode(DONE, b"X" * 64, *FINGERPRINT[1:])]),
    "short digest": ("fingerprint", [encode(DONE, b"0", *FINGERPRINT[1:])]),
    "unknown change": ("changes", [encode(ITEM, b"eaten", b"a", b"x")]),
    "path climbs": ("changes", [encode(ITEM, b"added", b"../a", b"x")]),
    "path is absolute": ("changes", [encode(ITEM, b"added", b"/a", b"x")]),
    "path is empty": ("changes", [encode(ITEM, b"added", b"", b"x")]),
    "path with NUL": ("changes", [encode(ITEM, b"added", b"a\0", b"x")]),
    "long detail": ("changes", [encode(ITEM, b"added", b"a", b"x" * 5000)]),
    "no note": ("changes", [encode(DONE)]),
    "half a fingerprint": ("changes", [encode(DONE, b"", DIGEST)]),
    "too many changes": ("changes", [encode(ITEM, b"added", b"a", b"x")] * (frames.MAX_CHANGES + 1)),
    "too much text": ("changes", [encode(ITEM, b"added", b"a" * 60_000, b"x")] * 170),
    "protocol": ("hello", [MOUNT, encode(DONE, b"9", DIGEST)]),
    "no mounts": ("hello", [encode(DONE, b"1", DIGEST)]),
    "bad init digest": ("hello", [MOUNT, encode(DONE, b"1", b"zz")]),
    "failure without fields": ("usage", [encode(FAILED)]),
}


def ask(steward, operation):
    return getattr(steward, operation)(*([] if operation == "hello" else [1]))


@pytest.mark.parametrize(("operation", "answers"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_answer_is_a_lost_steward_for_good(operation, answers):
    steward = Steward(Script(*answers))
    with pytest.raises(StewardLost) as lost:
        ask(steward, operation)
    assert lost.value.message.isprintable()
    with pytest.raises(StewardLost, match="lost before"):
        steward.usage(1)


ARTIFACT = encode(ITEM, b"a", b"3")


@pytest.mark.parametrize("answers", [
    [ARTIFACT, raw(DATA, b"four")], [ARTIFACT, raw(DATA, b"")], [ARTIFACT, encode(DONE, b"")],
    [encode(ITEM, b"a", b"11")], [ARTIFACT, raw(DATA, b"abc")] * 3, [encode(ITEM, b"..", b"3")],
], ids=["more", "nothing", "end", "over the bytes", "over the files", "path"])
def test_artifacts_are_capped_on_this_side_too(answers):
    with pytest.raises(StewardLost):
        Steward(Script(*answers)).collect(1, ("*",), 2, 10)


def test_a_failure_is_told_and_the_conversation_goes_on():
    steward = Steward(Script(encode(FAILED, b"seed", b"clone: no\nspace \x1b"), encode(FAILED, b"fault", b"wipe: no"),
                             encode(DONE, b"1", b"2", b"3", b"4")))
    with pytest.raises(SeedMismatch, match=r"the steward could not clone: no\\nspace \\x1b"):
        steward.clone(1)
    with pytest.raises(StewardLost, match="could not wipe"):
        steward.wipe(1)
    assert steward.usage(1) == (1, 2, 3, 4)


def test_requests_are_what_the_protocol_says(tmp_path):
    channel = Script(encode(DONE, b""), encode(DONE, *FINGERPRINT))
    steward = Steward(channel)
    assert steward.collect(3, ("*.xml", "\udcff"), 5, 10) == ((), "")
    assert channel.sent == encode(frames.REQUEST, b"get", b"3", b"5", b"10", b"*.xml", b"\xff")
    channel.sent = b""
    sealed = seal(sample(tmp_path / "t"), LIMITS)
    steward.put(sealed)
    head = encode(frames.REQUEST, b"put", b"1000", b"16777216", b"16", b"255", b"4096")
    assert channel.sent.startswith(head)
    assert channel.sent.endswith(encode(DONE))


def test_more_patterns_than_agreed_are_noted():
    steward = Steward(Script(encode(DONE, b"")))
    assert steward.collect(1, ("x",) * 70, 1, 1).note == "6 patterns too many"
