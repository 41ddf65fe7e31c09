from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet._core.errors import DeclarationError, SecretError
from discreet.networks import EquivalentSize, Network
from discreet.records import Column

BINARY = ("no", "yes")


def binary(names: str) -> dict[str, Any]:
    return dict.fromkeys(names, BINARY)


def test_variables_stand_with_parents_before_children_else_as_declared() -> None:
    net = Network.from_edges(
        "c -> a", "b", "d -> c", levels=binary("abcd"), outside={name: each[0] for name, each in binary("abcd").items()}
    )
    assert [variable.name for variable in net.variables] == ["b", "d", "c", "a"]
    assert net.parents == ((), (), ("d",), ("c",))
    same = Network([Column(name, BINARY, outside=BINARY[0]) for name in "cabd"], [("d",), ("c",), (), ()])
    assert net == same
    assert hash(net) == hash(same)
    assert net != Network.from_edges(
        "c -> a",
        "b",
        "d -> c",
        levels=binary("abcd"),
        prior=2,
        outside={name: each[0] for name, each in binary("abcd").items()},
    )


def test_chains_of_arrows_are_edges_and_parents_keep_their_order() -> None:
    net = Network.from_edges(
        "b -> c",
        "a -> c",
        "c -> d -> e",
        levels=binary("abcde"),
        outside={name: each[0] for name, each in binary("abcde").items()},
    )
    assert net.families == (("b",), ("a",), ("b", "a", "c"), ("c", "d"), ("d", "e"))
    assert net.maximal_families == (("b", "a", "c"), ("c", "d"), ("d", "e"))
    assert net.cells == 8 + 4 + 4
    assert "'b -> c'" in repr(net)
    assert (
        len(
            repr(
                Network.naive_bayes(
                    "a",
                    tuple("bcdefghijklmn"),
                    binary("abcdefghijklmn"),
                    outside={name: each[0] for name, each in binary("abcdefghijklmn").items()},
                )
            )
        )
        < 200
    )


@pytest.mark.parametrize("seed", range(30))
def test_maximal_families_are_those_that_comparing_all_pairs_finds(seed: int) -> None:
    generator = np.random.default_rng(seed)
    names = "abcdefg"
    parents = [tuple(p for p in names[:i] if generator.random() < 0.4) for i in range(len(names))]
    net = Network([Column(name, BINARY, outside=BINARY[0]) for name in names], parents)
    sets = [set(family) for family in net.families]
    slow = tuple(f for f in net.families if not any(set(f) < other for other in sets))
    assert net.maximal_families == slow
    for family in net.families:
        assert any(set(family) <= set(around) for around in net.maximal_families)


def records_of(net: Network, size: int, seed: int) -> dict[str, list[Any]]:
    generator = np.random.default_rng(seed)
    return {v.name: [v.levels[i] for i in generator.integers(len(v.levels), size=size)] for v in net.variables}


def by_hand(net: Network, family: tuple[str, ...], data: dict[str, list[Any]]) -> np.ndarray[Any, Any]:
    columns = {variable.name: variable for variable in net.variables}
    levels = [columns[name].levels for name in family]
    rows = list(zip(*(data[name] for name in family), strict=True))
    return np.array([rows.count(cell) for cell in product(*levels)]).reshape(net.shape(family))


@pytest.mark.parametrize("seed", range(5))
def test_family_tables_are_counted_as_by_hand(seed: int) -> None:
    levels = {"a": (0, 1), "b": ("x", "y", "z"), "c": (0, 1, 2, 3), "d": BINARY, "e": BINARY}
    net = Network.from_edges(
        "a -> c",
        "b -> c",
        "c -> d",
        "b -> d",
        "e",
        levels=levels,
        outside={name: each[0] for name, each in levels.items()},
    )
    data = records_of(net, 60, seed)
    secret = net.statistics(data)
    assert secret.describes(net, 60)
    values = secret.open_for_publishing()
    tables = net.split(values)
    for family, table in zip(net.maximal_families, tables, strict=True):
        assert (table == by_hand(net, family, data)).all()
    for family in net.families:
        assert (net.table(family[-1], values) == by_hand(net, family, data)).all()
    batch = np.stack([values, 2 * values]).reshape(2, 1, -1)
    for family in net.families:
        assert (net.table(family[-1], batch)[1, 0] == 2 * by_hand(net, family, data)).all()
    assert net.split(batch)[0].shape == (2, 1, *net.shape(net.maximal_families[0]))


def test_undeclared_values_go_to_the_level_that_the_column_names() -> None:
    smoker = Column("smoker", BINARY, outside="unknown")
    net = Network.from_edges("smoker -> ill", levels={"smoker": smoker, "ill": BINARY}, outside={"ill": BINARY[0]})
    values = net.statistics({"smoker": ["no", None, 7], "ill": ["yes", "yes", "?"]}).open_for_publishing()
    assert net.split(values)[0].tolist() == [[0, 1], [0, 0], [1, 1]]


def test_naive_bayes_has_a_target_and_other_graphs_have_none() -> None:
    net = Network.naive_bayes(
        target="y",
        features=("a", "b"),
        levels=binary("yab"),
        outside={name: each[0] for name, each in binary("yab").items()},
    )
    assert (net.target, net.is_tree) == ("y", True)
    assert net.maximal_families == (("y", "a"), ("y", "b"))
    assert (
        Network.from_edges(
            "y -> a", "y -> b", levels=binary("aby"), outside={name: each[0] for name, each in binary("aby").items()}
        ).target
        == "y"
    )
    for edges, tree in [(("a -> b -> y",), True), (("a", "b", "y"), True), (("a -> y", "b -> y"), False)]:
        other = Network.from_edges(
            *edges, levels=binary("aby"), outside={name: each[0] for name, each in binary("aby").items()}
        )
        assert (other.target, other.is_tree) == (None, tree)
    assert (
        Network.from_edges(
            "a", levels=binary("a"), outside={name: each[0] for name, each in binary("a").items()}
        ).target
        is None
    )


def test_priors_are_given_in_several_ways() -> None:
    levels = {"a": BINARY, "b": ("x", "y", "z")}
    net = Network.from_edges(
        "b -> a", levels={"b": levels["b"], "a": BINARY}, prior=0.5, outside={"b": levels["b"][0], "a": BINARY[0]}
    )
    assert net.prior == ((0.5,) * 3, (0.5,) * 2)
    named = net.with_prior({"a": (1, 2), "b": 3})
    assert named.prior == ((3.0,) * 3, (1.0, 2.0))
    assert net.with_prior(EquivalentSize(6)).prior == ((2.0,) * 3, (1.0,) * 2)
    assert Network(named.variables, named.parents, named.prior) == named


def test_a_thousand_features_are_declared_quickly() -> None:
    features = [f"f{i}" for i in range(1000)]
    net = Network.naive_bayes("y", features, dict.fromkeys(["y", *features], BINARY), outside=BINARY[0])
    assert (net.cells, len(net.maximal_families), net.target) == (4000, 1000, "y")
    assert net.table("f999", np.arange(4000)).tolist() == [[3996, 3997], [3998, 3999]]
    assert net.table("y", np.arange(4000)).tolist() == [1, 5]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"edges": ("a -> b", "b -> a"), "levels": binary("ab")}, "cycle.*'a', 'b'"),
    ({"edges": ("a -> a",), "levels": binary("a")}, "cycle.*'a'"),
    ({"edges": ("a -> b",), "levels": binary("a")}, "'b'"),
    ({"edges": ("a -> b",), "levels": binary("abc")}, "'c'"),
    ({"edges": ("a -> b", "a -> b"), "levels": binary("ab")}, "'b' names a parent twice"),
    ({"edges": ("a ->",), "levels": binary("a")}, "edge"),
    ({"edges": (3,), "levels": binary("a")}, "edge"),
    ({"edges": (), "levels": {}}, "at least one variable"),
    ({"edges": ("a",), "levels": {"a": ("x",)}, "outside": "x"}, "'a' needs at least two"),
    ({"edges": ("a",), "levels": {"a": Column("b", BINARY, outside=BINARY[0])}}, "another name, 'b'"),
    ({"edges": ("a",), "levels": BINARY}, "levels"),
    ({"edges": ("a",), "levels": binary("a"), "prior": 0}, "'a' must lie"),
    ({"edges": ("a",), "levels": binary("a"), "prior": float("nan")}, "'a' must lie"),
    ({"edges": ("a",), "levels": binary("a"), "prior": {"a": (1, 2)}}, "3 levels"),
    ({"edges": ("a",), "levels": binary("a"), "prior": {"b": 1}}, "every variable"),
    ({"edges": ("a",), "levels": binary("a"), "prior": "flat"}, "prior"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG)
def test_declarations_that_make_no_sense_are_refused_by_name(arguments: dict[str, Any], words: str) -> None:
    edges = arguments.pop("edges")
    with pytest.raises(DeclarationError, match=words):
        Network.from_edges(*edges, **arguments)


def test_more_declarations_are_refused() -> None:
    a, b = Column("a", BINARY, outside=BINARY[0]), Column("b", BINARY, outside=BINARY[0])
    wrong = [([a, a], [(), ()]), ([a, b], [()]), ([a], [("b",)]), (["a"], [()])]
    for variables, parents in wrong:
        with pytest.raises(DeclarationError):
            Network(variables, parents)  # type: ignore[arg-type]
    for features in ((), "ab"):
        with pytest.raises(DeclarationError, match="at least one feature"):
            Network.naive_bayes(
                "y", features, binary("yab"), outside={name: each[0] for name, each in binary("yab").items()}
            )
    with pytest.raises(DeclarationError, match="twice: 'a'"):
        Network.naive_bayes(
            "y", ("a", "a"), binary("ya"), outside={name: each[0] for name, each in binary("ya").items()}
        )
    for records in (0, -1, True, "6"):
        with pytest.raises(DeclarationError, match="equivalent sample size"):
            EquivalentSize(records)  # type: ignore[arg-type]
    with pytest.raises(DeclarationError, match="itself be a release"):
        Network.learn({"a": ["yes"]})


def test_tables_that_are_too_large_are_refused_with_family_and_size() -> None:
    names = "abcdefgh"
    levels = {name: tuple(range(10)) for name in names}
    with pytest.raises(DeclarationError, match=r"'h' given 'a'.* 100000000 cells"):
        Network.from_edges(
            *(f"{name} -> h" for name in names[:-1]),
            levels=levels,
            outside={name: each[0] for name, each in levels.items()},
        )


def test_made_up_counts_are_checked_and_secrets_refused() -> None:
    net = Network.from_edges(
        "a -> b", levels=binary("ab"), outside={name: each[0] for name, each in binary("ab").items()}
    )
    assert net.counts([1, 2, 3, 4]).tolist() == [1, 2, 3, 4]
    for wrong in ([1, 2, 3], [1, 2, 3, -4], [1.0, 2.0, 3.0, 4.0]):
        with pytest.raises(DeclarationError, match="4 cells"):
            net.counts(wrong)
    with pytest.raises(SecretError):
        net.counts(net.statistics({"a": ["no"], "b": ["no"]}))
    with pytest.raises(DeclarationError, match="'c'"):
        net.table("c", [1, 2, 3, 4])
    with pytest.raises(DeclarationError, match="4 cells"):
        net.split([1, 2, 3])
