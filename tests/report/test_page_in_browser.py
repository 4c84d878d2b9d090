"""The page in headless Chromium: no console message, no request, keyboard, themes, phone, print."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.report import browser, samples
from theoryverify.report.html import page

pytestmark = pytest.mark.skipif(bool(browser.missing()), reason=browser.missing() or "there")

CONTRAST = """
const luminance = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
const ground = (node) => {
  for (let at = node; at; at = at.parentElement) {
    const found = numbers(getComputedStyle(at).backgroundColor);
    if (found.length === 3 || found[3] > 0) return found;
  }
  return [255, 255, 255];
};
const poor = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let seen = 0;
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  const data = walker.currentNode.data.trim();
  if (!data || node.closest("svg, script, style, option, .skip, .hidden")) continue;
  if (!node.checkVisibility()) continue;
  seen += 1;
  const colours = [numbers(getComputedStyle(node).color), ground(node)];
  const [a, b] = colours.map(luminance).sort((x, y) => x - y);
  const ratio = (b + 0.05) / (a + 0.05);
  if (ratio < 4.5) poor.push([node.tagName, data.slice(0, 30), ratio]);
}
return [seen, poor];
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    for make in (samples.plain, samples.hostile):
        (folder / f"{make.__name__}.html").write_text(page(make()), encoding="utf-8")
    return folder.as_uri()


@pytest.fixture(scope="module")
def desktop() -> Iterator[browser.Browser]:
    with browser.Browser() as found:
        yield found


@pytest.fixture
def plain(desktop: browser.Browser, address: str) -> browser.Browser:
    desktop.open("about:blank")
    desktop.requested()
    desktop.log()
    desktop.open(f"{address}/plain.html")
    return desktop


def test_no_message_and_no_request(plain: browser.Browser, address: str) -> None:
    assert plain.log() == []
    assert plain.requested() == [f"{address}/plain.html"]


def test_hostile_statements_run_nothing(desktop: browser.Browser, address: str) -> None:
    desktop.requested()
    desktop.open(f"{address}/hostile.html")
    assert desktop.script("return document.scripts.length") == 1
    assert desktop.script("return document.images.length") == 0
    assert desktop.log() == []
    assert desktop.requested() == [f"{address}/hostile.html"]


def test_the_policy_stops_an_injected_script(plain: browser.Browser, address: str) -> None:
    """Were the escaping to fail, the policy would still stand."""
    plain.script(
        "const s = document.createElement('img'); s.src = 'https://example.org/x.png';"
        "document.body.append(s); const t = document.createElement('script');"
        "t.textContent = 'window.broken = 1'; document.body.append(t);"
    )
    assert plain.script("return window.broken === undefined") is True
    said = [entry["message"] for entry in plain.log()]
    assert sum("Content Security Policy" in message for message in said) == 2
    assert plain.requested() == [f"{address}/plain.html"]


def test_formulas_are_laid_out_as_mathematics(plain: browser.Browser) -> None:
    """A fraction is higher than a line, so the browser did read MathML."""
    high = plain.script("return document.querySelector('mfrac').getBoundingClientRect().height")
    line = plain.script("return document.querySelector('mfrac mn').getBoundingClientRect().height")
    assert high > 1.7 * line


def test_by_keyboard_from_the_graph_to_a_claim(plain: browser.Browser) -> None:
    """Tab reaches the skip link first, later the nodes; Enter on a node goes to its claim."""
    plain.keys("Tab")
    assert plain.script("return document.activeElement.className") == "skip"
    for _ in range(40):
        plain.keys("Tab")
        if plain.script("return document.activeElement.classList.contains('node')"):
            break
    name = plain.script("return document.activeElement.dataset.id")
    assert name
    assert plain.script(
        "return [...document.querySelectorAll('path.lit')].every("
        "p => [p.dataset.from, p.dataset.to].includes(document.activeElement.dataset.id))"
    )
    plain.keys("Enter")
    assert plain.script("return decodeURIComponent(location.hash)") == f"#claim-{name}"


def test_what_has_the_focus_can_be_seen(plain: browser.Browser) -> None:
    for _ in range(30):
        plain.keys("Tab")
        style = plain.script(
            # on a busy machine the key arrives after the script
            "return new Promise(done => { const look = left => {"
            "const at = document.activeElement, box = at.querySelector(':scope > .box');"
            "if (at === document.body && left) return setTimeout(look, 20, left - 1);"
            "const s = getComputedStyle(box ?? at);"
            "done([at.outerHTML.slice(0, 80), box ? s.strokeWidth : s.outlineWidth,"
            " box ? 'solid' : s.outlineStyle]) }; look(100) })"
        )
        assert float(style[1].removesuffix("px")) >= 3, style
        assert style[2] != "none", style


def test_filters_hide_and_links_bring_back(plain: browser.Browser) -> None:
    shown = "return [...document.querySelectorAll('.claim')].filter(c => !c.hidden).map(c => c.id)"
    pick = "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
    pick += "e.dispatchEvent(new Event('input'))"
    plain.script(pick, "verdict", "refuted")
    assert plain.script(shown) == ["claim-toy.C.atom"]
    assert plain.script("return document.getElementById('shown').textContent") == "1 of 5"
    plain.script("location.hash = '#claim-toy.A'")
    assert plain.script("return new Promise(r => setTimeout(() => r(1), 50))") == 1
    assert len(plain.script(shown)) == 5
    plain.script(pick, "find", "TOY.B")
    assert plain.script(shown) == ["claim-toy.B"]
    plain.script(pick, "find", "")
    plain.script(pick, "rung", "simulated")
    assert plain.script(shown) == ["claim-toy.C"]


def test_zoom(plain: browser.Browser) -> None:
    width = "return document.querySelector('.graph').getBoundingClientRect().width"
    before = plain.script(width)
    plain.script("document.querySelector('[data-zoom=in]').click()")
    assert plain.script(width) == pytest.approx(1.25 * before, rel=0.02)
    plain.script("document.querySelector('.canvas').focus()")
    plain.keys("-")
    assert plain.script(width) == pytest.approx(before, rel=0.02)
    plain.keys("+", "+")
    plain.keys("0")
    room = plain.script("return document.querySelector('.canvas').clientWidth")
    assert plain.script(width) == pytest.approx(room, abs=1)


def test_themes_and_contrast(plain: browser.Browser) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    plain.script("document.getElementById('unfold').click()")
    seen = set()
    for expected in ("light", "dark", "system"):
        plain.script("document.getElementById('theme').click()")
        label = plain.script("return document.getElementById('theme').textContent")
        assert label == f"Theme: {expected}"
        seen.add(plain.script(ground))
        count, poor = plain.script(CONTRAST)
        assert count > 100
        assert poor == []
    assert seen == {"rgb(255, 255, 255)", "rgb(17, 21, 26)"}
    plain.devtools(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}]
    )
    assert plain.script(ground) == "rgb(17, 21, 26)"
    plain.devtools("Emulation.setEmulatedMedia", features=[])


def test_print_shows_the_checks(plain: browser.Browser) -> None:
    plain.devtools("Emulation.setEmulatedMedia", media="print")
    plain.script("window.dispatchEvent(new Event('beforeprint'))")
    assert plain.script(
        "return [...document.querySelectorAll('details.check .inside')]"
        ".every(part => part.checkVisibility())"
    )
    assert plain.script("return document.querySelector('nav').checkVisibility()") is False
    assert plain.script("return document.querySelector('.plot .found').checkVisibility()") is True
    plain.script("window.dispatchEvent(new Event('afterprint'))")
    plain.devtools("Emulation.setEmulatedMedia", media="")
    assert plain.script("return document.querySelectorAll('details[open]').length") == 0


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_is_wider_than_the_screen(plain: browser.Browser, width: int) -> None:
    plain.devtools(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=844,
        deviceScaleFactor=1,
        mobile=width < 700,
    )
    plain.script("for (const fold of document.querySelectorAll('details')) fold.open = true")
    assert plain.script("return document.documentElement.scrollWidth") <= width
    plain.devtools("Emulation.clearDeviceMetricsOverride")


def test_without_scripts_the_page_is_whole(plain: browser.Browser, address: str) -> None:
    plain.devtools("Emulation.setScriptExecutionDisabled", value=True)
    try:
        plain.open("about:blank")  # an address that differs in its fragment loads nothing
        plain.open(f"{address}/plain.html#claim-toy.C")
        plain.devtools("DOM.enable")
        root = plain.devtools("DOM.getDocument")["root"]["nodeId"]

        def shown(selector: str) -> bool:
            node = plain.devtools("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
            try:
                plain.devtools("DOM.getBoxModel", nodeId=node)
            except RuntimeError:
                return False
            return True

        assert shown(".graph .node")
        assert shown("#claim-toy\\.C math")
        assert not shown(".tools")
        assert not shown(".zoom")
    finally:
        plain.devtools("Emulation.setScriptExecutionDisabled", value=False)


def test_on_a_phone(address: str, tmp_path: Path) -> None:
    with browser.Browser(phone=True, dark=True) as phone:
        phone.open(f"{address}/plain.html")
        assert phone.script("return [innerWidth, document.documentElement.scrollWidth]") == [
            390,
            390,
        ]
        assert phone.script("return matchMedia('(prefers-color-scheme: dark)').matches") is True
        small = phone.script(
            "return [...document.querySelectorAll('button, select, input')]"
            ".filter(b => b.getBoundingClientRect().height < 24).length"
        )
        assert small == 0
        phone.screenshot(tmp_path / "phone.png")
        assert (tmp_path / "phone.png").stat().st_size > 10_000
