"""Settings that are wrong, and keys in the wrong place: errors that name file, key and remedy."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from settings_of import from_environ, from_yaml

from trajcompress.errors import SettingsError
from trajcompress.settings import FailureLimit, Settings, api_key, require_api_key, resolve
from trajcompress.settings.budget import Compression
from trajcompress.settings.files import read_yaml


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
        ("compression: {for: trl}", "unknown key compression.for; did you mean compression.target?"),
        ("for: trl", "unknown key for; did you mean compression.target?"),
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
        ("compression: {summary_target_tokens: half}", "tokens should be a valid integer or 'auto', not 'half'"),
        ("input: {role_map: {agent: robot}}", "input.role_map.agent should be 'system'"),
        ("input: {observations: AUTO}", "input.observations should be auto, not 'AUTO'"),
        ("input: {observations: tools}", "input.observations should be tool, not 'tools'"),
        ("input: {observations: 'x*'}", "that is not found in every turn, not 'x*'"),
        ("input: {observations: ''}", "that is not found in every turn"),
        ("input: {role_map: robot}", "should be pairs such as"),
        ("summarization: {rpm: 0}", "summarization.rpm should be greater"),
        ("summarization: {base_url: 'localhost:8000'}", "should be a URL such as"),
        ("summarization: {base_url: 'http://[::1'}", "should be a URL such as"),
        ('summarization: {base_url: "http://127.0.0.1/v\\x7f1"}', "should be a URL such as"),
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


def test_settings_cannot_be_changed_and_do_not_contradict_each_other():
    with pytest.raises(FrozenInstanceError):
        Settings().compression.target_max_tokens = 5  # type: ignore[misc]  # that is the point
    with pytest.raises(ValueError, match="should be less than"):
        Settings(compression=Compression(target_max_tokens=100))


# How many rows may fail


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


# The key of the endpoint


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
    for scheme in ("ftp", "http"):
        with pytest.raises(SettingsError) as caught:
            from_environ({"summarization.base_url": f"{scheme}://me:secret@host"})
        assert "secret" not in str(caught.value)
    assert "no user or password" in str(caught.value)
    with pytest.raises(SettingsError) as caught:
        from_environ({"summarization.base_url": "http://me:se?cret@host/v1"})
    assert "me:se" not in str(caught.value)
    assert "cret" not in str(caught.value)
    for url in ("http://host/v1?", "http://host/v1/chat/completions"):
        with pytest.raises(SettingsError, match="base_url should end"):
            from_environ({"summarization.base_url": url})
    with pytest.raises(SettingsError, match=r"not '1/0#2'"):
        from_environ({"input.shard": "1/0#2"})
    with pytest.raises(SettingsError, match=r"should end with its path.*'http://host/v1\?\*\*\*'") as caught:
        from_environ({"summarization.base_url": "http://host/v1?key=secret"})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("text", ["[" * 2000, "a: " + "{b: " * 2000, "- " * 2000])
def test_a_config_of_many_levels_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "c.yaml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=r"line 1: nested deeper than 50 levels"):
        read_yaml(path)


def test_aliases_of_aliases_are_refused_and_single_ones_are_not(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("a: &a [x, x]\nb: *a\n")
    assert read_yaml(path) == {"a": ["x", "x"], "b": ["x", "x"]}
    lines = [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    path.write_text("\n".join(["a0: &a0 x", *lines]))
    with pytest.raises(SettingsError, match="more than 10,000 values, with all that aliases stand for"):
        read_yaml(path)
