"""Telemetry as a contract: what services export, dashboards draw and alerts watch, down to labels and span attributes.

`metrics` and `spans` name them; `page` writes them down for operators. A service declares from here:
``telemetry.metrics.counter(metrics.TABLE_MOVES)``.
"""
