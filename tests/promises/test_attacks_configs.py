"""Configs that are deep, endless, or none at all: an error of one line."""

from __future__ import annotations

import commands
import pytest


def aliases(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, levels)]
    return "\n".join(lines)


CONFIGS = [
    ("[" * 20_000, "nested deeper than"),
    ("a: {" * 20_000, "nested deeper than"),
    ("- " * 20_000 + "a", "nested deeper than"),
    ("".join(" " * i + f"a{i}:\n" for i in range(1_000)), "nested deeper than"),
    (aliases(12), "with all that aliases stand for"),
    (aliases(12) + "\ncompression: *a11", "with all that aliases stand for"),
    ("compression: &a [*a]", "aliases"),
    ("compression: &a {target_max_tokens: *a}", "aliases"),
    ("a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 5000)), "aliases"),
    ("".join(f"k{i}: 1\n" for i in range(50_000)), "holds more than"),
    ("x" * 2_000_000, "larger than any config"),
    ("- a\n- b", "should be a mapping"),
    ("hello", "should be a mapping"),
    ("compression: {target_max_tokens: %s}" % ("9" * 5000), "too large"),
    ("compression: {target_max_tokens: %s}" % ("9" * 400), "too large"),
    ("compression: {target_max_tokens: " + ":".join(["1"] * 100_000) + "}", "too large"),
    ("compression: {target_max_tokens: .inf}", "valid integer"),
    ("compression: {target_max_tokens: 2001-99-99}", "month"),
    ("a: !!python/object/apply:os.system ['touch hacked']", "constructor"),
    ("? [a, b]\n: c", "unhashable"),
    ("a: 1\n---\nb: 2", "another document"),
    ('"a\\e[31mred": 1', "a\\x1b[31mred"),
    (b"\x80\x81\x82", "not UTF-8"),
    (bytes(range(256)), "not UTF-8"),
    (b"\0" * 100, "not valid YAML"),
    ("a: 1".encode("utf-16"), "not UTF-8"),
]


@pytest.mark.parametrize(("text", "says"), CONFIGS, ids=[str(each[0])[:20] for each in CONFIGS])
def test_a_hostile_config_is_an_error_of_one_line(desk, text, says):
    desk.path("c.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    ran = commands.run_here("config", "show", "--config", "c.yaml", cwd=desk.folder)
    assert (ran.code, ran.stderr.count("\n")) == (2, 1)
    assert ran.stderr.startswith("error: c.yaml")
    assert says in ran.stderr
    assert not desk.path("hacked").exists()
