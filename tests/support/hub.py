"""A stand-in for the API of the Hugging Face hub on 127.0.0.1: what a push of a dataset asks of it, and no more.

It keeps repositories in memory, and takes files the two ways the hub does: small ones within the commit, Parquet
files uploaded ahead of it as Git LFS objects. It knows tokens, owners and visibility. It has no Xet,
no branches and no pull requests.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

TOKEN = "hf_standin"
OWNER = "ann"
_REPO = r"(?P<repo>[\w.-]+/[\w.-]+)"


@dataclass
class Repo:
    """A dataset repository: its files, and the summaries of its commits."""

    private: bool
    files: dict[str, bytes] = field(default_factory=dict)
    commits: list[str] = field(default_factory=list)


class Hub:
    """Serves in a thread of its own, from ``with`` to its end. ``readers`` are tokens that may not write."""

    def __init__(self, *, readers: tuple[str, ...] = ()) -> None:
        self.repos: dict[str, Repo] = {}
        self.objects: dict[str, bytes] = {}
        self.uploads = 0
        self.readers = readers
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, method: str, path: str, token: str, body: bytes) -> tuple[int, Any]:
        """Return the status and the JSON of an answer."""
        if token not in {TOKEN, *self.readers}:
            return 401, {"error": "Invalid credentials in Authorization header"}
        if path == "/api/whoami-v2":
            return 200, {"type": "user", "name": OWNER, "orgs": []}
        if method != "GET" and token in self.readers:
            return 403, {"error": "This token has no write permission"}
        for pattern, answer in self._routes.items():
            if match := re.fullmatch(pattern, f"{method} {path}"):
                return answer(self, match, body)
        return 404, {"error": f"{method} {path}: not part of the stand-in"}

    def _create(self, _: re.Match[str], body: bytes) -> tuple[int, Any]:
        asked = json.loads(body)
        owner = asked.get("organization") or OWNER
        name = f"{owner}/{asked['name']}"
        if owner != OWNER:
            return 403, {"error": f'You don\'t have the rights to create a dataset under the namespace "{owner}"'}
        url = {"url": f"{self.endpoint}/datasets/{name}"}
        if name in self.repos:
            return 409, {"error": "You already created this dataset repo", **url}
        self.repos[name] = Repo(private=asked["visibility"] == "private")
        return 200, url

    def _info(self, match: re.Match[str], _: bytes) -> tuple[int, Any]:
        repo = self.repos.get(match["repo"])
        if repo is None:
            return 404, {"error": "Repository not found"}
        siblings = [{"rfilename": name} for name in repo.files]
        return 200, {"id": match["repo"], "sha": "0" * 40, "private": repo.private, "siblings": siblings}

    def _validate(self, _: re.Match[str], body: bytes) -> tuple[int, Any]:
        from huggingface_hub import DatasetCard

        DatasetCard(json.loads(body)["content"])  # raises where the metadata is none
        return 200, {"errors": [], "warnings": []}

    def _preupload(self, _: re.Match[str], body: bytes) -> tuple[int, Any]:
        modes = [
            {"path": name, "uploadMode": "lfs" if name.endswith(".parquet") else "regular", "shouldIgnore": False}
            for name in (file["path"] for file in json.loads(body)["files"])
        ]
        return 200, {"files": modes}

    def _batch(self, _: re.Match[str], body: bytes) -> tuple[int, Any]:
        objects = []
        for wanted in json.loads(body)["objects"]:
            upload = {"href": f"{self.endpoint}/lfs/{wanted['oid']}", "header": {}}
            known = wanted["oid"] in self.objects
            objects.append({**wanted, **({} if known else {"actions": {"upload": upload}})})
        return 200, {"transfer": "basic", "objects": objects}

    def put(self, path: str, body: bytes) -> None:
        self.uploads += 1
        self.objects[path.rpartition("/")[2]] = body

    def _commit(self, match: re.Match[str], body: bytes) -> tuple[int, Any]:
        repo = self.repos[match["repo"]]
        for line in body.splitlines():
            entry = json.loads(line)
            value = entry["value"]
            if entry["key"] == "header":
                repo.commits.append(value["summary"])
            elif entry["key"] == "file":
                repo.files[value["path"]] = base64.b64decode(value["content"])
            elif entry["key"] == "lfsFile":
                repo.files[value["path"]] = self.objects[value["oid"]]
            elif entry["key"] == "deletedFile":
                del repo.files[value["path"]]
        url = f"{self.endpoint}/datasets/{match['repo']}/commit/{len(repo.commits)}"
        return 200, {"commitUrl": url, "commitOid": f"{len(repo.commits):040}"}

    _routes = {  # noqa: RUF012 - never changed
        "POST /api/repos/create": _create,
        f"GET /api/datasets/{_REPO}": _info,
        "POST /api/validate-yaml": _validate,
        f"POST /api/datasets/{_REPO}/preupload/main": _preupload,
        rf"POST /datasets/{_REPO}\.git/info/lfs/objects/batch": _batch,
        f"POST /api/datasets/{_REPO}/commit/main": _commit,
    }


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.command == "PUT":  # signed by its address, as on the hub
                hub.put(self.path, body)
                status, content = 200, {}
            else:
                token = self.headers.get("authorization", "").removeprefix("Bearer ")
                status, content = hub.answer(self.command, self.path.partition("?")[0], token, body)
            answer = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            if status >= 400:
                self.send_header("X-Error-Message", content["error"])
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_PUT = _answer  # noqa: N815 - names that the library looks for

        def log_message(self, *_: object) -> None:
            pass

    return Handler
