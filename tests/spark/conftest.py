"""Without Spark there is nothing here to test; with it, there is more than one session."""

from __future__ import annotations

from importlib.util import find_spec

from tests.spark.clusters import (  # noqa: F401 (fixtures of all tests here)
    connect_server,
    hdfs_root,
    kafka_broker,
    kafka_connector,
    standalone_cluster,
)

if find_spec("pyspark") is None:
    collect_ignore_glob = ["test_*.py"]
