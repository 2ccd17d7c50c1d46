"""What lies beyond the embedded Spark, for tests: a cluster, a Connect server, Kafka, HDFS.

Each is a process, or several, of this machine: started for the tests of one file, listening on
127.0.0.1 at ports that are free, with folders of its own, and killed at the end, whatever
happened. Everything a process starts is in its session (in the sense of Unix), by which it is found
and killed too: executors of a worker, Python workers of an executor.

Jobs on a cluster have a driver of their own, in a process of its own (:func:`run_driver`): this one
may have an embedded Spark already, and there can be but one.

Kafka and the servers of HDFS are no part of Spark. Their jars are fetched as a user's are
(``tools/kafka_jars.py``); where they cannot be had, tests are skipped by name.
"""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TypeVar

import pytest

from tools.kafka_jars import FetchError, Module, connector_jars, fetched
from twigcast.spark.session.java import find_java

Found = TypeVar("Found")

START_SECONDS_MAX = 400
"""Spark's parts and Kafka's take 2 to 5 seconds to start, a driver with executors 10; a machine
that is busy with ten other things gets more."""

DRIVER_SECONDS_MAX = 400

KAFKA = Module("org.apache.kafka", "kafka_2.13", "3.9.1")

JUNIT = (
    Module("org.junit.jupiter", "junit-jupiter-api", "5.11.4"),
    Module("junit", "junit", "4.13.2"),
)
"""Hadoop starts its servers in one process for tests alone, and those of its own need JUnit."""

_LITTLE_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_EXECUTOR_MEMORY = "512m"  # Spark refuses less than 450 MB.
_QUESTION_SECONDS = 0.1


@dataclass(frozen=True)
class Started:
    """A process that was started here, and what it has said so far."""

    process: subprocess.Popen[bytes]
    log: Path

    def said(self, expression: str) -> list[str]:
        """What an expression finds in the log, all of it or its group."""
        return re.findall(expression, self.log.read_text(encoding="utf-8", errors="replace"))


@dataclass(frozen=True)
class StandaloneCluster:
    """A master and its workers; ``master`` is what Spark calls the address of the cluster."""

    master: str
    settings: Mapping[str, str]
    environment: Mapping[str, str] = field(repr=False)
    processes: Sequence[Started] = field(repr=False)

    def executors(self, application: str) -> list[int]:
        """The process numbers of the executors that an application has at present."""
        return [
            number
            for started in self.processes
            for number in session_of(started.process.pid)
            if {b"--app-id", application.encode()} <= set(_command_of(number).split(b"\0"))
        ]


@dataclass(frozen=True)
class Hdfs:
    """A name node and a data node of Hadoop; ``root`` is the address of their file system."""

    root: str
    process: Started = field(repr=False)


@dataclass(frozen=True)
class KafkaBroker:
    """A Kafka broker that is its own controller; ``servers`` is what clients are to be told."""

    servers: str


def until(
    condition: Callable[[], Found], *, what: str, seconds: float = START_SECONDS_MAX
) -> Found:
    """What the condition gives as soon as that is true; the test fails if it takes too long."""
    pause = threading.Event()
    deadline = monotonic() + seconds
    while not (found := condition()):
        if monotonic() > deadline:
            pytest.fail(f"waited {seconds} s in vain for {what}")
        pause.wait(_QUESTION_SECONDS)
    return found


@contextmanager
def started(
    command: Sequence[str | Path], log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[Started]:
    """A process whose words go to a log; it and all that it started are killed at the end."""
    with log.open("wb") as sink:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            cwd=log.parent,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
    try:
        yield Started(process, log)
    finally:
        for number in {process.pid, *session_of(process.pid)}:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        process.wait()


def session_of(leader: int) -> list[int]:
    """The processes of a session, found where Linux lists them; elsewhere the leader alone."""
    numbers = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # Behind the name, which may hold anything, in brackets: state, parent, group, session.
            _, _, rest = (entry / "stat").read_text(encoding="utf-8").rpartition(")")
            if int(rest.split()[3]) == leader:
                numbers.append(int(entry.name))
    return numbers or [leader]


def run_driver(
    program: str, arguments: Sequence[str | Path], environment: Mapping[str, str] | None = None
) -> str:
    """What a Python program prints that has Spark's driver in it; it must end well."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=DRIVER_SECONDS_MAX,
        env={**os.environ, **(environment or {})},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


@contextmanager
def standalone(folder: Path) -> Iterator[StandaloneCluster]:
    """A standalone cluster of Spark's, whose two workers have one core each.

    They have different names for this machine: Spark tries no task twice on one host.
    """
    environment = {
        **_spark_environment(folder),
        "SPARK_DAEMON_JAVA_OPTS": f"{_LITTLE_JAVA} -Dspark.master.rest.enabled=false",
        "SPARK_DAEMON_MEMORY": "256m",
    }
    with ExitStack() as stack:
        ports = ["--port", "0", "--webui-port", "0"]
        at_home = _spark_class("deploy.master.Master", "--host", "127.0.0.1", *ports)
        master = stack.enter_context(started(at_home, folder / "master.log", environment))
        address = _awaited(master, r"Starting Spark master at (spark://\S+)")
        processes = [master]
        for number, host in enumerate(("127.0.0.1", "localhost")):
            own = ["--host", host, "-c", "1", "-m", "1g", "-d", f"{folder}/worker{number}", address]
            command = _spark_class("deploy.worker.Worker", *ports, *own)
            log = folder / f"worker{number}.log"
            processes.append(stack.enter_context(started(command, log, environment)))
        for worker in processes[1:]:
            _awaited(worker, "Successfully registered with master")
        yield StandaloneCluster(address, _cluster_settings(), _spark_environment(folder), processes)


@contextmanager
def connect(folder: Path) -> Iterator[str]:
    """The address of a Spark that can be connected to, with two cores and two tries for a task."""
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.driver.extraJavaOptions": _LITTLE_JAVA,
        "spark.local.dir": str(folder),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    command = submit_command("local[2,2]", settings, "--class", server)
    with started(command, folder / "connect.log", _spark_environment(folder)) as process:
        address = _awaited(process, r"Spark Connect server started at: (127\S+)")
        yield f"sc://{address}"


def submit_command(
    master: str, settings: Mapping[str, str], *words: str | Path
) -> list[str | Path]:
    """What submits a program, with its own words at the end."""
    told = [word for key, text in settings.items() for word in ("--conf", f"{key}={text}")]
    return [_spark_home() / "bin" / "spark-submit", "--master", master, *told, *words]


@contextmanager
def kafka(folder: Path) -> Iterator[KafkaBroker]:
    """A Kafka broker in one process, without ZooKeeper; the test is skipped where there is none."""
    try:
        jars = fetched([KAFKA])
    except FetchError as error:
        pytest.skip(str(error))
    port, controller = _free_ports(2)
    settings = folder / "kafka.properties"
    settings.write_text(_kafka_settings(port, controller, folder / "log"), encoding="utf-8")
    options = [*_LITTLE_JAVA.split(), "-Xmx256m", "-cp", f"{jars}/*"]
    java = [str(find_java().home / "bin" / "java"), *options]
    name = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", "-t", name, "-c", settings],
        check=True,
        capture_output=True,
        timeout=START_SECONDS_MAX,
    )
    with started([*java, "kafka.Kafka", settings], folder / "kafka.log") as process:
        until(lambda: _kafka_answers(port) or _must_run(process), what="Kafka")
        yield KafkaBroker(f"127.0.0.1:{port}")


@contextmanager
def hdfs(folder: Path) -> Iterator[Hdfs]:
    """HDFS in one process, of the version that Spark's clients have."""
    (client,) = (_spark_home() / "jars").glob("hadoop-client-api-*.jar")
    version = client.stem.removeprefix("hadoop-client-api-")
    servers = Module("org.apache.hadoop", "hadoop-client-minicluster", version)
    try:
        jars = fetched([servers, *JUNIT])
    except FetchError as error:
        pytest.skip(str(error))
    details = folder / "details.json"
    options = [*_LITTLE_JAVA.split(), "-Xmx256m", f"-Dtest.build.data={folder}/data"]
    java = [str(find_java().home / "bin" / "java"), *options, "-cp", f"{jars}/*"]
    own = ["-format", "-datanodes", "1", "-D", "dfs.replication=1", "-writeDetails", str(details)]
    command = [*java, "org.apache.hadoop.test.MiniDFSClusterManager", *own]

    def port() -> int:
        with suppress(OSError, ValueError):
            return int(json.loads(details.read_text(encoding="utf-8"))["namenode_port"])
        return 0

    with started(command, folder / "hdfs.log") as process:
        found = until(lambda: port() or _must_run(process), what="HDFS")
        yield Hdfs(f"hdfs://127.0.0.1:{found}", process)


@pytest.fixture(scope="module")
def standalone_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    """A standalone cluster of two workers."""
    with standalone(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def connect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Spark that can be connected to."""
    pytest.importorskip("grpc", reason="Spark Connect needs the extra `connect`")
    with connect(tmp_path_factory.mktemp("connect")) as address:
        yield address


@pytest.fixture(scope="module")
def kafka_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaBroker]:
    """A Kafka broker; tests are skipped where it cannot be had."""
    with kafka(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker


@pytest.fixture(scope="session")
def hdfs_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an HDFS of this machine; tests are skipped where it cannot be had."""
    with hdfs(tmp_path_factory.mktemp("hdfs")) as servers:
        yield servers.root


@pytest.fixture(scope="module")
def kafka_connector() -> Mapping[str, str]:
    """Settings with which a new session knows Kafka; tests are skipped where it cannot be had."""
    try:
        return {"spark.jars": ",".join(map(str, connector_jars()))}
    except FetchError as error:
        pytest.skip(f"the connector for Kafka {error}")


def _cluster_settings() -> dict[str, str]:
    """What a driver on the cluster of this machine has to say, and what makes it quick."""
    return {
        "spark.cores.max": "2",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.extraJavaOptions": _LITTLE_JAVA,
        "spark.executor.memory": _EXECUTOR_MEMORY,
    }


def _spark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent


def _spark_class(name: str, *arguments: str) -> list[str | Path]:
    return [_spark_home() / "bin" / "spark-class", f"org.apache.spark.{name}", *arguments]


def _spark_environment(folder: Path) -> dict[str, str]:
    return {
        "JAVA_HOME": str(find_java().home),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(_spark_home()),
        "SPARK_LOCAL_DIRS": str(folder),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def _awaited(process: Started, words: str) -> str:
    def said() -> list[str]:
        return process.said(words) or _must_run(process)

    return until(said, what=f"{words!r} in {process.log}")[0]


def _must_run(process: Started) -> list[str]:
    if process.process.poll() is not None:
        pytest.fail(f"it did not start:\n{process.log.read_text(encoding='utf-8')[-4000:]}")
    return []


def _command_of(number: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{number}/cmdline").read_bytes()
    return b""


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        # All are held until all are found, so that they differ.
        held = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [place.getsockname()[1] for place in held]


def _kafka_settings(port: int, controller: int, log: Path) -> str:
    return f"""
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={log}
num.partitions=2
group.initial.rebalance.delay.ms=0
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
"""


def _kafka_answers(port: int) -> bool:
    """Whether Kafka says which requests it understands (ApiVersions, number 18, version 0)."""
    question = struct.pack(">hhih", 18, 0, 1, -1)
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5) as place:
        place.sendall(struct.pack(">i", len(question)) + question)
        # Length, the question's own number, no error.
        return place.recv(10)[4:] == struct.pack(">ih", 1, 0)
    return False
