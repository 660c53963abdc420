from __future__ import annotations

import contextlib
import string
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from settings_of import from_environ, from_yaml

from trajcompress.errors import SettingsError
from trajcompress.settings import OPTIONS, SETTINGS, Settings, resolve
from trajcompress.settings.keys import VARIABLES

DEFAULT_YAML = Path(__file__).resolve().parents[2] / "configs" / "default.yaml"
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


# --- the example file


def test_default_yaml_holds_every_key_with_its_default():
    resolved = resolve({}, DEFAULT_YAML, environ={}, dotenv=None)
    assert resolved.settings == Settings()
    assert resolved.notes == []
    sections = yaml.safe_load(DEFAULT_YAML.read_text(encoding="utf-8"))
    assert [f"{section}.{key}" for section, keys in sections.items() for key in keys] == list(SETTINGS)


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


def test_a_limited_shard_is_said_to_be_for_itself():
    given = {"input.shard": "1/2", "input.limit": 3}
    assert "cannot be merged" in resolve(given, None, environ={}, dotenv=None).notes[0]
    assert resolve({"input.shard": "1/2"}, None, environ={}, dotenv=None).notes == []


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
    "summarization.price_cached": st.floats(0, 100),
    "summarization.max_cost": st.floats(0.01, 100),
    "processing.part_size": st.integers(1, 999).map(lambda number: f"{number}MB"),
    "summarization.on_failure": st.sampled_from(["keep", "extractive"]),
    "input.format": st.sampled_from(["auto", "sharegpt", "openai"]),
    "input.role_map": st.dictionaries(WORD, st.sampled_from(["system", "user", "assistant", "tool"]), min_size=1),
    "input.sample_percent": st.floats(0.5, 100),
    "input.shard": st.integers(1, 99).map(lambda count: f"{count}/{count}"),
    "compression.form": st.sampled_from(["as-read", "target"]),
    "summarization.summarizer": st.just("extractive"),  # any other takes more than a variable
    "output.columns": st.lists(WORD, min_size=1, unique=True),
    "output.per_turn_columns": st.lists(WORD, min_size=1, unique=True),
    "output.format": st.sampled_from(["parquet", "jsonl"]),
    "processing.max_failed": st.integers(0, 99).map(str) | st.integers(0, 100).map(lambda number: f"{number}%"),
}
BY_TYPE = {bool: st.booleans(), int: st.integers(1, 10**6), float: st.floats(0.5, 10**6)}
WHOLE_OPTIONAL = {"rpm", "tpm", "limit", "num_workers", "sample_count", "min_tokens"}
PARSED = {"processing.part_size", "processing.max_failed", "input.shard", "summarization.summarizer"}


def strategy_for(key):
    if key in BY_KEY:
        return BY_KEY[key]
    if SETTINGS[key].choices:
        return st.sampled_from(SETTINGS[key].choices)
    if key.partition(".")[2] in WHOLE_OPTIONAL:
        return BY_TYPE[int]
    return BY_TYPE.get(type(value_of(Settings(), key)), WORD)


def as_text(value):
    if isinstance(value, dict):
        return ",".join(f"{name}={role}" for name, role in value.items())
    return ",".join(value) if isinstance(value, list) else str(value)


@given(data=st.data())
def test_a_value_in_a_higher_layer_wins(data, tmp_path_factory):
    key = data.draw(st.sampled_from([key for key in SETTINGS if key != "output.overwrite"]))
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
    assert set(resolved.origins) == set(SETTINGS)


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
