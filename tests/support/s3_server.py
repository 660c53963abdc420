"""A real S3 server on 127.0.0.1, moto's, that keeps objects in memory; it can be made to fail, cut short or wait.

with S3Server() as server:
    server.put("bucket/rows.jsonl", b"...")
    server.faults = lambda asked: 503 if asked.method == "GET" else None
"""

from __future__ import annotations

import contextlib
import functools
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import unquote

from moto.backends import get_backend
from moto.moto_server.werkzeug_app import create_backend_app
from werkzeug.serving import make_server

KEY_ID = "testing-key-id"
SECRET = "testing-secret-key-never-shown"
BUCKET = "trajectories"

Fault = int | float | Literal["cut"] | None
"""A status to answer with, ``cut`` for a connection that breaks within the answer, or seconds to wait before it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: ``path`` begins with the bucket, ``number`` counts those of the same method and path, from 1."""

    method: str
    path: str
    query: str
    range: str
    number: int


class S3Server:
    """Serves from ``with`` to its end, in threads; ``asked`` are the requests so far.

    ``most_at_once`` is how many that had to wait did so at the same time.
    """

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self._at_once = 0
        self.faults: Callable[[Asked], Fault] = lambda _: None
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._app = create_backend_app("s3")
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def env(self) -> dict[str, str]:
        """What a command needs to know of it."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": KEY_ID,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reset(self) -> None:
        """Forget everything, and begin with one empty bucket."""
        self.faults = lambda _: None
        get_backend("s3").reset()
        self.client.create_bucket(Bucket=BUCKET)
        self.asked.clear()
        self.most_at_once = 0

    @functools.cached_property
    def client(self) -> Any:
        """Amazon's own client, to look with from outside."""
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.url,
            aws_access_key_id=KEY_ID,
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
        )

    def put(self, key: str, data: bytes) -> None:
        self.client.put_object(Bucket=BUCKET, Key=key, Body=data)

    def get(self, key: str) -> bytes:
        return self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()

    def objects(self) -> dict[str, bytes]:
        """Return all objects, by key."""
        listed = self.client.list_objects_v2(Bucket=BUCKET).get("Contents", [])
        return {each["Key"]: self.get(each["Key"]) for each in listed}

    def fetch(self, prefix: str, folder: Path) -> Path:
        """Copy all objects under a prefix into a folder."""
        for key, data in self.objects().items():
            if key.startswith(f"{prefix}/"):
                path = folder / key.removeprefix(f"{prefix}/")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        return folder

    def _answer(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = unquote(environ["PATH_INFO"]).lstrip("/")
        with self._lock:
            before = sum((each.method, each.path) == (environ["REQUEST_METHOD"], path) for each in self.asked)
            asked = Asked(
                environ["REQUEST_METHOD"],
                path,
                environ.get("QUERY_STRING", ""),
                environ.get("HTTP_RANGE", ""),
                before + 1,
            )
            self.asked.append(asked)
        fault = self.faults(asked)
        if isinstance(fault, float):
            with self._lock:
                self._at_once += 1
                self.most_at_once = max(self.most_at_once, self._at_once)
            time.sleep(fault)
            with self._lock:
                self._at_once -= 1
        elif isinstance(fault, int):
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            code = "SlowDown" if fault == 503 else "InternalError" if fault == 500 else "AccessDenied"
            body = f"<Error><Code>{code}</Code><Message>on purpose</Message></Error>".encode()
            body = b"" if asked.method == "HEAD" else body
            start_response(f"{fault} {code}", [("Content-Length", str(len(body)))])
            return [body]
        answer = self._app(environ, start_response)
        return _cut(answer, environ["werkzeug.socket"]) if fault == "cut" else answer


def _cut(answer: Iterable[bytes], connection: socket.socket) -> Iterator[bytes]:
    whole = b"".join(answer)
    yield whole[: len(whole) // 2]
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
