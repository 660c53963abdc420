from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2.sandbox import ImmutableSandboxedEnvironment
from shared import CHAT_TOKENIZERS, load_cached

from trajcompress.tokens.chat_template import ChatTemplate
from trajcompress.tokens.quick_template import QuickCode, quick_compiled, quick_getattr, quicken
from trajcompress.tokens.tokenizer import load_tokenizer

ROOT = Path(__file__).resolve().parents[2]

plain, quick = ImmutableSandboxedEnvironment(), ImmutableSandboxedEnvironment()
quick.getattr = quick_getattr(quick)
quick.code_generator_class = QuickCode

names = st.sampled_from(
    [*dir(dict), *dir(str), *dir(list), "role", "content", "f_code", "gi_frame", "", "é"]
) | st.text(max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=6,
)


def seen(environment, value, name):
    found = environment.getattr(value, name)
    if isinstance(found, jinja2.Undefined):
        return "undefined", found._undefined_message
    return ("method", name) if callable(found) else ("value", found)


@settings(deadline=None)
@given(value=values, name=names)
def test_any_name_of_any_value_is_what_the_sandbox_says(value, name):
    assert seen(quick, value, name) == seen(plain, value, name)


@settings(deadline=None, max_examples=40)  # each compiles a template, twice
@given(value=values, name=st.sampled_from(["role", "content", "items", "format", "first", "append", "__class__"]))
def test_what_is_made_of_it_in_a_template_is_the_same(value, name):
    source = (
        "{% for x in [v, v] %}{{ loop.first }}{{ loop.last }}{{ loop.index0 }}{{ loop.previtem is defined }}"
        "{{ x.NAME is defined }}{% if x is mapping %}{{ x.NAME }}{% for k, y in x.items() %}{{ k }}{{ y.NAME }}"
        "{% endfor %}{% endif %}{% endfor %}{{ v.NAME.NAME }}"
        "{% set ns = namespace({'NAME': v}, y=1) %}{{ ns.NAME }}{{ ns.z is defined }}{% set ns.y = v %}{{ ns.y }}"
        "{% set ns.f = '{0}'.format %}{{ ns.f(v) }}"
        "{% for x in [v, {'first': v}] if x.NAME is not defined or x['NAME'] %}{{ x['NAME'] }}{{ x['a{b'] }}"
        "{{ x.first }}{{ loop.index }}{{ x.first is defined }}{{ x.NAME.NAME is defined }}{% endfor %}"
        "{% macro m(a, b=v.NAME) %}{{ a.NAME }}{{ b }}{{ b is defined }}{% endmacro %}{{ m(v) }}{{ m(v, b=v.x.y) }}"
        "{% for x in [v] recursive %}{{ x.NAME }}{% if loop.depth0 < 1 %}{{ loop([x.NAME]) }}{% endif %}{% endfor %}"
    ).replace("NAME", name)

    def rendered(environment):
        try:
            return environment.from_string(source).render(v=value)
        except jinja2.TemplateError as error:
            return type(error), str(error)

    def without_addresses(outcome):
        return outcome.split(" at 0x")[0] if isinstance(outcome, str) else outcome

    assert without_addresses(rendered(quick)) == without_addresses(rendered(plain))


@settings(deadline=None)
@given(items=st.lists(values, max_size=4) | st.text(max_size=4) | st.dictionaries(names, values, max_size=4))
def test_a_loop_says_of_itself_what_it_says_in_the_sandbox(items):
    source = (
        "{% for x in items SOME %}{{ loop.index0 }}{{ loop.index }}{{ loop.first }}{{ loop.last }}|"
        "{{ loop.previtem }}|{{ loop.nextitem }}|{{ loop.previtem is defined }}{{ loop.nextitem is defined }}"
        "{{ loop.x is defined }}{{ loop.length }}{{ loop.revindex }}{{ loop.cycle(1, 2) }}{{ loop.changed(x) }}"
        "{{ loop['last'] }};{% else %}none{% endfor %}"
    )
    for some in ("", "if x", "recursive"):
        with_some = source.replace("SOME", some)
        assert quick.from_string(with_some).render(items=items) == plain.from_string(with_some).render(items=items)


def test_no_method_escapes_the_sandbox_by_way_of_a_namespace():
    source = "{% set ns = namespace() %}{% set ns.f = '{0.__class__}'.format %}{{ ns.f(1) }}"
    assert quick.from_string(source).render() == plain.from_string(source).render() == ""


@pytest.mark.parametrize("name", CHAT_TOKENIZERS)
def test_real_templates_render_real_rows_as_before(name):
    from transformers.utils import chat_template_utils as utils

    template = load_cached(name).hf.chat_template
    before = utils._cached_compile_jinja_template(template)
    after = quick_compiled(template)
    with (ROOT / "data" / "code-agent-openai.jsonl").open() as lines:
        rows = [json.loads(line) for line in islice(lines, 8)]
    for row in rows:

        def rendered(compiled, row=row):
            try:
                return compiled.render(messages=row["messages"], tools=row["tools"], add_generation_prompt=False)
            except Exception as error:  # noqa: BLE001 - whatever a template raises
                return type(error), str(error)

        assert rendered(after) == rendered(before)


def test_the_templates_of_a_run_are_quick(make_tokenizer):
    from transformers.utils.chat_template_utils import _compile_jinja_template

    template = "{% for message in messages %}{{ message.role }}: {{ message.content }}{% endfor %}"
    ChatTemplate(load_tokenizer(make_tokenizer(template)).hf)
    assert "getattr" in vars(_compile_jinja_template(template).environment)


def test_the_sandbox_is_not_asked_for_what_most_templates_look_up():
    compiled = quick_compiled(
        "{% set ns = namespace(found=0) %}{% for message in messages %}{% set ns.found = ns.found + 1 %}"
        "{{ message.role }}{{ ns.found }}{{ loop.last }}{{ loop.first }}{{ message.x is defined }}{% endfor %}"
    )

    def asked(value, name):
        raise AssertionError(f"{name} of {value}")

    vars(compiled.environment)["getattr"] = asked
    assert compiled.render(messages=[{"role": "a"}, {"role": "b"}]) == "a1FalseTrueFalseb2TrueFalseFalse"


def test_code_that_python_cannot_read_is_left_to_transformers():
    template = f"{{{{ messages{'.a' * 110} }}}}"
    messages: object = "deep"
    for _ in range(110):
        messages = {"a": messages}
    assert quick_compiled(template).render(messages=messages) == "deep"


def test_a_template_that_cannot_be_compiled_is_left_alone():
    quicken("{% nothing of this kind %}")


@settings(deadline=None, max_examples=40)
@given(value=values, at=st.integers(-4, 4) | st.booleans() | st.none() | st.text(max_size=2))
def test_an_item_of_any_value_is_what_the_sandbox_says(value, at):
    source = "{{ v[at] }}{{ v[0] is defined }}{{ v[-1] }}{{ v[:1] }}{% for x in v %}{{ v[loop.index0] }}{% endfor %}"

    def rendered(environment):
        try:
            return environment.from_string(source).render(v=value, at=at).split(" at 0x")[0]
        except (jinja2.TemplateError, TypeError, KeyError) as error:  # no key: a slice can be one from Python 3.12 on
            return type(error), str(error)

    assert rendered(quick) == rendered(plain)
