"""The dependencies as pods: Apache Kafka, Valkey and PostgreSQL, one of each, on disks that end with their pod."""

from __future__ import annotations

import base64
import os
import secrets
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.cluster.cluster import Namespace, Object

IMAGE: Final = os.environ.get("CLUSTER_DEPENDENCIES", "localhost/eastwind-dependencies:0.1.0")
STORE_FOLDER: Final = "/data/appendonlydir"
_USER: Final = 10809
_PORTS: Final = {"kafka": 9092, "valkey": 6379, "postgresql": 5432}
_DATABASES: Final = ("accounts", "history", "ratings")

# What is acknowledged is on the disk, and the file is never written anew: the checker reads all that ever happened.
_VALKEY: Final = """
exec valkey-server --port 6379 --dir /data --appendonly yes --appendfsync always --auto-aof-rewrite-percentage 0 \
  --save '' --maxmemory-policy noeviction --requirepass "$PASSWORD"
"""
_POSTGRESQL: Final = f"""
set -e
if [ ! -e /data/postgresql ]; then
  initdb --pgdata=/data/fresh --username=eastwind --pwfile=/dev/fd/3 --auth=scram-sha-256 --encoding=UTF8 --locale=C \
    --no-instructions 3<<<"$PASSWORD"
  echo 'host all all all scram-sha-256' >> /data/fresh/pg_hba.conf
  for name in {" ".join(_DATABASES)}; do
    echo "CREATE DATABASE $name" | postgres --single -D /data/fresh postgres
  done
  mv /data/fresh /data/postgresql
fi
exec postgres -D /data/postgresql -c listen_addresses='*' -c unix_socket_directories=/tmp -c max_connections=300
"""
_KAFKA: Final = """
set -e
cat > /tmp/server.properties <<PROPERTIES
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:9093
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://:9092,CONTROLLER://127.0.0.1:9093
advertised.listeners=PLAINTEXT://$ADDRESS:9092
log.dirs=/data/kafka
auto.create.topics.enable=false
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
PROPERTIES
kafka() {
  exec java -Xms128m -Xmx512m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+ExitOnOutOfMemoryError \
    --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \
    -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp '/opt/kafka/*' "$@"
}
[ -e /data/kafka ] || (kafka kafka.tools.StorageTool format --cluster-id "$CLUSTER" --config /tmp/server.properties)
kafka kafka.Kafka /tmp/server.properties
"""
_COMMANDS: Final = {"kafka": _KAFKA, "valkey": _VALKEY, "postgresql": _POSTGRESQL}


class Backing:
    """The dependencies in a namespace of their own, which no policy guards."""

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace
        self.password = secrets.token_urlsafe(24)

    @property
    def ports(self) -> Mapping[str, int]:
        """The port of each, by its name."""
        return _PORTS

    async def start(self) -> None:
        """Make them, and wait until they take connections."""
        await self.namespace.make()
        await self.namespace.apply(self._objects())
        await self.namespace.rolled_out(*(f"statefulset/{name}" for name in _PORTS))

    async def address(self, name: str) -> str:
        """The address of the pod."""
        return str((await self.namespace.get("pod", f"{name}-0"))["status"]["podIP"])

    async def node_port(self, name: str) -> int:
        """The port on the nodes that leads to it."""
        return int((await self.namespace.get("service", name))["spec"]["ports"][0]["nodePort"])

    def _objects(self) -> Iterator[Object]:
        yield {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "password"}} | {
            "stringData": {"password": self.password}
        }
        for name, port in _PORTS.items():
            yield self._service(name, port)
            yield self._server(name, port)

    def _service(self, name: str, port: int) -> Object:
        # The checker reads the databases from outside.
        kind = "NodePort" if name == "postgresql" else "ClusterIP"
        spec = {"type": kind, "selector": {"app": name}, "ports": [{"name": name, "port": port}]}
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}

    def _server(self, name: str, port: int) -> Object:
        cluster = base64.urlsafe_b64encode(b"eastwind-cluster").decode().rstrip("=")
        environment: list[Any] = [
            {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "password", "key": "password"}}},
            {"name": "ADDRESS", "value": f"{name}.{self.namespace.name}.svc"},
            {"name": "CLUSTER", "value": cluster},
        ]
        container = {
            "name": name,
            "image": IMAGE,
            "imagePullPolicy": "IfNotPresent",
            "command": ["bash", "-c", _COMMANDS[name]],
            "env": environment,
            "ports": [{"containerPort": port}],
            "readinessProbe": {"tcpSocket": {"port": port}, "periodSeconds": 1, "timeoutSeconds": 2},
            "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "1Gi"}},
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            },
            "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "tmp", "mountPath": "/tmp"}],
        }
        pod = {
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": 5,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": _USER,
                "runAsGroup": _USER,
                "fsGroup": _USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [container],
            "volumes": [{"name": "data", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}],
        }
        template = {"metadata": {"labels": {"app": name}}, "spec": pod}
        spec = {"serviceName": name, "selector": {"matchLabels": {"app": name}}, "template": template}
        return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name}, "spec": spec}
