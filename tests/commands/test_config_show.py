"""``trajcompress config show``: every key, its value, and where that comes from."""

from __future__ import annotations

import json

import pytest
from commands import run_on_terminal
from typer.testing import CliRunner

from trajcompress.cli.config import app
from trajcompress.errors import SettingsError
from trajcompress.settings import SETTINGS
from trajcompress.settings.keys import VARIABLES


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for variable in (*VARIABLES, "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    return lambda *args, **env: CliRunner().invoke(app, ["show", *args], env=env, catch_exceptions=False)


def test_config_show_prints_value_and_origin_of_every_key(run, tmp_path):
    (tmp_path / "my.yaml").write_text("compression: {target_max_tokens: 9000}\n", encoding="utf-8")
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-0123456789abcdefwxyz\n", encoding="utf-8")
    result = run("--config", "my.yaml", TRAJCOMPRESS_RPM="60", TRAJCOMPRESS_BASE_URL="http://127.0.0.1/v1")
    lines = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines() if line}
    assert lines["compression.target_max_tokens"] == ["9000", "my.yaml"]
    assert lines["summarization.rpm"] == ["60", "environment", "(TRAJCOMPRESS_RPM)"]
    assert lines["tokenizer.name"] == ["null:", "a", "built-in", "one", "default"]
    assert lines["compression.prune"] == ["null:", "all", "default"], "what null does, not null alone"
    assert set(SETTINGS) <= set(lines)
    assert "OPENAI_API_KEY: set (…wxyz), from .env" in result.stdout
    assert "http://127.0.0.1/v1" in result.stdout
    assert "0123" not in result.stdout


def test_config_show_json(run):
    shown = json.loads(run("--json", TRAJCOMPRESS_MODEL="m", OPENAI_API_KEY="short").stdout)
    assert list(shown["settings"]) == list(SETTINGS)
    assert shown["settings"]["compression.prune"] == {"value": None, "means": "all", "origin": "default"}
    assert shown["settings"]["processing.max_failed"] == {"value": None, "origin": "default"}
    assert shown["api_key"] == {"variable": "OPENAI_API_KEY", "value": "set", "origin": "environment"}
    assert "TRAJCOMPRESS_MODEL" in shown["notes"][0]


def test_config_show_keeps_notes_off_stdout(run):
    result = run(TRAJCOMPRESS_MODEL="m")
    assert "ignored" in result.stderr
    assert "ignored" not in result.stdout
    assert "OPENAI_API_KEY: not set" in result.stdout


def test_config_show_lets_settings_errors_through(run):
    with pytest.raises(SettingsError):
        run("-c", "none.yaml")


def test_a_narrow_terminal_shows_every_key_whole(tmp_path):
    value = "http://127.0.0.1:8000/v1"
    ran = run_on_terminal("config", "show", cwd=tmp_path, env={"TRAJCOMPRESS_BASE_URL": value}, columns=60)
    lines = ran.stdout.splitlines()
    assert max(map(len, lines)) <= 60
    assert {line.partition(":")[0] for line in lines} >= set(SETTINGS)
    assert f'summarization.base_url: "{value}"' in lines
    wide = run_on_terminal("config", "show", cwd=tmp_path, columns=100).stdout.splitlines()
    assert wide[0].split() == ["key", "value", "origin"]
