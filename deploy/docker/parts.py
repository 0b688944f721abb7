"""The parts list (SBOM) of the image, as CycloneDX: what `requirements.lock` names and the browser client carries."""

from __future__ import annotations

import base64
import importlib.metadata
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

_PINNED: Final = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(\[[^]]*\])?==(?P<version>[^ ;\\]+)")
_HASH: Final = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def parts_list(root: Path) -> str:
    """The list as JSON. The same locks give the same list: it has neither a time nor a serial number."""
    bom = Bom()
    version = importlib.metadata.version("eastwind")
    whole = Component(name="eastwind", version=version, type=ComponentType.APPLICATION, bom_ref="eastwind")
    bom.metadata.component = whole
    browser = root / "services" / "gateway" / "web" / "package-lock.json"
    parts = [*_python_parts(root / "requirements.lock"), *_browser_parts(browser)]
    for part in parts:
        bom.components.add(part)
    bom.register_dependency(whole, parts)
    document = json.loads(JsonV1Dot6(bom).output_as_string())
    document["metadata"].pop("timestamp", None)
    document.pop("serialNumber", None)
    return json.dumps(document, indent=1, sort_keys=True) + "\n"


def _python_parts(lock: Path) -> Iterator[Component]:
    name = version = ""
    hashes: list[str] = []
    for line in [*lock.read_text().splitlines(), "end==0"]:
        pinned = _PINNED.match(line)
        if pinned:
            if name:
                yield _part("pypi", name, version, hashes, _licence_of(name))
            name, version, hashes = pinned["name"], pinned["version"], []
        hashes += _HASH.findall(line)


def _browser_parts(lock: Path) -> Iterator[Component]:
    for place, facts in json.loads(lock.read_text())["packages"].items():
        if place and not facts.get("dev"):
            algorithm, _, digest = facts.get("integrity", "").partition("-")
            hashes = [base64.b64decode(digest).hex()] if algorithm == "sha512" else []
            name = place.rpartition("node_modules/")[2]
            yield _part("npm", name, facts["version"], hashes, facts.get("license", ""))


def _part(kind: str, name: str, version: str, hashes: list[str], licence: str) -> Component:
    namespace, _, plain = name.rpartition("/")
    algorithm = HashAlgorithm.SHA_256 if kind == "pypi" else HashAlgorithm.SHA_512
    purl = PackageURL(kind, namespace or None, plain, version)
    return Component(
        name=plain,
        group=namespace or None,
        version=version,
        type=ComponentType.LIBRARY,
        purl=purl,
        bom_ref=str(purl),
        # A release has one file for each system; the list names them all, as the lock does.
        hashes=[HashType(alg=algorithm, content=digest) for digest in hashes],
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
    )


def _licence_of(name: str) -> str:
    """The licence that an installed package declares, "" when it is not installed here or says it at length."""
    try:
        facts = importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
    said = next((facts[name] for name in ("License-Expression", "License") if name in facts), "")
    return said if "\n" not in said and len(said) < 80 else ""
