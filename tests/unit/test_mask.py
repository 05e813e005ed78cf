"""Credentials: which are known, how they are covered, and what must stay as it is."""

import pytest

from runner.evidence.mask import Masker, is_secret_name

ALNUM36 = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.dBjftJeZ4CVPmB92K27uhbUJU1p1rw"
KNOWN = {
    f"ghp_{ALNUM36}": "ghp_", f"gho_{ALNUM36}": "gho_", f"ghu_{ALNUM36}": "ghu_", f"ghs_{ALNUM36}": "ghs_",
    f"ghr_{ALNUM36}": "ghr_", f"github_pat_11ABC_{ALNUM36}": "github_pat_", "glpat-Ab3_dE6-gH9jK2mN5pQ8": "glpat-",
    "AKIAIOSFODNN7EXAMPLE": "AKIA", "ASIAIOSFODNN7EXAMPLE": "ASIA", "xoxb-123456789012-abcdefABCDEF": "xoxb-",
    "xoxp-123456789012-abcdefABCDEF": "xoxp-", f"npm_{ALNUM36}": "npm_", "pypi-AgEIcHlwaS5vcmcCJDU4Ym": "pypi-AgE",
    f"AIza{ALNUM36[:35]}": "AIza", "sk_live_4eC39HqLyjWDarjtT1zdp7dc": "sk_live_",
    "rk_live_4eC39HqLyjWDarjtT1zdp7dc": "rk_live_", JWT: "eyJ"}


def covered(text, stays):
    return text[:len(stays)] + "*" * (len(text) - len(stays))


@pytest.mark.parametrize("secret", KNOWN)
@pytest.mark.parametrize("around", ["{}", "x={}\n", '{{"token": "{}"}}', "curl -H 'X: {}' y", "({})", "\xff{}\0"])
def test_a_known_kind_is_covered_wherever_it_stands(secret, around):
    raw = around.format(secret).encode("latin-1")
    masked, count = Masker().data(raw)
    assert masked == around.format(covered(secret, KNOWN[secret])).encode("latin-1")
    assert count == len(secret) - len(KNOWN[secret])
    assert Masker().data(masked) == (masked, 0)


@pytest.mark.parametrize(("text", "masked"), [
    ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic ************"),
    ("authorization: bearer abc", "authorization: bearer ***"),
    ('Proxy-Authorization: Digest username="me", x', 'Proxy-Authorization: Digest *********"me", x'),
    ("'Authorization': 'token 0a1b'", "'Authorization': 'token ****'"),
    ('"Authorization": "abcdefgh12345678"', '"Authorization": "****************"'),
    ("AUTHORIZATION=abcdefgh1", "AUTHORIZATION=*********"),
    ("Bearer abcdefgh1", "Bearer *********"), ("bearer\tAAAAAAAAAAAAAAAAAAAA", "bearer\t********************"),
    ("https://me:pass@host/x", "https://me:****@host/x"), ("postgres://u:p:q@h", "postgres://u:***@h"),
    ("redis://:secret@h", "redis://:******@h"), ("git+ssh://a:p@ss@h", "git+ssh://a:****@h"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow==\nAb+/\n-----END RSA PRIVATE KEY-----",
     "-----BEGIN RSA PRIVATE KEY-----\n********\n****\n-----END RSA PRIVATE KEY-----"),
    ("-----BEGIN PRIVATE KEY-----\r\nMIIE", "-----BEGIN PRIVATE KEY-----\r\n****"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\\nb3Bl\\n-----END", "-----BEGIN OPENSSH PRIVATE KEY-----********-----END"),
    ("-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAb\n-----END EC",
     "-----BEGIN EC PRIVATE KEY-----\n********** ***********\n\n**\n-----END EC"),
])
def test_headers_urls_and_keys(text, masked):
    assert Masker().data(text.encode()) == (masked.encode(), masked.count("*"))


@pytest.mark.parametrize("text", [
    "ghp_short", "the ghp_ prefix", "AKIA", "AKIAIOSFODNN7EXAMPLEX", "xAKIAIOSFODNN7EXAMPLE", "akiaiosfodnn7example",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.", "Authorization: required", "the bearer of bad news",
    "Bearer certificate", "Unauthorized: no", "https://host:8080/a@b", "https://me@host/", "http://host/a:b@c",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----\nMIIB\n",
    "PRIVATE KEY-----\nMIIB", "pypi-simple-index-of-packages", "npm_config_registry",
    "sk_test_4eC39HqLyjWDarjtT1zdp7dc", "xox-1234567890123", "author: somebody12345678", "AIzaShort",
    "ValueError: ledger is off: wanted 42, found 43",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"])
def test_what_is_no_credential_stays(text):
    assert Masker().data(text.encode()) == (text.encode(), 0)
    assert Masker([("API_TOKEN", "another")]).text(text) == text


@pytest.mark.parametrize("name", ["TOKEN", "GITHUB_TOKEN", "github_token", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD",
                                  "DB_PASSWD", "PGPASS", "MYSQL_PWD", "API_KEY", "APIKEY", "SSH_KEYS", "CREDENTIALS",
                                  "AUTH", "OAUTH2", "AUTHORIZATION", "BASIC_AUTH", "MyPassword", "signing-key"])
def test_names_that_say_secret(name):
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["PATH", "AUTHOR", "GIT_AUTHOR_NAME", "KEYBOARD", "KEYMAP", "PWD", "OLDPWD", "MODE",
                                  "COMPASSES", "PASSENGERS"])
def test_names_that_do_not(name):
    assert not is_secret_name(name)


def test_values_of_secret_variables_are_covered_and_others_are_not():
    masker = Masker([("API_TOKEN", "hunter22"), ("MODE", "strict"), ("DB_PASSWORD", "abc"), ("KEY", "wide \xe9\udcff")])
    raw = b"hunter22 strict abc hunter2 hunter22hunter22 wide \xc3\xa9\xff"
    masked = b"******** strict abc hunter2 **************** ********"
    assert masker.data(raw) == (masked, 32)


@pytest.mark.parametrize(("value", "text", "masked"), [
    ("aaaa", "aaaaaaaaaaa b aaa", "*********** b aaa"), ("abab", "ababab", "******"), ("aXaa", "aXaaXaa", "*******"),
    ("one line\nanother line\nx", "saw another line, one line", "saw ************, ********")])
def test_values_that_overlap_themselves_or_have_lines(value, text, masked):
    assert Masker([("TOKEN", value)]).data(text.encode())[0] == masked.encode()


def test_a_credential_that_the_cut_runs_through():
    masker = Masker([("TOKEN", "hunter22")])
    assert masker.stream(b"a hunt", b"er22 b", truncated=True) == (b"a ********** b"[:2] + b"****" + b"**** b", 8)
    assert masker.stream(b"a ghp_abc", b"def", truncated=True) == (b"a ghp_***def", 3)
    assert masker.stream(b"a hunt", b"er22 b") == (b"a ******** b", 8)
    assert masker.stream(b"a hunt", b"") == (b"a hunt", 0)


def test_every_string_of_a_document_but_names_of_ours_and_digests():
    masker = Masker([("TOKEN", "passed"), ("KEY", "abcd"), ("SECRET", "f00d" * 8)])
    digest = "abcd" * 16
    document = {"outcome": "passed", "detail": "it passed", "deep": [{"reasons": ("passed", 3, None, True)}],
                "sha256": digest, "image": f"sha256:{digest}", "path": "a/abcd\\n", "effective": {"name": "passed"},
                "recorded": "f00d" * 8, f"ghp_{ALNUM36}": 1}
    assert masker.document(document) == {
        "outcome": "passed", "detail": "it ******", "deep": [{"reasons": ["******", 3, None, True]}],
        "sha256": digest, "image": f"sha256:{digest}", "path": "a/****\\n", "effective": {"name": "passed"},
        "recorded": "*" * 32, f"ghp_{ALNUM36}": 1}


def test_a_value_is_found_as_it_is_printed():
    masker = Masker([("TOKEN", "tab\there\x1b")])
    assert masker.text("saw tab\\there\\x1b!") == "saw *************!"
    assert masker.text("saw tab\there\x1b!") == "saw *********!"
