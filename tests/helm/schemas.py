"""Checks objects against the schemas of Kubernetes, and custom ones against what their operators document."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import jsonschema
from kubernetes_validate.utils import all_versions, major_minor, schema_contents
from referencing import Registry, Resource

_TEXT: Final = {"type": "string"}
_TEXTS: Final = {"type": "object", "additionalProperties": _TEXT}
_SELECTOR: Final = {
    "type": "object",
    "properties": {"matchLabels": _TEXTS},
    "required": ["matchLabels"],
    "additionalProperties": False,
}


def _closed(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


_RELABELING: Final = _closed({"action": {"enum": ["labeldrop", "labelkeep"]}, "regex": _TEXT})
CUSTOM: Final[Mapping[str, Any]] = {
    "monitoring.coreos.com/v1/ServiceMonitor": _closed(
        {
            "selector": _SELECTOR,
            "endpoints": {
                "type": "array",
                "minItems": 1,
                "items": _closed(
                    {"port": _TEXT, "path": _TEXT, "interval": {"type": "string", "pattern": "^[0-9]+(ms|s|m)$"}},
                    {"relabelings": {"type": "array", "items": _RELABELING}},
                ),
            },
        },
        {"namespaceSelector": _closed({"matchNames": {"type": "array", "items": _TEXT}})},
    ),
    "monitoring.coreos.com/v1/PrometheusRule": _closed(
        {
            "groups": {
                "type": "array",
                "minItems": 1,
                "items": _closed(
                    {
                        "name": _TEXT,
                        "rules": {
                            "type": "array",
                            "minItems": 1,
                            "items": {
                                "oneOf": [
                                    _closed(
                                        {"record": _TEXT, "expr": {"type": ["string", "integer"]}}, {"labels": _TEXTS}
                                    ),
                                    _closed(
                                        {"alert": _TEXT, "expr": _TEXT},
                                        {
                                            "for": _TEXT,
                                            "keep_firing_for": _TEXT,
                                            "labels": _TEXTS,
                                            "annotations": _TEXTS,
                                        },
                                    ),
                                ]
                            },
                        },
                    },
                    {"interval": _TEXT},
                ),
            }
        }
    ),
    "cert-manager.io/v1/Certificate": _closed(
        {
            "secretName": _TEXT,
            "issuerRef": _closed({"name": {"type": "string", "minLength": 1}, "kind": _TEXT, "group": _TEXT}),
            "dnsNames": {"type": "array", "minItems": 1, "items": _TEXT},
            "usages": {
                "type": "array",
                "items": {"enum": ["digital signature", "key encipherment", "server auth", "client auth"]},
            },
            "duration": {"type": "string", "pattern": "^[0-9]+h0m0s$"},
            "renewBefore": {"type": "string", "pattern": "^[0-9]+h0m0s$"},
            "privateKey": _closed(
                {
                    "algorithm": {"enum": ["RSA", "ECDSA", "Ed25519"]},
                    "size": {"type": "integer"},
                    "rotationPolicy": {"enum": ["Never", "Always"]},
                }
            ),
        }
    ),
    "keda.sh/v1alpha1/ScaledObject": _closed(
        {
            "scaleTargetRef": _closed({"name": _TEXT}),
            "minReplicaCount": {"type": "integer", "minimum": 1},
            "maxReplicaCount": {"type": "integer", "minimum": 1},
            "pollingInterval": {"type": "integer"},
            "triggers": {
                "type": "array",
                "minItems": 1,
                "items": _closed(
                    {
                        "type": {"const": "prometheus"},
                        "name": _TEXT,
                        "metricType": {"enum": ["AverageValue", "Value"]},
                        "metadata": _closed({"serverAddress": _TEXT, "query": _TEXT, "threshold": _TEXT}),
                    }
                ),
            },
        },
        {
            "fallback": _closed(
                {
                    "failureThreshold": {"type": "integer"},
                    "replicas": {"type": "integer"},
                    "behavior": {"enum": ["static", "currentReplicas", "currentReplicasIfHigher"]},
                }
            ),
            "advanced": {"type": "object"},
        },
    ),
}
"""The fields that we use of each custom resource, as its operator documents them."""


@cache
def _definitions(folder: str, version: str) -> Registry[Any]:
    contents = schema_contents(f"kubernetes-json-schema/{folder}/_definitions.json", version)
    return Resource.from_contents(contents) @ Registry()


@cache
def _validator(kind: str, api_version: str, version: str) -> Any:
    known = [each for each in all_versions() if _ordered(each) <= _ordered(version)]
    folder = f"v{known[-1]}-local-strict"
    group, _, number = api_version.rpartition("/")
    name = "-".join(filter(None, (kind.lower(), group.split(".")[0], number)))
    schema = schema_contents(f"kubernetes-json-schema/{folder}/{name}.json", version)
    registry = Resource.from_contents(schema) @ _definitions(folder, version)
    return jsonschema.Draft202012Validator(schema, registry=registry)


def _ordered(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in major_minor(version).split("."))


def validate(obj: Mapping[str, Any], kubernetes: str) -> None:
    """Raise `jsonschema.ValidationError` for an object that this Kubernetes would not take; unknown fields count."""
    custom = CUSTOM.get(f"{obj['apiVersion']}/{obj['kind']}")
    if custom is not None:
        jsonschema.validate(obj["spec"], custom)
        return
    _validator(obj["kind"], obj["apiVersion"], kubernetes).validate(dict(obj))
