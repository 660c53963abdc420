"""A stand-in for the Hugging Face hub on 127.0.0.1, as far as a data set's files are listed and read.

Listings come page by page, as the hub's do; content by ranges, for those who have the token.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "hf_standin_for_reading"
REPO = "ann/trajectories"
_PAGE = 2


class HubFiles:
    """Serves the files of one data set, from ``with`` to its end; ``faults`` are statuses to answer with first."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.faults: list[int] = []
        self.ranges: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def env(self) -> dict[str, str]:
        return {"HF_ENDPOINT": self.endpoint, "HF_TOKEN": TOKEN, "HF_HUB_OFFLINE": "0"}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def entry(self, path: str) -> dict[str, Any]:
        data = self.files[path]
        return {"type": "file", "path": path, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}  # noqa: S324 - as git

    def tree(self, folder: str, *, recursive: bool) -> list[dict[str, Any]]:
        start = f"{folder}/" if folder else ""
        within = [path for path in sorted(self.files) if path.startswith(start)]
        folders = {
            start + "/".join(parts[:depth])
            for path in within
            for parts in [path.removeprefix(start).split("/")]
            for depth in range(1, len(parts))
            if recursive or depth == 1
        }
        files = [path for path in within if recursive or "/" not in path.removeprefix(start)]
        entries = [{"type": "directory", "path": each, "size": 0, "oid": "0"} for each in sorted(folders)]
        return entries + [self.entry(path) for path in files]


class _Handler(BaseHTTPRequestHandler):
    hub: HubFiles
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        path, query = unquote(url.path), parse_qs(url.query)
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.say(401, {"error": "Invalid credentials"}, **{"X-Error-Code": "RepoNotFound"})
        elif match := re.fullmatch(rf"/datasets/{REPO}/resolve/main/(.+)", path):
            self.content(match[1])
        elif match := re.fullmatch(rf"/api/datasets/{REPO}/tree/main/?(.*)", path):
            self.listing(match[1], query)
        elif re.fullmatch(rf"/api/datasets/{REPO}(/revision/main)?", path):
            self.say(200, {"id": REPO, "sha": "c0ffee", "siblings": [], "tags": []})
        else:
            self.say(404, {"error": "no such"}, **{"X-Error-Code": "RepoNotFound"})

    do_HEAD = do_GET  # noqa: N815 - as the base class has it

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        paths = json.loads(body)["paths"] if body.startswith("{") else parse_qs(body)["paths"]
        self.say(200, [self.hub.entry(path) for path in paths if path in self.hub.files])

    def listing(self, folder: str, query: dict[str, list[str]]) -> None:
        start = int(query.get("cursor", ["0"])[0])
        entries = self.hub.tree(folder, recursive=query.get("recursive", [""])[0].lower() == "true")
        if not entries:
            self.say(404, {"error": "no such"}, **{"X-Error-Code": "EntryNotFound"})
            return
        more = {}
        if start + _PAGE < len(entries):
            url = urlsplit(self.path)
            rest = "&".join(each for each in url.query.split("&") if each and not each.startswith("cursor="))
            more = {"Link": f'<{self.hub.endpoint}{url.path}?{rest}&cursor={start + _PAGE}>; rel="next"'}
        self.say(200, entries[start : start + _PAGE], **more)

    def content(self, path: str) -> None:
        if self.hub.faults:
            self.say(self.hub.faults.pop(0), {"error": "on purpose"})
            return
        wanted = self.headers.get("Range", "")
        self.hub.ranges.append(wanted)
        data = self.hub.files[path]
        if match := re.fullmatch(r"bytes=(\d+)-(\d+)", wanted):
            data = data[int(match[1]) : int(match[2]) + 1]
        self.answer(206 if wanted else 200, data, {})

    def say(self, status: int, value: Any, **headers: str) -> None:
        self.answer(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})

    def answer(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass
