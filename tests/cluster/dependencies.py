"""Prepares what the image of the dependencies is built from: `make cluster-images` calls it.

The servers are those that the locks name: Valkey, PostgreSQL and Java from their wheels, Apache Kafka as Maven
brought it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import click

from deploy.kafka.jars import jars_folder
from deploy.local.programs import java_program, postgres_program, valkey_program

FOLDER: Final = Path(__file__).parents[2] / ".build" / "cluster" / "dependencies"


@click.command()
@click.option("--folder", default=FOLDER, type=click.Path(path_type=Path), help="Where it is made.")
def main(folder: Path) -> None:
    """Make the folder that the image is built from."""
    shutil.rmtree(folder, ignore_errors=True)
    postgres = postgres_program("postgres").parents[1]
    package = postgres.parent
    parts = {
        "java": java_program().parents[1],
        "kafka": jars_folder(),
        # Its programs look for libraries of the wheel beside the package.
        f"wheel/{package.name}/{postgres.name}": postgres,
        f"wheel/{package.name}.libs": package.with_name(f"{package.name}.libs"),
    }
    for place, source in parts.items():
        shutil.copytree(source, folder / place, ignore=shutil.ignore_patterns("include", "__pycache__"))
    (folder / "valkey").mkdir()
    shutil.copy(valkey_program(), folder / "valkey")
    postgres_program("initdb")
    for name in ("java/bin", f"wheel/{package.name}/{postgres.name}/bin", "valkey"):
        for program in (folder / name).iterdir():
            program.chmod(0o755)


if __name__ == "__main__":
    main()
