import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet._core.errors import DeclarationError
from discreet.networks import Network, read_bif
from discreet.records import Column

WEATHER = """
// a made-up network
network weather { property author = "nobody" ; }
variable umbrella { type discrete [ 2 ] { no, yes }; }
variable rain { type discrete [3] { none, "a little", >=9 }; property position = (10, 20) ; }
variable wind { type discrete[2]{calm,strong}; }
/* tables */
probability ( rain ) { table 0.7, 0.2, 0.1; }
probability ( wind | rain ) {
  (none) 0.9, 0.1;
  ("a little") 0.5, 0.5;
  default 0.2, 0.8;
}
probability ( umbrella | wind, rain ) {
  table 0.99, 0.6, 0.2, 1.0, 0.9, 0.8,
        0.01, 0.4, 0.8, 0.0, 0.1, 0.2;
}
"""


def test_graph_levels_and_tables_are_read() -> None:
    network, tables = read_bif(WEATHER)
    assert network.families == (("rain",), ("rain", "wind"), ("wind", "rain", "umbrella"))
    assert network.variables[0].levels == ("none", "a little", ">=9")
    assert tables["rain"].tolist() == pytest.approx([0.7, 0.2, 0.1])
    assert tables["wind"] == pytest.approx(np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]))
    assert tables["umbrella"].shape == (2, 3, 2)
    assert tables["umbrella"][1, 2].tolist() == pytest.approx([0.8, 0.2])
    assert tables["umbrella"][0, 1].tolist() == pytest.approx([0.6, 0.4])


def test_a_network_survives_the_way_through_its_text() -> None:
    network, tables = read_bif(WEATHER)
    again, same = read_bif(network.to_bif(tables))
    assert again == network
    for name, table in tables.items():
        assert same[name] == pytest.approx(table, abs=1e-15)
    assert Network.from_bif(network.to_bif(), prior=2).prior == network.with_prior(2).prior


def test_odd_names_and_levels_for_undeclared_values_are_kept() -> None:
    columns: dict[str, Any] = {
        "the answer": Column("the answer", ("a|b", "{c}"), outside="no idea"),
        "flag": (False, True),
    }
    network = Network.from_edges(
        "the answer -> flag",
        levels=columns,
        prior={"the answer": 1, "flag": (1, 3)},
        outside={"flag": False},
    )
    read, tables = read_bif(network.to_bif())
    assert read.variables[0] == network.variables[0]
    assert read.variables[1].levels == ("false", "true")  # BIF knows only texts; they mean the same records
    assert tables["flag"] == pytest.approx(np.array([[0.25, 0.75]] * 3))


def test_gaps_have_a_level_of_their_own_if_that_is_said() -> None:
    names = [column.name for column in Network.from_bif(WEATHER).variables]
    assert all(column.outside == column.levels[0] for column in Network.from_bif(WEATHER).variables)
    apart = Network.from_bif(WEATHER, outside="other")
    assert [column.levels[-1] for column in apart.variables] == ["other"] * len(names)
    assert apart.parents == Network.from_bif(WEATHER).parents
    one = Network.from_bif(WEATHER, outside={names[0]: "?"})
    assert one.variables[0].outside == "?"
    assert one.variables[1:] == Network.from_bif(WEATHER).variables[1:]
    with pytest.raises(DeclarationError, match="sunn"):
        Network.from_bif(WEATHER, outside={"sunn": "?"})


def test_a_file_is_read_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "weather.bif"
    path.write_text(WEATHER)
    assert Network.from_bif(path) == Network.from_bif(str(path)) == Network.from_bif(WEATHER)
    with pytest.raises(DeclarationError, match="no readable BIF file"):
        Network.from_bif(tmp_path / "nothing.bif")


def test_rows_are_brought_back_to_sum_one() -> None:
    _, tables = read_bif(WEATHER.replace("0.7, 0.2, 0.1", "0.7000003, 0.2, 0.1"))
    assert tables["rain"].sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("0.7, 0.2, 0.1", "0.7, 0.2, 0.3", "sum to 1"),
        ("0.7, 0.2, 0.1", "0.7, 0.3", "'rain' needs 3"),
        ("0.7, 0.2, 0.1", "0.7, 0.4, -0.1", "'rain'.*>= 0"),
        ("0.7, 0.2, 0.1", "0.7, x, 0.1", "'rain'.*numbers"),
        ("(none)", "(some)", "not a setting"),
        ("default 0.2, 0.8;", "", "'wind' needs 2 numbers"),
        ("probability ( rain ) { table 0.7, 0.2, 0.1; }", "", "'rain'"),
        ("variable wind", "variable rain", "'rain' twice"),
        ("network weather", "graph weather", "'graph'"),
        ("( wind | rain )", "( wind | snow )", "'snow'"),
        ("( rain )", "( rain | wind )", "cycle"),
        ("discrete[2]{calm,strong}", "discrete[1]{calm}", "'wind' needs at least two"),
        ("discrete[2]{calm,strong}", "continuous", "discrete"),
        ("0.01, 0.4, 0.8, 0.0, 0.1, 0.2;\n}", "", "ends in the middle"),
        ("variable umbrella {", "variable umbrella [", "must have '{'"),
    ],
)
def test_texts_that_make_no_sense_are_refused(old: str, new: str, words: str) -> None:
    assert old in WEATHER
    with pytest.raises(DeclarationError, match=words):
        read_bif(WEATHER.replace(old, new, 1))


def test_tables_and_names_that_cannot_be_written_are_refused() -> None:
    network, tables = read_bif(WEATHER)
    with pytest.raises(DeclarationError, match="'wind'"):
        network.to_bif({**tables, "wind": np.ones((2, 2)) / 2})
    with pytest.raises(DeclarationError, match="'umbrella'"):
        network.to_bif({name: table for name, table in tables.items() if name != "umbrella"})
    with pytest.raises(DeclarationError, match="quotation"):
        Network.from_edges('say "a"', levels={'say "a"': ("no", "yes")}, outside="no").to_bif()


@pytest.mark.parametrize("name", ["asia", "alarm", "insurance"])  # the other library takes seconds for each
def test_well_known_networks_are_read_as_another_library_reads_them(name: str) -> None:
    pgmpy = pytest.importorskip("pgmpy")
    found = list(Path(pgmpy.__file__).parent.rglob(f"{name}.bif.gz"))
    if not found:
        pytest.skip("this version does not ship the file")
    text = gzip.decompress(found[0].read_bytes()).decode()
    other = pytest.importorskip("pgmpy.readwrite").BIFReader(string=text).get_model()
    network, tables = read_bif(text)
    assert {v.name for v in network.variables} == set(other.nodes())
    for family in network.families:
        cpd = other.get_cpds(family[-1])
        assert [cpd.variables[0], *sorted(cpd.variables[1:])] == [family[-1], *sorted(family[:-1])]
        order = [cpd.variables.index(column) for column in family]
        assert tables[family[-1]] == pytest.approx(cpd.values.transpose(order), abs=1e-6)
