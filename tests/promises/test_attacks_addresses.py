"""Endpoints that are not there, not who they say, or elsewhere."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess

import pytest
from loopback import LoopbackServer
from outages import compress
from raw_endpoint import OK, RawEndpoint, answer


def test_nobody_there(calling, out):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    ran = compress(calling, f"http://127.0.0.1:{port}/v1", out)
    assert ran.code == 2
    assert f"no call was answered for 0 s at http://127.0.0.1:{port}/v1" in ran.stderr
    assert "Connect" in ran.stderr


def test_a_name_that_nobody_has(calling, out):
    ran = compress(calling, "http://endpoint.invalid/v1", out)
    assert ran.code == 2
    assert "endpoint.invalid" in ran.stderr
    assert "connection: m: " in ran.stderr


@pytest.mark.parametrize("label", ["a" * 70, "xn--\u00fc"], ids=["label too long", "no IDNA"])
def test_a_name_that_nobody_can_have(calling, out, label):
    ran = compress(calling, f"http://{label}.test/v1", out)
    assert ran.code == 2
    assert "summarization.base_url should name a host" in ran.stderr


def test_a_server_without_tls(calling, out):
    with LoopbackServer() as server:
        ran = compress(calling, server.base_url.replace("http://", "https://"), out)
    assert ran.code == 2
    assert "tls_failure: m: " in ran.stderr
    assert "begin the base URL with http://" in ran.stderr


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_a_certificate_of_nobody_known_is_refused_at_once_and_taken_if_named(calling, out, tmp_path):
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*made, *files], cwd=tmp_path, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    with RawEndpoint(lambda _: OK, tls=context) as server:
        ran = compress(calling, server.base_url, out)
        assert ran.code == 2
        assert "tls_failure: m: " in ran.stderr
        assert "SSL_CERT_FILE" in ran.stderr
        assert server.asked == []
        ran = compress(calling, server.base_url, out, env={"SSL_CERT_FILE": str(tmp_path / "cert.pem")})
        assert ran.code == 0, ran.stderr


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_the_key_follows_no_redirect(calling, out, status):
    with (
        RawEndpoint(lambda _: OK) as elsewhere,
        RawEndpoint(lambda _: answer(status, location=f"{elsewhere.base_url}/chat/completions")) as server,
    ):
        ran = compress(calling, server.base_url, out)
    assert (ran.code, elsewhere.asked) == (2, [])
    assert f"it redirects to {elsewhere.base_url}" in ran.stderr
