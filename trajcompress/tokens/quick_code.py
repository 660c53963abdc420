"""Code of chat templates that looks dictionaries, loops and namespaces up in place, not by calls of the sandbox.

What is found there is what the sandbox finds; everything else, such as a key that is missing, is left to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame

from trajcompress.tokens.quick_loop import INLINE
from trajcompress.tokens.quick_values import OF_DICT

_NAMES = (
    "from trajcompress.tokens.quick_loop import QuickLoop, quick_loop as LoopContext",
    "from trajcompress.tokens.quick_values import HELD, PLAIN, look_inside",
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
        """Write ``message['role']``."""
        if isinstance(node.arg, nodes.Const) and type(node.arg.value) is str:
            self._look_up(node.node, node.arg.value, "getitem", frame)
        else:
            super().visit_Getitem(node, frame)

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
