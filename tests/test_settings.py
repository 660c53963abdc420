from __future__ import annotations

import contextlib
import json
import string
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from typer.testing import CliRunner

from trajcompress.cli.config import app
from trajcompress.errors import SettingsError
from trajcompress.settings import (
    OPTIONS,
    Compression,
    FailureLimit,
    Settings,
    api_key,
    require_api_key,
    resolve,
)
from trajcompress.settings.keys import KEYS, VARIABLES

DEFAULT_YAML = Path(__file__).resolve().parents[1] / "configs" / "default.yaml"
OTHER_TOOLS_YAML = """\
tokenizer: {name: org/model, trust_remote_code: true}
compression: {target_max_tokens: 29000, summary_target_tokens: 750}
protected_turns: {first_system: true, first_human: true, first_gpt: true, first_tool: true, last_n_turns: 4}
summarization:
  model: some/model
  base_url: https://example.org/api/v1
  api_key_env: EXAMPLE_API_KEY
  temperature: 0.3
  max_retries: 3
  retry_delay: 2
output: {add_summary_notice: true, summary_notice_text: "\\n\\nSome turns may be summarized.", output_suffix: _short}
processing:
  num_workers: 4
  max_concurrent_requests: 50
  skip_under_target: true
  save_over_limit: true
  per_trajectory_timeout: 300
metrics: {enabled: true, per_trajectory: true, output_file: compression_metrics.json}
"""


def value_of(settings, key):
    section, _, name = key.partition(".")
    return getattr(getattr(settings, section), name)


def from_yaml(tmp_path, text, **environ):
    path = tmp_path / "my.yaml"
    path.write_text(text, encoding="utf-8")
    return resolve({}, path, environ=environ, dotenv=None)


def from_environ(cli=None, **environ):
    return resolve(cli or {}, None, environ=environ, dotenv=None)


# --- the example file


def test_default_yaml_holds_every_key_with_its_default():
    resolved = resolve({}, DEFAULT_YAML, environ={}, dotenv=None)
    assert resolved.settings == Settings()
    assert resolved.notes == []
    sections = yaml.safe_load(DEFAULT_YAML.read_text(encoding="utf-8"))
    assert [f"{section}.{key}" for section, keys in sections.items() for key in keys] == KEYS


def test_default_yaml_names_the_option_of_every_key_that_has_one():
    lines = DEFAULT_YAML.read_text(encoding="utf-8").splitlines()
    named = {flag for flag, key in OPTIONS.items() if any(f"[{flag}]" in line for line in lines)}
    assert named == set(OPTIONS)


def test_a_config_of_other_trajectory_tools_works_and_its_metrics_section_is_reported_once(tmp_path):
    resolved = from_yaml(tmp_path, OTHER_TOOLS_YAML)
    assert resolved.settings.compression.target_max_tokens == 29000
    assert resolved.settings.summarization.retry_delay == 2.0
    assert len(resolved.notes) == 1
    assert "metrics.output_file" in resolved.notes[0]
    assert "accepted but has no meaning here" in resolved.notes[0]


# --- layers

WORD = st.text(string.ascii_letters + string.digits, min_size=1, max_size=8).map(lambda word: f"w{word}")
BY_KEY = {
    "compression.summary_target_tokens": st.integers(1, 749),
    "protected_turns.tail_tokens": st.integers(1, 10**6),
    "compression.target_max_tokens": st.integers(751, 10**9),
    "compression.count": st.sampled_from(["template", "content"]),
    "compression.target": st.sampled_from(["template", "trl", "llama-factory", "mistral"]),
    "summarization.redact": st.sampled_from(["off", "egress", "dataset"]),
    "summarization.context_tokens": st.integers(1, 10**6),
    "output.record": st.booleans(),
    "summarization.facts": st.booleans(),
    "output.marks": st.sampled_from(["none", "train", "loss-mask", "weight", "auto"]),
    "compression.prune": st.sampled_from(["off", "safe", "all"]),
    "compression.fit": st.sampled_from(["lenient", "strict"]),
    "compression.placement": st.sampled_from(["auto", "human", "fold"]),
    "summarization.base_url": WORD.map(lambda word: f"http://127.0.0.1:1/{word}"),
    "summarization.price_in": st.floats(0, 100),
    "summarization.price_out": st.floats(0, 100),
    "summarization.on_failure": st.sampled_from(["keep", "extractive"]),
    "input.format": st.sampled_from(["auto", "sharegpt", "openai"]),
    "input.role_map": st.dictionaries(WORD, st.sampled_from(["system", "user", "assistant", "tool"]), min_size=1),
    "input.sample_percent": st.floats(0.5, 100),
    "input.shard": st.integers(1, 99).map(lambda count: f"{count}/{count}"),
    "output.format": st.sampled_from(["parquet", "jsonl"]),
    "processing.max_failed": st.integers(0, 99).map(str) | st.integers(0, 100).map(lambda number: f"{number}%"),
}
BY_TYPE = {bool: st.booleans(), int: st.integers(1, 10**6), float: st.floats(0.5, 10**6)}
WHOLE_OPTIONAL = {"rpm", "tpm", "limit", "num_workers", "sample_count", "min_tokens"}
PARSED = {"processing.max_failed", "input.shard"}


def strategy_for(key):
    if key in BY_KEY:
        return BY_KEY[key]
    if key.partition(".")[2] in WHOLE_OPTIONAL:
        return BY_TYPE[int]
    return BY_TYPE.get(type(value_of(Settings(), key)), WORD)


def as_text(value):
    if isinstance(value, dict):
        return ",".join(f"{name}={role}" for name, role in value.items())
    return str(value)


@given(data=st.data())
def test_a_value_in_a_higher_layer_wins(data, tmp_path_factory):
    key = data.draw(st.sampled_from([key for key in KEYS if key != "output.overwrite"]))
    values = strategy_for(key)
    layers = ["yaml", ".env", "environment", "command line"]
    drawn = {layer: data.draw(values) for layer in data.draw(st.lists(st.sampled_from(layers), unique=True))}
    variable = data.draw(st.sampled_from([name for name, target in VARIABLES.items() if target == key]))
    folder = tmp_path_factory.mktemp("layers")
    config, dotenv = folder / "my.yaml", folder / ".env"
    section, _, name = key.partition(".")
    content = {"summarization": {"model": "base"}}  # variables may change the model once a file names one
    if "yaml" in drawn:
        content.setdefault(section, {})[name] = drawn["yaml"]
    config.write_text(yaml.safe_dump(content), encoding="utf-8")
    if ".env" in drawn:
        dotenv.write_text(f"OTHER=1\n{variable}={as_text(drawn['.env'])}\n", encoding="utf-8")
    resolved = resolve(
        {key: drawn.get("command line")},
        config,
        environ={variable: as_text(drawn["environment"])} if "environment" in drawn else {},
        dotenv=dotenv,
    )
    strongest = max(drawn, key=layers.index, default=None)
    if strongest is None:
        assert value_of(resolved.settings, key) == (
            "base" if key == "summarization.model" else value_of(Settings(), key)
        )
        return
    expected = drawn[strongest]
    actual = value_of(resolved.settings, key)
    assert (str(actual) if key in PARSED else actual) == expected
    assert ("my.yaml" if strongest == "yaml" else strongest) in resolved.origins[key]


def test_off_is_a_word_in_yaml_too(tmp_path):
    resolved = from_yaml(tmp_path, "compression: {prune: off}\nsummarization: {redact: off}")
    assert resolved.settings.compression.prune == "off"
    assert resolved.settings.summarization.redact == "off"


def test_origins_name_option_variable_and_file(tmp_path):
    config, dotenv = tmp_path / "my.yaml", tmp_path / ".env"
    config.write_text("compression: {target_max_tokens: 9000}\n", encoding="utf-8")
    dotenv.write_text("TRAJCOMPRESS_SEED=7\n", encoding="utf-8")
    resolved = resolve(
        {"summarization.rpm": 60},
        config,
        environ={"TRAJCOMPRESS_PROTECTED_TURNS__LAST_N_TURNS": "2", "PATH": "/bin"},
        dotenv=dotenv,
    )
    assert resolved.origins["summarization.rpm"] == "command line (--rpm)"
    assert resolved.origins["protected_turns.last_n_turns"] == (
        "environment (TRAJCOMPRESS_PROTECTED_TURNS__LAST_N_TURNS)"
    )
    assert resolved.origins["input.seed"] == f"{dotenv} (TRAJCOMPRESS_SEED)"
    assert resolved.origins["compression.target_max_tokens"] == str(config)
    assert resolved.origins["output.dir"] == "default"
    assert set(resolved.origins) == set(KEYS)


@pytest.mark.parametrize("where", ["yaml", ".env", "environment"])
def test_only_the_command_line_overwrites(tmp_path, where):
    config, dotenv, environ = tmp_path / "my.yaml", tmp_path / ".env", {}
    for value in ("false", "true"):
        if where == "yaml":
            config.write_text(f"output: {{overwrite: {value}}}\n")
        elif where == ".env":
            dotenv.write_text(f"TRAJCOMPRESS_OVERWRITE={value}\n")
        else:
            environ = {"TRAJCOMPRESS_OVERWRITE": value}
        refused = pytest.raises(SettingsError, match=r"output\.overwrite .*--overwrite on the command line")
        with refused if value == "true" else contextlib.nullcontext():
            resolve({}, config if where == "yaml" else None, environ=environ, dotenv=dotenv)
    assert resolve({"output.overwrite": True}, None, environ={}, dotenv=None).settings.output.overwrite


def test_null_on_the_command_line_unsets_what_a_file_sets(tmp_path):
    config = tmp_path / "my.yaml"
    config.write_text("summarization: {model: m}\n", encoding="utf-8")
    resolved = resolve({"summarization.model": "null"}, config, environ={"TRAJCOMPRESS_MODEL": "n"}, dotenv=None)
    assert resolved.settings.summarization.model is None
    assert len(resolved.notes) == 1


def test_an_empty_variable_is_not_set():
    assert from_environ(TRAJCOMPRESS_RPM="").settings.summarization.rpm is None


def test_both_names_of_a_variable_with_different_values_are_an_error():
    with pytest.raises(SettingsError, match=r"TRAJCOMPRESS_SUMMARIZATION__RPM.*unset one"):
        from_environ(TRAJCOMPRESS_RPM="5", TRAJCOMPRESS_SUMMARIZATION__RPM="6")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("agent=assistant, env=user", {"agent": "assistant", "env": "user"}),
        ("Orchestrator (-> WebSurfer)=user", {"Orchestrator (-> WebSurfer)": "user"}),
        (["agent=assistant", "env=user"], {"agent": "assistant", "env": "user"}),
    ],
)
def test_a_role_map_as_text(text, expected):
    assert from_environ({"input.role_map": text}).settings.input.role_map == expected


# --- naming a model


@pytest.mark.parametrize("where", ["environment", ".env"])
def test_a_variable_alone_never_turns_calls_on(tmp_path, where):
    variables = {"TRAJCOMPRESS_MODEL": "m", "TRAJCOMPRESS_FALLBACK_MODEL": "f", "OPENAI_API_KEY": "k"}
    dotenv = tmp_path / ".env"
    if where == ".env":
        dotenv.write_text("".join(f"{name}={value}\n" for name, value in variables.items()), encoding="utf-8")
    resolved = resolve({}, None, environ=variables if where == "environment" else {}, dotenv=dotenv)
    assert resolved.settings == Settings()
    assert resolved.origins["summarization.model"] == "default"
    assert any("TRAJCOMPRESS_MODEL" in note and "--model" in note for note in resolved.notes)


def test_a_variable_may_change_a_model_that_a_file_names(tmp_path):
    resolved = from_yaml(tmp_path, "summarization: {model: a}", TRAJCOMPRESS_MODEL="b")
    assert resolved.settings.summarization.model == "b"
    assert resolved.notes == []


def test_a_fallback_without_a_model_is_an_error():
    with pytest.raises(SettingsError, match=r"\(--fallback-model\): summarization.fallback_model needs"):
        from_environ({"summarization.fallback_model": "f"})


# --- errors


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "compression: {target_max_token: 1}",
            "my.yaml: unknown key compression.target_max_token; did you mean compression.target_max_tokens?",
        ),
        ("compresion: {target_max_tokens: 1}", "unknown key compresion; did you mean compression?"),
        ("compression: {model: m}", "compression.model; model belongs in a section: summarization.model"),
        ("target_max_tokens: 1", "belongs in a section: compression.target_max_tokens"),
        ("compression.count: content", "write count under the section compression"),
        ("format: jsonl", "input.format or output.format"),
        ("metrics: {enable: true}", "unknown key metrics.enable"),
        ("nonsense: 1", "the sections are tokenizer"),
        ("compression: {target_max_tokens: abc}", "target_max_tokens should be a valid integer, not 'abc'"),
        ("compression: {target_max_tokens: '8000'}", "should be a valid integer, not '8000'"),
        ("compression: {target_max_tokens: true}", "should be a valid integer, not True"),
        ("compression: {target_max_tokens: 0}", "should be greater than or equal to 1, not 0"),
        ("compression: {target_max_tokens: null}", "should be a valid integer, not None"),
        ("output: {overwrite: 1}", "output.overwrite should be a valid boolean, not 1"),
        ("output: {overwrite: 'yes'}", "output.overwrite should be a valid boolean, not 'yes'"),
        ("output: {format: csv}", "should be 'parquet' or 'jsonl', not 'csv'"),
        ("tokenizer: {name: 5}", "tokenizer.name should be a valid string, not 5"),
        ("tokenizer: {name: ''}", "tokenizer.name should have at least 1 character"),
        ("input: {sample_percent: 0}", "should be greater than 0"),
        ("input: {sample_percent: .nan}", "should be a finite number"),
        ("input: {role_map: {agent: robot}}", "input.role_map.agent should be 'system'"),
        ("input: {role_map: robot}", "should be pairs such as"),
        ("summarization: {rpm: 0}", "summarization.rpm should be greater"),
        ("summarization: {base_url: 'localhost:8000'}", "should be a URL such as"),
        ("summarization: {base_url: 'http://[::1'}", "should be a URL such as"),
        ("processing: {max_failed: 101%}", "from 0% to 100%"),
        ("processing: {max_failed: true}", "should be a number of rows"),
        ("compression: 5", "section compression should hold keys, not 5"),
        ("compression: {target_max_tokens: 700}", "my.yaml: compression.summary_target_tokens (750) should be less"),
        ("seed: [1", "my.yaml line 1: "),
        ("input:\n  seed: 1\n  limit: 2\n  seed: 3\n", "my.yaml line 4: duplicate key seed"),
        ("input: {seed: 1}\ninput: {limit: 2}\n", "my.yaml line 2: duplicate key input"),
        ("- 1", "should be a mapping of sections, not a list"),
        ("input: {split: 2024-99-99}", "not valid YAML"),
        ("input: !!python/name:os.system {}", "my.yaml line 1: "),
    ],
)
def test_a_wrong_file_is_an_error_that_names_file_key_and_remedy(tmp_path, text, message):
    with pytest.raises(SettingsError) as caught:
        from_yaml(tmp_path, text)
    assert message in str(caught.value)
    assert "my.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"TRAJCOMPRESS_TARGET_MAX_TOKEN": "1"}, "environment: unknown variable TRAJCOMPRESS_TARGET_MAX_TOKEN; did"),
        ({"TRAJCOMPRESS_ZZZZZZZZ": "1"}, "unset it"),
        ({"TRAJCOMPRESS_RPM": "many"}, "environment (TRAJCOMPRESS_RPM): summarization.rpm should be a valid integer"),
        ({"TRAJCOMPRESS_OVERWRITE": "perhaps"}, "output.overwrite should be a valid boolean, not 'perhaps'"),
    ],
)
def test_a_wrong_variable_is_an_error_that_names_it(environ, message):
    with pytest.raises(SettingsError) as caught:
        from_environ(**environ)
    assert message in str(caught.value)


def test_an_unknown_key_from_python_is_an_error():
    with pytest.raises(SettingsError, match=r"did you mean input.limit\?"):
        from_environ({"input.limits": 5})


def test_a_config_file_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(SettingsError, match="no such config file"):
        resolve({}, tmp_path / "none.yaml", environ={}, dotenv=None)
    with pytest.raises(SettingsError, match="cannot be read"):
        resolve({}, tmp_path, environ={}, dotenv=None)


def test_a_file_that_is_no_text_is_an_error(tmp_path):
    path = tmp_path / "my.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match="not UTF-8"):
        resolve({}, path, environ={}, dotenv=None)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "compression:\n"])
def test_an_empty_file_or_section_is_no_error(tmp_path, text):
    assert from_yaml(tmp_path, text).settings == Settings()


def test_settings_cannot_be_changed_and_are_checked_from_python_too():
    with pytest.raises(ValidationError, match="frozen"):
        Settings().compression.target_max_tokens = 5  # type: ignore[misc]  # that is the point
    with pytest.raises(ValidationError, match="should be less than"):
        Settings(compression=Compression(target_max_tokens=100))


# --- how many rows may fail


@pytest.mark.parametrize(
    ("limit", "failed", "total", "exceeded"),
    [
        ("0", 0, 0, False),
        ("0", 1, 10, True),
        (3, 3, 10, False),
        ("3", 4, 10, True),
        ("5%", 5, 100, False),
        ("5%", 6, 100, True),
        ("0.1%", 1, 1000, False),
        ("0.57 %", 57, 10000, False),
        ("100%", 10, 10, False),
        ("0%", 1, 10**9, True),
    ],
)
def test_failure_limit(limit, failed, total, exceeded):
    assert FailureLimit.parse(limit).exceeded(failed, total) is exceeded


# --- the key


def test_the_key_comes_from_the_named_variable_then_dotenv(tmp_path):
    dotenv = tmp_path / ".env"
    dotenv.write_text("MY_KEY='sk-$from-file'\n", encoding="utf-8")
    settings = from_environ({"summarization.model": "m", "summarization.api_key_env": "MY_KEY"}).settings
    assert api_key(settings, {"MY_KEY": "sk-env", "OPENAI_API_KEY": "other"}, dotenv) == "sk-env"
    assert api_key(settings, {"MY_KEY": ""}, dotenv) == "sk-$from-file"
    assert api_key(settings, {}, None) is None
    with pytest.raises(SettingsError, match="MY_KEY is not set"):
        require_api_key(settings, {}, None)


def test_an_endpoint_of_ones_own_needs_no_key():
    settings = from_environ({"summarization.model": "m", "summarization.base_url": "http://127.0.0.1:1/v1"}).settings
    assert require_api_key(settings, {}, None)


def test_a_key_or_password_given_in_the_wrong_place_is_not_echoed():
    with pytest.raises(SettingsError, match="name of an environment variable") as caught:
        from_environ({"summarization.api_key_env": "sk-secret"})
    assert "secret" not in str(caught.value)
    with pytest.raises(SettingsError) as caught:
        from_environ({"summarization.base_url": "ftp://me:secret@host"})
    assert "secret" not in str(caught.value)


# --- config show


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for variable in (*VARIABLES, "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    return lambda *args, **env: CliRunner().invoke(app, ["show", *args], env=env, catch_exceptions=False)


def test_config_show_prints_value_and_origin_of_every_key(run, tmp_path):
    (tmp_path / "my.yaml").write_text("compression: {target_max_tokens: 9000}\n", encoding="utf-8")
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-0123456789abcdefwxyz\n", encoding="utf-8")
    result = run("--config", "my.yaml", TRAJCOMPRESS_RPM="60", TRAJCOMPRESS_BASE_URL="http://me:hunter2@127.0.0.1/v1")
    lines = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines() if line}
    assert lines["compression.target_max_tokens"] == ["9000", "my.yaml"]
    assert lines["summarization.rpm"] == ["60", "environment", "(TRAJCOMPRESS_RPM)"]
    assert lines["tokenizer.name"] == ["null", "default"]
    assert set(KEYS) <= set(lines)
    assert "OPENAI_API_KEY: set (…wxyz), from .env" in result.stdout
    assert "http://***@127.0.0.1/v1" in result.stdout
    assert "hunter2" not in result.stdout
    assert "0123" not in result.stdout


def test_config_show_json(run):
    shown = json.loads(run("--json", TRAJCOMPRESS_MODEL="m", OPENAI_API_KEY="short").stdout)
    assert list(shown["settings"]) == KEYS
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
