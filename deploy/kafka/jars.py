"""The jars of Apache Kafka: what `pom.xml` names, and where they lie once Maven has copied them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from deploy.local.errors import BackingServerError, ServerBinaryMissingError
from deploy.local.programs import java_program

POM: Final = Path(__file__).with_name("pom.xml")
_BUILD: Final = Path(__file__).parents[2] / ".build"
_SECONDS: Final = 1200
_TRIES: Final = 2


class JarsNotFetchedError(BackingServerError):
    """Maven did not bring the jars; `output` are its last words."""

    def __init__(self, reason: str, output: str = "") -> None:
        self.output = output
        super().__init__(f"Apache Kafka: its jars could not be fetched: {reason}" + (f":\n{output}" if output else "."))


def jars_folder() -> Path:
    """The folder of the jars; raises `ServerBinaryMissingError` when they were not fetched."""
    folder = _folder()
    if not folder.is_dir():
        raise ServerBinaryMissingError(
            "Apache Kafka", "org.apache.kafka:kafka_2.13", f"{folder} does not exist", "run `make kafka-setup`"
        )
    return folder


def fetch() -> Path:
    """Have Maven copy the jars unless they are there; returns their folder. Raises `JarsNotFetchedError`.

    They are copied aside and moved into place, so that nobody starts half of them.
    """
    folder = _folder()
    if folder.is_dir():
        return folder
    maven = shutil.which("mvn")
    if maven is None:
        raise JarsNotFetchedError("there is no program mvn; install Maven (on Debian: `apt-get install maven`)")
    environment = dict(os.environ)
    if "JAVA_HOME" not in environment and shutil.which("java") is None:
        environment["JAVA_HOME"] = str(java_program().parents[1])
    aside = folder.with_name(f"{folder.name}.{os.getpid()}")
    command = [maven, "--batch-mode", "--quiet", "--file", str(POM), "dependency:copy-dependencies"]
    command += ["-DincludeScope=runtime", f"-DoutputDirectory={aside}"]
    try:
        for tried in range(1, _TRIES + 1):
            code, output = _run(command, environment)
            if code == 0:
                break
            if tried == _TRIES:
                raise JarsNotFetchedError(f"Maven ended with exit code {code}", output)
        if not folder.is_dir():
            aside.rename(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder


def _folder() -> Path:
    """A folder for exactly what the pom says."""
    return _BUILD / f"kafka-{hashlib.sha256(POM.read_bytes()).hexdigest()[:12]}"


def _run(command: list[str], environment: dict[str, str]) -> tuple[int, str]:
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False, errors="replace"
        )
    except subprocess.TimeoutExpired:
        return -1, f"it took longer than {_SECONDS} s"
    return done.returncode, "\n".join((done.stdout + done.stderr).splitlines()[-20:])
