"""The `eastwind` command. Each subcommand is a module of this package, imported only when it is called."""

from __future__ import annotations

from importlib import import_module

import click

COMMANDS = {
    "bot": "services.cli.bot:bot",
    "dead-letters": "services.cli.dead_letters:dead_letters",
    "migrate": "services.cli.migrate:migrate",
    "run": "services.cli.run:run",
    "score": "services.cli.score:score",
    "verify": "services.cli.verify:verify",
}
"""Where each subcommand is found, as `module:name`."""


class LazyGroup(click.Group):
    """A group that imports a subcommand when it is needed, so that one command does not pay for the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all subcommands."""
        return sorted({*super().list_commands(ctx), *COMMANDS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand of that name, `None` when there is none."""
        place = COMMANDS.get(cmd_name)
        if place is None:
            return super().get_command(ctx, cmd_name)
        module, name = place.split(":")
        command = getattr(import_module(module), name)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="eastwind")
def main() -> None:
    """Eastwind, an online mahjong platform."""
