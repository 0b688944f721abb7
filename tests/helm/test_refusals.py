"""What the chart refuses, with a sentence that says what to do."""

from __future__ import annotations

import pytest

from tests.helm.rendering import Chart, RefusedError

pytestmark = pytest.mark.helm


@pytest.mark.parametrize(
    ("permutation", "sets", "sentence"),
    [
        ("minimal", ["serviceKey.existingSecret="], "serviceKey.existingSecret is not set"),
        ("minimal", ["redis.host="], "redis.host is not set"),
        ("minimal", ["kafka.bootstrap=null"], "kafka.bootstrap is not set"),
        ("minimal", ["postgresql.host="], "postgresql.host is not set"),
        ("minimal", ["postgresql.existingSecret="], "databases are not opened without a password"),
        ("minimal", ["postgresql.databases.ratings.name=history"], "a database of its own"),
        ("minimal", ["postgresql.sslMode=verify-full"], "needs a certificate to check against"),
        ("minimal", ["image.tag=latest"], "says not what runs"),
        ("minimal", ["redis.usernameKey=user"], "redis.usernameKey is set without"),
        ("minimal", ["redis.authoritySecret=ca"], "redis.authoritySecret is set without redis.tls"),
        ("minimal", ["kafka.securityProtocol=SASL_SSL"], "kafka.existingSecret is not set"),
        ("minimal", ["kafka.existingSecret=login"], "uses no log-in"),
        ("adapter", ["kafka.saslMechanism=PLAIN"], "shows the password to the network"),
        ("minimal", ["ingress.enabled=true"], "ingress.hosts is empty"),
        ("minimal", ["ingress.enabled=true", "ingress.hosts={play.example.org}"], "tokens would travel in the clear"),
        ("minimal", ["mtls.enabled=true"], "mtls.issuerRef.name is not set"),
        ("adapter", ["mtls.existingSecret="], "mtls.existingSecret is not set"),
        ("minimal", ["tableScaling.by=keda"], "tableScaling.prometheusAddress is not set"),
        ("minimal", ["components.bots.autoscaling.minReplicas=9"], "minReplicas is more than maxReplicas"),
        ("minimal", ["components.ratings.autoscaling.maxReplicas=9"], "would stand idle"),
        ("minimal", ["components.history.autoscaling.enabled=false", "components.history.replicas=9"], "stand idle"),
        ("minimal", ["components.table.settings.redis_url=redis://x"], "give it by an existing secret"),
        ("minimal", ["components.table.settings.drain_grace_s=5"], "is the chart's"),
        ("minimal", ["components.tables.replicas=3"], "there is no such service"),
    ],
)
def test_an_unsafe_combination_is_refused(chart: Chart, permutation: str, sets: list[str], sentence: str) -> None:
    with pytest.raises(RefusedError, match=sentence):
        chart.render(permutation, *sets)


@pytest.mark.parametrize(
    "setting",
    [
        "redis.prot=6379",
        "redis.port=70000",
        "components.table.replica=3",
        "components.table.autoscaling.minReplicas=0",
        "podSecurityContext.runAsUser=0",
        "podSecurityContext.runAsUser=1000",
        "podSecurityContext.runAsNonRoot=false",
        "containerSecurityContext.readOnlyRootFilesystem=false",
        "containerSecurityContext.privileged=true",
        "kafka.bootstrap={kafka.data.svc}",
        "mtls.source=openssl",
        "ingress.hosts={https://play.example.org}",
        "defaults.drain.graceSeconds=0",
    ],
)
def test_the_schema_refuses_what_cannot_be_meant(chart: Chart, setting: str) -> None:
    with pytest.raises(RefusedError, match="values don't meet the specifications of the schema"):
        chart.render("minimal", setting)
