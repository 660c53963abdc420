"""The help of commands with many options: by what they are about, in place of one long list."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from trajcompress.settings.declare import Group


class GroupedCommand(TyperCommand):
    """A command whose help has a section for each :class:`Group`, behind the options of none."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, the options of no group, and the groups."""
        sections: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Arguments", "Options", *Group)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                alone = "Options" if parameter.param_type_name == "option" else "Arguments"
                sections[getattr(parameter, "rich_help_panel", None) or alone].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
