"""Settings out of one layer alone."""

from __future__ import annotations

from trajcompress.settings import resolve


def from_yaml(tmp_path, text, **environ):
    path = tmp_path / "my.yaml"
    path.write_text(text, encoding="utf-8")
    return resolve({}, path, environ=environ, dotenv=None)


def from_environ(cli=None, **environ):
    return resolve(cli or {}, None, environ=environ, dotenv=None)
