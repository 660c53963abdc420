"""A chat template's look-ups at a fraction of their cost, with the same outcome.

The sandbox that templates run in looks ``message.role`` up as an attribute first, which fails with an exception, and
asks of each method of a string whether it is safe: two thirds of the time of a rendering. For plain dictionaries,
strings, the loop and namespaces the answer depends on the name alone, so it is worked out once, and the code of a
template looks them up in place. What is found there is what the sandbox finds; all else, such as a key that is
missing, is left to it.

Without it a whole run over 400 rows costs 10 % more CPU with the template of Qwen3; ``scripts/bench_run.py --check
templates`` measures it again. It may go when it brings less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeAlias

import jinja2
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.runtime import LoopContext, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

from trajcompress.tokens.tools_json import remembering

OF_DICT = frozenset(dir(dict))
"""Names that a dictionary has of its own, whatever its keys."""
HELD = "_Namespace__attrs"
"""Where a namespace of Jinja keeps what it was given."""
PLAIN = frozenset({str, int, float, bool, list, dict})
"""Types of what a namespace may hold that is no method, which may need wrapping."""
look_inside = object.__getattribute__  # a namespace's own takes two calls for each name
Steps: TypeAlias = Iterable[tuple[Any, LoopContext]]

INLINE = {
    "first": "not {0}.index0",
    "index": "{0}.index0 + 1",
    "index0": "{0}.index0",
    "last": "{0}.index0 == {0}.index_of_last",
    "previtem": "{0}.previtem",
}
"""Code of what is asked of a :class:`QuickLoop`, the loop being ``{0}``."""


class QuickLoop(LoopContext):
    """A loop over a list."""

    def __init__(self, items: list[Any], *more: Any) -> None:
        super().__init__(items, *more)
        self.index_of_last = len(items) - 1

    def steps(self) -> Iterator[tuple[Any, LoopContext]]:
        """Yield each item, with the loop."""
        for item in self._iterator:
            self.index0 += 1
            yield item, self

    def __next__(self) -> tuple[Any, LoopContext]:
        item = next(self._iterator)
        self.index0 += 1
        return item, self

    def _peek_next(self) -> Any:
        return self._iterable[self.index0 + 1] if self.index0 < self.index_of_last else missing  # type: ignore[index] # it is a list

    @property
    def previtem(self) -> Any | Undefined:
        """The item before this one."""
        return self._iterable[self.index0 - 1] if self.index0 else self._undefined("there is no previous item")  # type: ignore[index] # as above


def quick_loop(items: Any, undefined: type[Undefined], *more: Callable[..., str] | int) -> Steps:
    """Return what ``LoopContext`` does, to go over once. Takes what that takes."""
    if type(items) is list:
        return QuickLoop(items, undefined, *more).steps()
    return LoopContext(items, undefined, *more)  # type: ignore[arg-type] # generated code passes what it passes on


_NAMES = (
    "from trajcompress.tokens.quick_template import HELD, PLAIN, QuickLoop, look_inside, quick_loop as LoopContext",
    "OwnNamespace = environment.globals['namespace']",  # transformers has one of its own
)


class QuickCode(CodeGenerator):
    """Generates the code of a template."""

    _namespaces: frozenset[str] = frozenset()

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:  # noqa: N802 - named after the node
        """Write the module, and what it means by ``LoopContext`` at last."""
        self._namespaces = frozenset(_namespaces(node))
        super().visit_Template(node, frame)
        for line in _NAMES:
            self.writeline(line)

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:  # noqa: N802 - named after the node
        """Write ``message.role``, ``loop.first`` or ``ns.found``."""
        owner, attr = node.node, node.attr
        if attr in INLINE:
            name = self.temporary_identifier()
            self.write(f"({INLINE[attr].format(name)} if type(")
            self._bind(name, owner, frame)
            self.write(f") is QuickLoop else environment.getattr({name}, {attr!r}))")
        elif isinstance(owner, nodes.Name) and owner.name in self._namespaces and not attr.startswith("_"):
            name, value = self.temporary_identifier(), self.temporary_identifier()
            self.write(f"({value} if type(")
            self._bind(name, owner, frame)
            self.write(f") is OwnNamespace and type({value} := look_inside({name}, HELD).get({attr!r})) in PLAIN")
            self.write(f" else environment.getattr({name}, {attr!r}))")
        elif attr in OF_DICT:
            super().visit_Getattr(node, frame)
        else:
            self._look_up(owner, attr, "getattr", frame)

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802 - named after the node
        """Write ``message['role']`` or ``messages[loop.index0 - 1]``."""
        if isinstance(node.arg, nodes.Const) and type(node.arg.value) is str:
            self._look_up(node.node, node.arg.value, "getitem", frame)
        elif isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
        else:
            self._index(node.node, node.arg, frame)

    def visit_Test(self, node: nodes.Test, frame: Frame) -> None:  # noqa: N802 - named after the node
        """Write ``message.reasoning is defined``, without an object that stands for what is missing."""
        asked = node.node
        takes_more = node.args or node.kwargs or node.dyn_args or node.dyn_kwargs
        if node.name != "defined" or takes_more or not isinstance(asked, nodes.Getattr) or asked.attr in OF_DICT:
            super().visit_Test(node, frame)
            return
        name, key = self.temporary_identifier(), repr(asked.attr)
        self.write("(False if type(")
        self._bind(name, asked.node, frame)
        self.write(f") is dict and {key} not in {name} else {self.tests['defined']}(")
        self.write(f"environment.getattr({name}, {key})))")

    def _look_up(self, owner: nodes.Expr, key: str, otherwise: str, frame: Frame) -> None:
        name = self.temporary_identifier()
        self.write(f"({name}[{key!r}] if type(")
        self._bind(name, owner, frame)
        self.write(f") is dict and {key!r} in {name} else environment.{otherwise}({name}, {key!r}))")

    def _index(self, owner: nodes.Expr, index: nodes.Expr, frame: Frame) -> None:
        name, at = self.temporary_identifier(), self.temporary_identifier()
        self.write(f"({name}[{at}] if (type(")
        self._bind(name, owner, frame)
        self.write(") is list) & (type(")  # both are bound, whatever the first is
        self._bind(at, index, frame)
        self.write(f") is int) and -len({name}) <= {at} < len({name}) else environment.getitem({name}, {at}))")

    def _bind(self, name: str, value: nodes.Expr, frame: Frame) -> None:
        self.write(f"{name} := ")
        self.visit(value, frame)


def _namespaces(template: nodes.Template) -> Iterator[str]:
    """Yield the names that a template gives to namespaces."""
    made = nodes.Name("namespace", "load")
    for assigned in template.find_all(nodes.Assign):
        target, value = assigned.target, assigned.node
        if isinstance(target, nodes.Name) and isinstance(value, nodes.Call) and value.node == made:
            yield target.name


_OF_STR = frozenset(name for name in dir(str) if not name.startswith("_")) - {"format", "format_map"}


def quicken(template: str) -> None:
    """Speed up the look-ups of a chat template, wherever transformers renders it in this process.

    It stays as it is where it cannot be compiled, or where transformers compiles templates in another way.
    """
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

    quicken(template)
    compiled = _compile_jinja_template(template)
    environment = compiled.environment
    if "getattr" not in vars(environment):
        return compiled
    environment.filters["tojson"] = remembering(environment.filters["tojson"])
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
