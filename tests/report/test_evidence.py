"""Reading intervals and enclosures back from the lines that the checks write."""

from __future__ import annotations

import math
from fractions import Fraction
from xml.etree import ElementTree as ET

import pytest
from flint import arb

from theoryverify.claims.ladder import HOLDS
from theoryverify.exact.balls import Enclosure
from theoryverify.report.evidence import EnclosedNumber, InMargin, enclosed, in_margin
from theoryverify.report.html.plots import interval_plot
from theoryverify.stats import Equivalence, Interval


@pytest.mark.parametrize(
    ("interval", "region"),
    [
        ((0.214802, 0.221172), (0.213998, 0.222016)),
        ((-1.5e-07, 2e-07), (-3e-05, 3e-05)),
        ((0.0107308, math.inf), (-math.inf, 0.00725925)),
        ((-math.inf, math.inf), (0.0, 1.0)),
    ],
)
def test_an_equivalence_test_is_read_as_it_prints(
    interval: tuple[float, float], region: tuple[float, float]
) -> None:
    line = f"risk: {Equivalence(HOLDS, Interval(*interval), region, 378, 1e-9)}; bias 9e-05"
    found = in_margin(line)
    assert found is not None
    assert found.found == pytest.approx(interval, rel=1e-5)
    assert found.allowed == pytest.approx(region, rel=1e-5)


def test_the_other_forms() -> None:
    found = in_margin("distance 0.0047 ± 0.0210, margin 0.03")
    assert found == InMargin((0.0, 0.0257), (0.0, 0.03), "distance between the laws")
    found = in_margin("α̂ = 0.2: R_T(α̂) = 0.036675, claimed 0.03 ± 0.005")
    assert found is not None
    assert found.found == (0.036675, 0.036675)
    assert found.allowed == pytest.approx((0.025, 0.035))
    assert found.apart
    found = in_margin("largest ratio to its bound 0.702 over 100 prompts")
    assert found is not None
    assert found.inside


@pytest.mark.parametrize(
    "line", ["", "0.5 < 1", "both sides differ", "mean in [nan, 1] allowed [0, 1]"]
)
def test_other_lines_have_no_picture(line: str) -> None:
    assert in_margin(line) is None


def test_enclosures_are_found_in_text() -> None:
    ball = Enclosure.of(arb(2, 1e-6).sqrt())
    parts = enclosed(f"T = 4: {ball} < 1")
    assert parts[0] == "T = 4: "
    assert isinstance(parts[1], EnclosedNumber)
    number = parts[1]
    assert Fraction(number.common + number.low) <= ball.lower
    assert ball.upper <= Fraction(number.common + number.high)
    assert parts[2] == " < 1"
    shown = "".join(
        p if isinstance(p, str) else f"{p.common}[{p.low}, {p.high}]{p.power}" for p in parts
    )
    assert shown == f"T = 4: {ball} < 1"


def marks(shown: InMargin) -> tuple[ET.Element, list[float]]:
    svg = ET.fromstring(str(interval_plot(shown)))
    band = svg.find("rect")
    assert band is not None
    left = float(band.get("x", "nan"))
    return svg, [left, left + float(band.get("width", "nan"))]


def test_the_picture_shows_where_the_interval_lies() -> None:
    svg, band = marks(InMargin((0.21, 0.22), (0.2, 0.24), "mean"))
    path = next(p.get("d", "") for p in svg.iter("path") if p.get("class") == "found")
    left, right = float(path[1:].split()[0]), float(path.split("H")[1].split("M")[0])
    assert band[0] < left < right < band[1]
    # a quarter and a half of the band
    assert (left - band[0]) / (band[1] - band[0]) == pytest.approx(0.25, abs=0.01)
    assert (right - band[0]) / (band[1] - band[0]) == pytest.approx(0.5, abs=0.01)
    assert "inside" in svg.get("class", "")
    assert "inside the margin" in svg.get("aria-label", "")


def test_the_picture_of_a_refutation_and_of_infinite_ends() -> None:
    svg, band = marks(InMargin((0.0107, math.inf), (-math.inf, 0.0073), "mean"))
    assert "apart" in svg.get("class", "")
    assert band[0] == 8  # the band runs to the edge
    assert all("inf" not in (node.get("d") or "") for node in svg.iter())
    assert [t.text for t in svg.iter("text")] == ["0.0073"]


def test_labels_of_a_narrow_band_share_one_line() -> None:
    svg, _ = marks(InMargin((0.2, 0.21), (0.324, 0.332), "mean"))
    assert [t.text for t in svg.iter("text")] == ["0.324 to 0.332"]
