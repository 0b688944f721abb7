"""The rulesets, one folder per preset.

Importing this package registers every folder in it that exposes ``RULESET``: a new ruleset is a new folder and nothing
else. Afterwards ``libs.mahjong.engine.ruleset.ruleset(id)`` and ``rulesets()`` find them.
"""

import pkgutil
from importlib import import_module, resources

from libs.mahjong.engine.ruleset import Ruleset, register, ruleset


def rules_page(ruleset_id: str) -> str:
    """The rules of a preset for players, as Markdown. Raises ``UnknownRuleset``."""
    package = _packages[ruleset(ruleset_id).id]
    return resources.files(package).joinpath("rules.md").read_text(encoding="utf-8")


def _discover() -> dict[str, str]:
    """Import every folder of this package, register its ruleset and return the package of each id."""
    packages: dict[str, str] = {}
    for folder in pkgutil.iter_modules(__path__, f"{__name__}."):
        if folder.ispkg:
            preset: Ruleset = register(import_module(folder.name).RULESET)
            packages[preset.id] = folder.name
    return packages


_packages = _discover()
