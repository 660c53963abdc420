"""Code of chat templates that looks plain dictionaries and loops up where it stands, not by calls of the sandbox.

What is found there is what the sandbox finds; everything else, such as a key that is missing, is left to it.
"""

from __future__ import annotations

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame

from trajcompress.tokens.quick_template import OF_DICT, OF_LOOP


class QuickCode(CodeGenerator):
    """Generates the code of a template."""

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:  # noqa: N802 - named after the node
        """Write ``message.role`` or ``loop.first``."""
        if node.attr in OF_LOOP:
            name = self.temporary_identifier()
            self.write(f"({name}.{node.attr} if type(")
            self._bind(name, node.node, frame)
            self.write(f") is LoopContext else environment.getattr({name}, {node.attr!r}))")
        elif node.attr in OF_DICT:
            super().visit_Getattr(node, frame)
        else:
            self._look_up(node.node, node.attr, "getattr", frame)

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
