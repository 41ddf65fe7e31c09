"""A real standalone cluster of Spark on loopback, of three kinds of processes: master, worker and driver."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import discreet as dc
from conformance.backends import PLAIN, Engine, arrow
from conformance.contract import agree_on_every_record
from discreet.records import as_source

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
ROWS = 200_000
HOST = "127.0.0.1"


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind((HOST, 0))
        port: int = opened.getsockname()[1]
        return port


def wait_for(port: int, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with socket.socket() as opened:
            if opened.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.5)
    raise TimeoutError(f"nothing listens on port {port} after {seconds} seconds")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17 or later on this machine; install it or set JAVA_HOME")
    pyspark = pytest.importorskip("pyspark")
    home, folder = Path(pyspark.__file__).parent, tmp_path_factory.mktemp("cluster")
    os.environ |= {"SPARK_LOCAL_IP": HOST, "PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(home)}
    master, pages = free_port(), free_port()
    start = [str(home / "bin" / "spark-class")]
    address = f"spark://{HOST}:{master}"
    commands = [
        ["org.apache.spark.deploy.master.Master", "--host", HOST, "--port", str(master), "--webui-port", str(pages)],
        ["org.apache.spark.deploy.worker.Worker", address, "--host", HOST, "--cores", "1", "--memory", "1g",
         "--webui-port", str(free_port()), "--work-dir", str(folder / "work")],
    ]  # fmt: skip
    processes, session = [], None
    try:
        for number, command in enumerate(commands):
            with (folder / f"{number}.log").open("wb") as log:
                processes.append(subprocess.Popen([*start, *command], stdout=log, stderr=log))
            wait_for(master)
        builder = pyspark.sql.SparkSession.builder.master(address).config("spark.driver.host", HOST)
        builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
        session = builder.config("spark.executor.memory", "512m").appName("discreet").getOrCreate()
        yield session
    finally:
        if session is not None:
            session.stop()
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(timeout=60)


def test_a_cluster_counts_and_sums_as_this_machine_does(cluster: Any, tmp_path: Path) -> None:
    assert cluster.sparkContext.master.startswith("spark://")
    path = tmp_path / "records.parquet"
    levels = "['a', 'b', NULL, 'zz']"
    select = f"({levels})[1 + (hash(i) % 4)::int] AS x, (hash(i, 1) % 100)::double / 10 AS v, i % 7 AS w"
    duckdb.sql(f"COPY (SELECT {select} FROM range({ROWS}) t(i)) TO '{path}'")
    column, week = dc.Column("x", ("a", "b"), outside="?"), dc.Column("w", tuple(range(7)), outside="?")
    families = [[column], [column, week], [week]]
    frame = cluster.read.parquet(str(path))
    for found, wanted in zip(
        as_source(frame).count_families(families), dc.read(path).count_families(families), strict=True
    ):
        assert found.tolist() == wanted.tolist()
        assert found.sum() == ROWS
    model = dc.LinearRegression("v", ["w", column], {"v": (0, 10), "w": (0, 6)}, missing="middle")
    secrets = [model.statistics(data).open_for_publishing().tolist() for data in (frame, dc.read(path))]
    assert secrets[0] == secrets[1]


def test_a_publication_from_a_cluster_goes_through_the_one_door(cluster: Any, tmp_path: Path) -> None:
    frame = cluster.range(1000).selectExpr("CASE WHEN id % 4 = 0 THEN 'a' ELSE 'b' END AS x")
    model = dc.Categories("x", levels=("a", "b"), outside="other")
    ledger = dc.Ledger.create(tmp_path / "ledger.db", 40)
    release = dc.publish(dc.GeometricHistogram(model, 1000, 40), model.statistics(frame), ledger, "from a cluster")
    assert release.counts.tolist() == [250, 750, 0]  # noise is zero but for one run in e^20


@pytest.mark.parametrize("kind", PLAIN)
def test_every_type_agrees_with_the_slow_twin_on_a_cluster(kind: str, cluster: Any, tmp_path: Path) -> None:
    plain = "CAST(x AS timestamp_ntz) AS x" if kind == "time" else "x"  # Spark gives every moment a zone at first
    engine = Engine(PLAIN, lambda values, kind, _: cluster.createDataFrame(arrow(values, kind)).selectExpr(plain, "id"))
    agree_on_every_record(engine, kind, tmp_path, seed=5)


def test_spark_connect_gives_the_same_counts(tmp_path: Path) -> None:
    """A client of Spark Connect is another process: the classic session of this one would be in its way."""
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio, grpcio-status, googleapis-common-protos, zstandard")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17 or later on this machine; install it or set JAVA_HOME")
    program = """
import discreet as dc
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote("local[1]").getOrCreate()
frame = spark.range(100).selectExpr("CASE WHEN id % 4 = 0 THEN 'a' ELSE 'b' END AS x", "id AS v")
assert "connect" in type(frame).__module__
counts = dc.Categories("x", levels=("a", "b"), outside="?").statistics(frame).open_for_publishing()
model = dc.LinearRegression("v", ["x"], {"v": (0, 99), "x": (0, 1)}, missing="middle")
plain = {"x": ["b"] * 100, "v": list(range(100))}
same = (model.statistics(frame).open_for_publishing() == model.statistics(plain).open_for_publishing()).all()
print("COUNTS", counts.tolist(), bool(same))
spark.stop()
"""
    environment = os.environ | {"SPARK_LOCAL_IP": HOST, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600, env=environment, cwd=tmp_path
    )
    assert "COUNTS [25, 75, 0] True" in done.stdout, done.stderr[-2000:]


RUN = "from discreet.cli import main; main()"
STUDY = """
[data]
source = "sc://{host}:{port}"
table = "stays"
size = 1000
[budget]
epsilon = 40
ledger = "ledger.db"
[columns.x]
levels = ["a", "b"]
[columns.late]
expression = "v >= 500 and x <> 'b'"
levels = [false, true]
[questions.both]
columns = ["x", "late"]
epsilon = 40
"""


def test_a_study_names_a_table_of_a_spark_connect_server(tmp_path: Path) -> None:
    """The server is a process of its own, and so is everyone who reads: commands, and who wrote the table."""
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio, grpcio-status, googleapis-common-protos, zstandard")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17 or later on this machine; install it or set JAVA_HOME")
    home, port = Path(pytest.importorskip("pyspark").__file__).parent, free_port()
    environment = os.environ | {"SPARK_LOCAL_IP": HOST, "PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(home)}
    settings = {
        "spark.connect.grpc.binding.port": port, "spark.connect.grpc.binding.address": HOST,
        "spark.driver.host": HOST, "spark.ui.enabled": "false",
    }  # fmt: skip
    command = [str(home / "bin" / "spark-submit"), "--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += ["--master", "local[1]", *(f"--conf={name}={value}" for name, value in settings.items())]
    (tmp_path / "study.toml").write_text(STUDY.format(host=HOST, port=port), encoding="utf-8")
    fill = f"""
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote("sc://{HOST}:{port}").getOrCreate()
frame = spark.range(1000).selectExpr("CASE WHEN id % 4 = 0 THEN 'a' ELSE 'b' END AS x", "id AS v")
frame.write.saveAsTable("stays")
"""

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, timeout=300, cwd=tmp_path, env=environment
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen([*command, "spark-internal"], stdout=log, stderr=log, env=environment, cwd=tmp_path)
    try:
        wait_for(port)
        run("-c", fill)
        assert "1000 records, as declared" in run("-c", RUN, "check", "study.toml")
        run("-c", RUN, "publish", "study.toml", "--ask", "both", "--out", "release.json")
    finally:
        server.terminate()
        server.wait(timeout=60)
    found = dc.Release.from_json((tmp_path / "release.json").read_text(encoding="utf-8"))
    assert found.counts.tolist() == [125, 125, 0, 750, 0, 0, 0, 0, 0]  # noise is zero but for one run in e^20
