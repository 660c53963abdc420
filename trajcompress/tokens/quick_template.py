"""A chat template's look-ups at a fraction of their cost, with the same outcome.

The sandbox that templates run in looks ``message.role`` up as an attribute first, which fails with an exception, and
asks of each method of a string whether it is safe: two thirds of the time of a rendering. For plain dictionaries,
strings, the loop and namespaces the answer depends on the name alone, so it is worked out once.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any

from trajcompress.tokens.quick_values import HELD, OF_DICT, PLAIN, look_inside

_OF_STR = frozenset(name for name in dir(str) if not name.startswith("_")) - {"format", "format_map"}


def quicken(template: str) -> None:
    """Speed up the look-ups of a chat template, wherever transformers renders it in this process.

    It stays as it is where it cannot be compiled, or where transformers compiles templates in another way.
    """
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    try:
        from transformers.utils.chat_template_utils import _compile_jinja_template

        environment = _compile_jinja_template(template).environment
    except (ImportError, AttributeError, jinja2.TemplateError):
        return
    if type(environment) is ImmutableSandboxedEnvironment and "getattr" not in vars(environment):
        with suppress(AttributeError):
            vars(environment)["getattr"] = quick_getattr(environment)


@lru_cache(maxsize=16)
def quick_compiled(template: str) -> Any:
    """Return a chat template as transformers compiles it, or with quicker code where :func:`quicken` knows it.

    Raises:
        Exception: whatever compiling it raises.
    """
    from transformers.utils.chat_template_utils import _compile_jinja_template

    from trajcompress.tokens.quick_code import QuickCode

    quicken(template)
    compiled = _compile_jinja_template(template)
    environment = compiled.environment
    if "getattr" not in vars(environment):
        return compiled
    environment.code_generator_class = QuickCode
    try:
        return environment.from_string(template)
    except (SyntaxError, RecursionError, MemoryError):  # more brackets within each other than Python takes
        return compiled


def quick_getattr(environment: Any) -> Callable[[Any, str], Any]:
    """Return what looks an attribute up just as ``environment.getattr`` does.

    Raises:
        AttributeError: namespaces of this version keep what they hold elsewhere.
    """
    from jinja2.runtime import LoopContext

    from trajcompress.tokens.quick_loop import INLINE

    look_up, undefined = environment.getattr, environment.undefined
    namespace = environment.globals["namespace"]
    look_inside(namespace(), HELD)

    def getattr_(value: Any, name: str) -> Any:
        kind = type(value)
        if kind is dict:
            if name not in OF_DICT:
                try:
                    return value[name]
                except KeyError:
                    return undefined(obj=value, name=name)
        elif (kind is str and name in _OF_STR) or (kind is LoopContext and name in INLINE):
            return getattr(value, name)
        elif kind is namespace and not name.startswith("_"):
            found = look_inside(value, HELD).get(name)
            if type(found) in PLAIN:
                return found
        return look_up(value, name)

    return getattr_
