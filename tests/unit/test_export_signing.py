"""Envelopes: signed by us and verified by openssl, the other way round, and nothing else."""

import json
from base64 import b64decode, b64encode, urlsafe_b64encode

import pytest
from openssl import KINDS, make_envelope, make_key, openssl, verify_envelope

from runner.errors import SignatureInvalid, UsageError
from runner.reports.attested import attested, attested_text
from runner.reports.envelope import open_signed, sign
from runner.reports.keys import read_private_key, read_public_key

PAYLOAD, TYPE = b'{"a": 1}\n\xff\0', "application/vnd.in-toto+json"


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    return {kind: make_key(folder, kind) for kind in KINDS}


@pytest.fixture(scope="module")
def signed(keys):
    return sign(PAYLOAD, TYPE, read_private_key(keys["ed25519"][0]).signer)


def refused(raw, public):
    with pytest.raises(SignatureInvalid) as caught:
        open_signed(raw, read_public_key(public))
    assert caught.value.exit_code == 2
    return caught.value.message


@pytest.mark.parametrize("kind", [*KINDS])
def test_openssl_verifies_what_we_sign(keys, kind, tmp_path):
    private, public = keys[kind]
    envelope = sign(PAYLOAD, TYPE, read_private_key(private).signer)
    assert verify_envelope(envelope, kind, public, tmp_path) == PAYLOAD
    assert open_signed(envelope, read_public_key(public)).payload == PAYLOAD


@pytest.mark.parametrize("kind", [*KINDS])
def test_we_verify_what_openssl_signs(keys, kind, tmp_path):
    private, public = keys[kind]
    found = open_signed(make_envelope(TYPE, PAYLOAD, kind, private, tmp_path), read_public_key(public))
    assert (found.payload, found.payload_type) == (PAYLOAD, TYPE)


def test_the_older_padding_of_rsa_is_understood(keys, tmp_path):
    private, public = keys["rsa"]
    envelope = make_envelope(TYPE, PAYLOAD, "rsa", private, tmp_path, padding=())
    assert open_signed(envelope, read_public_key(public)).payload == PAYLOAD


def test_an_envelope_is_one_line_of_canonical_json(signed):
    assert signed.endswith(b"\n")
    assert signed == json.dumps(json.loads(signed), sort_keys=True, separators=(",", ":")).encode() + b"\n"


def test_another_key_did_not_sign_it(signed, keys, tmp_path):
    _, other = make_key(tmp_path, "ed25519")
    for public in (other, keys["rsa"][1], keys["ecdsa"][1]):
        assert "not signed by this key" in refused(signed, public)


def altered(signed, **fields):
    return json.dumps(json.loads(signed) | fields).encode()


def test_nothing_of_it_can_be_changed(signed, keys):
    public = keys["ed25519"][1]
    payload = b64decode(json.loads(signed)["payload"])
    assert "changed since" in refused(altered(signed, payload=b64encode(payload + b" ").decode()), public)
    assert "changed since" in refused(altered(signed, payloadType="text/html"), public)
    assert "changed since" in refused(altered(signed, signatures=[]), public)
    sig = bytearray(b64decode(json.loads(signed)["signatures"][0]["sig"]))
    sig[0] ^= 1
    assert "changed since" in refused(altered(signed, signatures=[{"sig": b64encode(sig).decode()}]), public)


def test_the_key_id_is_only_a_hint(signed, keys):
    signatures = json.loads(signed)["signatures"]
    signatures[0]["keyid"] = "somebody else's"
    junk = {"sig": b64encode(b"junk").decode(), "keyid": signatures[0]["keyid"]}
    raw = altered(signed, signatures=[junk, signatures[0]], extra=1)
    assert open_signed(raw, read_public_key(keys["ed25519"][1])).payload == PAYLOAD


def test_either_alphabet_of_base64_is_read(keys):
    payload = b"\xfb\xff\xfe"
    raw = sign(payload, TYPE, read_private_key(keys["ed25519"][0]).signer)
    raw = altered(raw, payload=urlsafe_b64encode(payload).decode())
    assert open_signed(raw, read_public_key(keys["ed25519"][1])).payload == payload


@pytest.mark.parametrize("raw", [
    b"", b"{}", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"payload": 1, "payloadType": "a", "signatures": []}',
    b'{"payload": "!", "payloadType": "a", "signatures": []}',
    b'{"payload": "", "payloadType": "a", "signatures": [1]}',
    b'{"payload": "", "payloadType": "a", "signatures": {"sig": ""}}',
    b'{"payload": "", "payloadType": "\\ud800", "signatures": []}',
    b'{"payload": "\\u00e4", "payloadType": "a", "signatures": []}',
    b'{"payload": "", "payloadType": "a", "signatures": [%s]}' % b",".join([b'{"sig": ""}'] * 65)])
def test_what_is_no_envelope_is_refused(raw, keys):
    assert "not a signed export" in refused(raw, keys["ed25519"][1])


@pytest.mark.parametrize("payload", [
    b"", b"null", b"[]", b"\xff", b"[" * 100_000, b'{"predicate": 1, "subject": {}}',
    b'{"predicate": {"result": 5, "configuration": [1, {"name": "evidence", "annotations": []}]}, "subject": [1, {}]}',
    b'{"payload_fingerprint": 1, "verdict": [], "report_sha256": {}}'])
@pytest.mark.parametrize("payload_type", [TYPE, "application/vnd.sandbox-runner.result+json", "text/x\x1b[31m"])
def test_whatever_was_signed_can_be_told(keys, payload, payload_type):
    """The signer may have signed anything."""
    signed = sign(payload, payload_type, read_private_key(keys["ed25519"][0]).signer)
    said = attested(open_signed(signed, read_public_key(keys["ed25519"][1])))
    assert (said["payload"]["bytes"], said["payload"]["type"]) == (len(payload), payload_type)
    assert not {said.get("result"), said.get("verdict"), said.get("run")} - {None}
    assert all(isinstance(value, str) for _, value in attested_text(said))


def unusable(read, path):
    with pytest.raises(UsageError) as caught:
        read(path)
    assert "\n" not in caught.value.message
    return f"{caught.value.message} ({caught.value.hint})"


def test_a_key_that_everybody_can_read_is_told(keys):
    private = keys["ed25519"][0]
    assert not read_private_key(private).exposed
    private.chmod(0o644)
    assert read_private_key(private).exposed
    private.chmod(0o600)


def test_the_wrong_half_of_a_pair_is_told(keys):
    private, public = keys["ed25519"]
    assert "a public key, not a private key" in unusable(read_private_key, public)
    assert "a private key, which is not for verifying" in unusable(read_public_key, private)


@pytest.mark.parametrize("form", ["pkcs8", "traditional"])
def test_a_passphrase_is_told(keys, tmp_path, form):
    protected = tmp_path / "protected.pem"
    openssl("pkey", "-in", keys["rsa"][0], "-aes256", "-passout", "pass:x", "-out", protected,
            *(("-traditional",) if form == "traditional" else ()))
    assert "protected by a passphrase" in unusable(read_private_key, protected)


@pytest.mark.parametrize(("kind", "options"), [
    ("p384", ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384")), ("x25519", ("-algorithm", "x25519")),
    ("small", ("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024")), ("ed448", ("-algorithm", "ed448"))])
def test_other_kinds_of_keys_are_refused(tmp_path, kind, options):
    private, public = make_key(tmp_path, kind, *options)
    assert "of another kind" in unusable(read_private_key, private)
    assert "of another kind" in unusable(read_public_key, public)


@pytest.mark.parametrize(("content", "said"), [
    (b"", "not a key in PEM form"), (b"\0" * 100, "not a key in PEM form"), (b"x" * 100_000, "too large"),
    (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "not a private key that can be read"),
    (b"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n", "can be read"),
    (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "a certificate, not a private key")])
def test_what_is_no_private_key_is_told(tmp_path, content, said):
    (tmp_path / "k.pem").write_bytes(content)
    assert said in unusable(read_private_key, tmp_path / "k.pem")


@pytest.mark.parametrize(("content", "said"), [
    (b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "not a public key that can be read"),
    (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "a certificate, not a public key")])
def test_what_is_no_public_key_is_told(tmp_path, content, said):
    (tmp_path / "k.pub").write_bytes(content)
    assert said in unusable(read_public_key, tmp_path / "k.pub")


@pytest.mark.parametrize("name", ["missing", ".", "a\0b"])
def test_a_key_file_that_cannot_be_read_is_told(tmp_path, name):
    assert "cannot be read" in unusable(read_private_key, tmp_path / name) or "\0" in name


def test_parameters_before_a_key_do_not_matter(tmp_path):
    private = tmp_path / "ec.pem"
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-out", private)
    assert b"EC PARAMETERS" in private.read_bytes()
    assert read_private_key(private).signer.public_key.keytype == "ecdsa"
