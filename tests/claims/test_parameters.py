"""Claims at the user's own parameters: which check looks where, what it says, what is refused."""

import json
from fractions import Fraction

import pytest

from theoryverify.claims import CERTIFIED, PROVED, Claim, Context, Evidence, Examination, Hypothesis
from theoryverify.claims.claim import Check
from theoryverify.claims.examine import run_check
from theoryverify.claims.parameters import At, Placed, placed, placed_selection, understood
from theoryverify.claims.registry import select
from theoryverify.claims.results import CheckResult
from theoryverify.cli import main
from theoryverify.errors import InputError

POSITIVE = Hypothesis(
    "positivity", "b > 0", lambda c: None if c > 0 else f"b = {c} is not positive"
)


def toy() -> Claim:
    """b + T > formula; one check for each b, one for b and T, one for all."""
    claim = Claim("toy.sum", "page 1", "b + T > 0", hypotheses=(POSITIVE,))

    @claim.check(
        "each b",
        CERTIFIED,
        formula=0,
        controls={"100": 100},
        cases=(Fraction(3), Fraction(5)),
        at=At(lambda b: b, needs=("b",), facts=lambda case, values: {"2b": str(2 * case)}),
    )
    def each(formula: int, case: Fraction, examination: Examination) -> Evidence:
        examination.decide("b > formula", case > formula, f"{case}")
        return examination.evidence("one b")

    @claim.check(
        "b and T",
        CERTIFIED,
        formula=0,
        controls={"100": 100},
        cases=(Fraction(3),),
        at=At(lambda b, depth=None: b if b < 1000 else None, needs=("b",), takes=("depth",)),
    )
    def both(formula: int, case: Fraction, examination: Examination, context: Context) -> Evidence:
        for depth in context.depths((1, 2)):
            examination.decide(f"T = {depth}", case + depth > formula)
        return examination.evidence(f"T in {context.depths((1, 2))}")

    @claim.check("all b", PROVED, formula=0, controls={"1": 1})
    def everywhere(formula: int, examination: Examination) -> Evidence:
        examination.decide("0", formula == 0)
        return examination.evidence("every b")

    @claim.check("two fixed ones", CERTIFIED, formula=0, controls={"9": 9}, cases=(Fraction(7),))
    def fixed(formula: int, case: Fraction, examination: Examination) -> Evidence:
        examination.decide("7", formula < 8)
        return examination.evidence("7")

    @claim.check("a table of places of its own", CERTIFIED, formula=0, controls={"9": 9})
    def table(formula: int, examination: Examination) -> Evidence:
        examination.decide("1, 2, 3", formula == 0)
        return examination.evidence("b in (1, 2, 3)")

    return claim


def results(claim: Claim, **given: str) -> dict[str, CheckResult]:
    here = placed(claim, given).claim
    return {c.name: run_check(here, c, Context(parameters=given)) for c in here.checks}


def test_checks_look_at_the_users_case_and_what_speaks_for_all_stays() -> None:
    found = results(toy(), b="7/2")
    # Neither the fixed one nor a table without cases says anything of the user's b.
    assert set(found) == {"each b", "b and T", "all b"}
    assert all(result.verdict == "holds" for result in found.values())
    assert found["each b"].scope == "one b: 7/2"
    assert found["b and T"].scope == "T in (1, 2): 7/2"


def test_a_check_that_ignores_a_parameter_says_nothing_there() -> None:
    found = results(toy(), b="7/2", depth="40")
    assert set(found) == {"b and T", "all b"}
    assert found["b and T"].scope == "T in (40,): 7/2"


def test_a_hypothesis_that_fails_is_named_also_for_what_speaks_for_all() -> None:
    found = results(toy(), b="-1")
    assert {result.verdict for result in found.values()} == {"outside"}
    assert "positivity: b = -1 is not positive" in found["all b"].why
    rows = placed(toy(), {"b": "-1"}).hypotheses()
    assert rows == [{"name": "positivity", "met": False, "reason": "b = -1 is not positive"}]


def test_a_control_that_is_right_at_the_users_case_is_refuted_at_the_checks_own() -> None:
    found = results(toy(), b="500")  # 500 > 100: the control is no mistake there
    assert found["each b"].verdict == "holds"
    assert [c.verdict for c in found["each b"].controls] == ["refuted"]
    gullible = toy()
    gullible.checks[0] = Check(
        **{**gullible.checks[0].__dict__, "controls": {"1": 1}, "cases": (Fraction(3),)}
    )
    assert results(gullible, b="500")["each b"].verdict == "inconclusive"


def test_facts() -> None:
    assert placed(toy(), {"b": "3"}).known() == {"2b": "6"}


def test_what_it_takes_and_what_is_refused() -> None:
    assert understood(toy()) == ("b", "depth")
    for given, words in (
        ({"law": "uniform(2,5)"}, "has no use for --law; it takes --b, --depth"),
        ({"depth": "4"}, "also needs --b beside --depth"),
        (
            {"b": "1000", "depth": "4"},
            "no check of claim toy.sum can be put at --b 1000, --depth 4",
        ),
        ({"b": "0.5.5"}, "is not a number"),
        ({"b": "1", "depth": "0"}, "depth = 0"),
        ({"speed": "1"}, "parameter 'speed' is unknown"),
        ({"rho": "-1"}, "rho = -1 must be positive"),
    ):
        with pytest.raises(InputError, match=words):
            placed(toy(), given)
    silent = Claim("toy.silent", "page 2", "1 = 1")
    with pytest.raises(InputError, match="it takes none"):
        placed(silent, {"b": "1"})


def test_a_paper_leaves_out_what_cannot_be_placed() -> None:
    other = Claim("toy.other", "page 3", "1 = 1", depends_on=("toy.sum",), not_checked="no")
    claims = {"toy.sum": toy(), "toy.other": other}
    every, found = placed_selection(claims, set(claims), {"b": "2"}, strict=False)
    assert list(found) == ["toy.sum"]
    assert not every["toy.other"].checks
    with pytest.raises(InputError, match=r"toy.other has no use"):
        placed_selection(claims, set(claims), {"b": "2"}, strict=True)
    with pytest.raises(InputError, match="no claim of the paper"):
        placed_selection(claims, set(claims), {"link": "z"}, strict=False)


# -- the papers, through the command line ------------------------------------------------------


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, object]]:
    code = main(["check", *arguments, "--json", "--jobs", "1"])
    return code, json.loads(capsys.readouterr().out)


def at(arguments: list[str]) -> tuple[Placed, dict[str, str]]:
    """A claim placed in this process: a worker would take a second each."""
    name, *options = arguments
    given = {key[2:]: value for key, value in zip(options[::2], options[1::2], strict=True)}
    return placed(select([name])[0][name], given), given


def only(document: dict[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    (claim,) = document["claims"]  # type: ignore[misc]
    (point,) = document["at"].values()  # type: ignore[attr-defined]
    return claim, point


def test_theorem_6_3_from_its_depth_bound_on(capsys: pytest.CaptureFixture[str]) -> None:
    code, document = call(capsys, "lca.6.3", "--law", "uniform(2,5)", "--depth", "17")
    claim, point = only(document)
    assert (code, claim["verdict"]) == (0, "holds")
    assert document["parameters"] == {"law": "uniform(2,5)", "depth": "17"}
    assert point["facts"]["T'(β₀)"] == "17"  # type: ignore[index]
    assert point["facts"]["stationary points in (-2/Z̄, 0)"] == "1"  # type: ignore[index]
    assert "lca.G.6" in " ".join(claim["assumes"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "hypothesis", "reason"),
    [
        (
            ["lca.6.3", "--law", "uniform(2,5)", "--depth", "16"],
            "large depth",
            "T = 16 is below T'(β₀) = 17",
        ),
        (
            ["lca.6.3", "--law", "uniform(2,5)", "--depth", "9", "--beta0", "-0.3"],
            "large depth",
            "T = 9 is below T'(β₀) = 10 for β₀ = -3/10",
        ),
        (
            ["lca.6.3", "--law", "uniform(2,5)", "--depth", "9", "--beta0", "-0.5"],
            "large depth",
            "outside the window",
        ),
        (["lca.F.3", "--law", "two-point(1,5)"], "Assumption 6.1", "atom at Z = 1"),
        (["lca.4.1", "--law", "two-point(2,5)"], "atomless", "gives |m| an atom"),
        (["mamba.D", "--link", "He3(z)", "--b", "0"], "bias", "σ^(2)(0) = 0"),
        (
            ["mamba.D", "--link", "He3(z)/sqrt(6)", "--b", "-2", "--rho", "4"],
            "large scale",
            "ρ = 4 is below ρ₀(g,b)",
        ),
        (["mamba.even", "--link", "He4(z) + He20(z)"], "degree", "the degree is 20"),
        (["mamba.even", "--link", "z**4"], "exponent", "ie(g) = 2"),
        (["mamba.T8", "--link", "z**2", "--b", "1", "--rho", "1"], "centred", "E[g] = 1"),
    ],
)
def test_the_hypothesis_that_fails_is_named(
    arguments: list[str], hypothesis: str, reason: str
) -> None:
    here, given = at(arguments)
    failed = [row for row in here.hypotheses() if not row["met"]]
    assert [row["name"] for row in failed] == [hypothesis]
    assert reason in failed[0]["reason"]
    for check in here.claim.checks:
        result = run_check(here.claim, check, Context(parameters=given))
        assert result.verdict == "outside"
        assert f"{hypothesis}: " in result.why


def test_the_command_names_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    code, document = call(capsys, "lca.6.3", "--law", "uniform(2,5)", "--depth", "16")
    claim, point = only(document)
    assert (code, claim["verdict"]) == (1, "outside")
    assert "large depth: T = 16 is below T'(β₀) = 17" in str(claim["reason"])
    assert [row["met"] for row in point["hypotheses"]] == [True, False]  # type: ignore[attr-defined]
    assert point["facts"]["stationary points in (-2/Z̄, 0)"] == "1"  # type: ignore[index]


@pytest.mark.parametrize(
    "arguments",
    [
        ["lca.F.3", "--law", "beta(2,5,1/2,3)", "--depth", "12"],
        ["lca.F.1", "--law", "uniform(1.5,3)", "--depth", "3"],
        ["lca.two-point", "--law", "two-point(2,9,1/10)", "--depth", "6"],
        ["lca.F.3.rate", "--law", "ball(3,4)", "--depth", "50"],
        ["lca.6.2.limit", "--law", "discrete(2:1/2,9:1/2)", "--depth", "2"],
        ["lca.gradient", "--law", "shell(4,2,6)"],
        ["lca.4.1.excess", "--law", "discrete(2:0.5,3:0.499999,20:0.000001)"],
        ["lca.G.profile", "--law", "uniform(3,4)", "--depth", "9"],
        ["lca.G.4", "--law", "uniform(3,4)", "--depth", "7"],
        ["lca.G.6", "--law", "uniform(2,5)", "--beta0", "-0.3"],
        ["lca.6.3", "--law", "two-point(2,5)", "--depth", "1000"],
        ["lca.uniqueness", "--law", "discrete(2:1/2,30:1/2)"],
        ["lca.H.window", "--law", "uniform(2,7)"],
        ["mamba.A", "--link", "He4(z) - He2(z)"],
        ["mamba.B", "--link", "sin(z)"],
        ["mamba.C", "--link", "z**4 - z**2"],
        ["mamba.D", "--link", "He3(z)/sqrt(6)", "--b", "-2", "--rho", "1000"],
        ["mamba.D.law", "--link", "He4(z)", "--b", "1"],
        ["mamba.D.odd", "--link", "z**3", "--rho", "2"],
        ["mamba.even", "--link", "He4(z) + He8(z)"],
        ["mamba.T8", "--link", "He2(z) + z", "--rho", "3", "--b", "-1"],
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_theorems_hold_at_other_laws_and_links(arguments: list[str]) -> None:
    here, given = at(arguments)
    assert all(row["met"] for row in here.hypotheses())
    here.known()
    placed_checks = [check for check in here.claim.checks if check.at is not None]
    assert placed_checks
    for check in placed_checks:
        result = run_check(here.claim, check, Context(parameters=given))
        assert str(result.verdict) == "holds", result.why
        assert result.sound


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--law", "uniform(2,5)"], "--law needs the id of a claim"),
        (["lca.C.1", "--law", "uniform(2,5)"], "it takes none"),
        (["lca.F.3", "--link", "z"], "has no use for --link; it takes --law, --depth"),
        (["lca.F.3", "--depth", "3"], "also needs --law"),
        (["lca.F.3", "--law", "uniform(2"], "is not of the form"),
        (["lca.two-point", "--law", "uniform(2,5)"], "is not a law of two atoms"),
        (["lca.G.4", "--law", "uniform(2,5)", "--depth", "1000"], "depth = 1000 is out of range"),
        (["mamba.D", "--link", "abs(z)", "--b", "1"], "no check of claim mamba.D can be put"),
        (["mamba.B", "--link", "3"], "the link '3' is constant"),
        (["lca.6.3", "--law", "uniform(2,5)", "--beta0", "-1/5"], "--beta0 needs --depth"),
        (["mamba.D", "--link", "1/(", "--b", "1"], "1/("),
        (["mamba", "--law", "uniform(2,5)"], "no claim of the paper"),
    ],
)
def test_bad_input(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *arguments]) == 2
    output = capsys.readouterr()
    assert words in output.err
    assert output.err.count("\n") == 1
