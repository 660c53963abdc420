"""The report in a real Chromium: a silent console, no requests, everything drawn, nothing too wide."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
import reported
from commands import run_here
from wanted import CHROMIUM

pytestmark = pytest.mark.wants("chromium")

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
DRAWN = """figures => figures.map(figure => {
    const svgs = [...figure.querySelectorAll('svg')].filter(svg => svg.getBoundingClientRect().width > 0);
    const marks = svgs.flatMap(svg => [...svg.querySelectorAll('.role-mark path, .role-mark line, .role-mark text')]);
    const sizes = marks.map(mark => mark.getBoundingClientRect());
    return {
        svgs: svgs.length,
        width: svgs[0].getBoundingClientRect().width,
        height: svgs[0].getBoundingClientRect().height,
        marks: sizes.filter(size => size.width > 0 && size.height > 0).length,
        smallest: Math.min(...[...svgs[0].querySelectorAll('text')].map(text => text.getBoundingClientRect().height)),
    };
})"""
TOO_WIDE = """() => [...document.querySelectorAll('body *')]
    .filter(each => !each.closest('.scroll, .unseen') && each.getBoundingClientRect().right > innerWidth + 1)
    .map(each => each.outerHTML.slice(0, 80))"""
LUMINANCE = """element => {
    const linear = part => (part /= 255) <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    const luminance = colour => {
        const [red, green, blue] = colour.match(/[\\d.]+/g).slice(0, 3).map(Number).map(linear);
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    let behind = element;
    while (getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement;
    return [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor].map(luminance);
}"""


class Opened(NamedTuple):
    page: Any
    said: list[str]
    requests: list[str]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reported")
    run = reported.make_run(folder)
    assert run_here("report", "out", cwd=folder).code == 0
    return run / "report.html"


@pytest.fixture(scope="module")
def browse(report, tmp_path_factory):
    """Open the report, in a browser that knows nothing of the one before."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:

        @contextmanager
        def browse(size=DESKTOP, scheme="light"):
            context = playwright.chromium.launch_persistent_context(
                tmp_path_factory.mktemp("chromium"),
                executable_path=CHROMIUM,
                args=list(QUIET),
                viewport=size,
                color_scheme=scheme,
            )
            try:
                opened = Opened(context.new_page(), [], [])
                opened.page.on("console", lambda message: opened.said.append(message.text))
                opened.page.on("pageerror", lambda error: opened.said.append(str(error)))
                opened.page.on("dialog", lambda dialog: opened.said.append(dialog.message))
                opened.page.on("request", lambda request: opened.requests.append(request.url))
                opened.page.goto(report.as_uri())
                yield opened
            finally:
                context.close()

        yield browse


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_everything_is_drawn_and_nothing_is_fetched(browse, report, size, scheme):
    with browse(size, scheme) as opened:
        page = opened.page
        page.eval_on_selector_all("details", "all => all.forEach(each => each.open = true)")
        plots = page.eval_on_selector_all("figure", DRAWN)
        assert len(plots) == 9
        for plot in plots:
            assert plot["svgs"] == 1, "the drawing for this width, and no other"
            assert plot["width"] > 250
            assert plot["height"] > 60
            assert plot["marks"] > 0
            assert plot["smallest"] >= 10, "pixels of a line of text"
        assert page.evaluate(TOO_WIDE) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        for selector in (
            "h1",
            ".tiles span",
            ".bad strong",
            "nav a",
            ".turn pre",
            ".who",
            ".summary em",
            "td",
            "summary",
        ):
            text, behind = sorted(page.eval_on_selector(selector, LUMINANCE))
            assert (behind + 0.05) / (text + 0.05) >= 4.5, selector
        behind = page.eval_on_selector("body", LUMINANCE)[1]
        assert (behind < 0.1) == (scheme == "dark")
        assert opened.said == []
        assert opened.requests == [report.as_uri()]


BROKEN = {
    ".scroll": "each.scrollWidth > each.clientWidth + 1",
    "code": "each.getClientRects().length > 1",
    "svg text": "each.getBoundingClientRect().width > 0"
    " && each.getBoundingClientRect().right > each.ownerSVGElement.getBoundingClientRect().right + 0.5",
}


@pytest.mark.parametrize("what", BROKEN)
def test_on_a_phone_no_table_option_or_label_is_cut(browse, what):
    with browse(PHONE) as opened:
        page = opened.page
        page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
        find = f"all => all.filter(each => {BROKEN[what]}).map(each => each.textContent.slice(0, 80))"
        assert page.query_selector_all(what)
        assert page.eval_on_selector_all(what, find) == []


def test_a_link_opens_the_row_before_and_after(browse):
    with browse() as opened:
        page = opened.page
        link = page.locator("table.worst a").first
        row = page.locator(link.get_attribute("href"))
        assert not row.locator("ol").first.is_visible()
        link.focus()
        page.keyboard.press("Enter")
        row.locator("ol").first.wait_for(state="visible")
        assert row.get_by_role("heading", name="After").is_visible()
        assert row.locator(".turn.summary").inner_text().count("[CONTEXT SUMMARY]:") == 1
        assert row.locator(".turn.replaced").count() > 0
        assert opened.said == []


def test_the_page_can_be_used_without_a_mouse_and_without_eyes(browse):
    with browse() as opened:
        page = opened.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the figures"
        for role in ("banner", "navigation", "main", "contentinfo"):
            assert page.get_by_role(role).count() == 1
        levels = page.eval_on_selector_all("h1, h2, h3, h4", "all => all.map(each => Number(each.tagName[1]))")
        assert levels[0] == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        assert page.get_by_role("img").count() == 9
        assert page.get_by_role("img", name="Histogram of rows by length").count() == 1
        page.get_by_text("Figures as a table").first.focus()
        page.keyboard.press("Enter")
        assert page.get_by_role("region", name="Lengths before and after, table").is_visible()


def test_on_paper_it_is_light_and_as_wide_as_the_paper(browse):
    with browse({"width": 720, "height": 1000}, "dark") as opened:
        opened.page.emulate_media(media="print", color_scheme="dark")
        assert opened.page.eval_on_selector(".card", LUMINANCE) == pytest.approx([0, 1], abs=0.02)
        assert not opened.page.get_by_role("navigation").is_visible()
        assert opened.page.evaluate(TOO_WIDE) == []
        assert all(plot["svgs"] == 1 for plot in opened.page.eval_on_selector_all("figure", DRAWN))
