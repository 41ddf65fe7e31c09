"""One local Spark for all tests of this folder; they are skipped, in words, where there is no Java.

Starting it costs more than all that is asked of it, so its tests stay together in one process (`--dist loadgroup`), and
Java compiles no more than it must.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.hookimpl(tryfirst=True)  # before the tests of a file are put together
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17 or later on this machine; install it or set JAVA_HOME")
    sql = pytest.importorskip("pyspark.sql")
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.sql.shuffle.partitions", "1")
    builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    session = builder.config("spark.sql.session.timeZone", "Pacific/Auckland").getOrCreate()
    yield session
    session.stop()
