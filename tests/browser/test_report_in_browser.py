"""The report as a browser shows it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from tamis import MRSF, MaxVariance, report

pytest.importorskip("selenium", reason="selenium drives the browser: install tamis[test]")
from browser.chromium import Browser, browser, programs

pytestmark = pytest.mark.usefixtures("rough_evidence")

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror="document.title=\'owned\'">',
    "</title></style></script><script>document.title='owned'</script>",
    "{{ 7 * 7 }}",
    "javascript:alert(1)",
    "a ]]> & ' b",
]


@pytest.fixture(scope="session")
def window():
    """A headless Chromium, or a skip where Debian's packages are missing."""
    if programs() is None:
        pytest.skip("no chromium and chromedriver: run tests/browser/install as root")
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def digits_page(tmp_path_factory) -> Path:
    digits = load_digits()
    X, y = digits.data[:200], digits.target[:200]
    page = report.selection(
        MRSF(16, n_clusters=10).fit(X),
        X,
        labels=y,
        image_shape=(8, 8),
        command="tamis select digits.csv --method mrsf -k 16",
        n_subsamples=3,
    )
    return page.save(tmp_path_factory.mktemp("report") / "digits.html")


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory) -> Path:
    X = np.random.RandomState(0).normal(size=(40, len(HOSTILE)))
    page = report.selection(
        MaxVariance(len(HOSTILE) - 1).fit(X),
        X,
        feature_names=HOSTILE,
        labels=np.resize(HOSTILE, 40),
        title=HOSTILE[2],
        command=HOSTILE[0],
    )
    return page.save(tmp_path_factory.mktemp("hostile") / "hostile.html")


def test_every_figure_is_drawn(window: Browser, digits_page: Path):
    window.open(digits_page)
    drawn = window.run(
        """return Array.from(document.querySelectorAll('svg[role=img]')).map(figure => ({
             label: figure.getAttribute('aria-label'),
             width: figure.getBoundingClientRect().width,
             height: figure.getBoundingClientRect().height,
             shapes: Array.from(figure.querySelectorAll('path, rect')).filter(shape => {
               const box = shape.getBoundingClientRect();
               return box.width + box.height > 0;
             }).length,
           }))"""
    )
    # Pixels, four strips, scores, barcode, heat map, two views, stability; and convergence where
    # there are iterations enough.
    assert len(drawn) == 11 + ("Objective over" in digits_page.read_text(encoding="utf-8"))
    for figure in drawn:
        assert figure["label"]
        assert figure["width"] > 100
        assert figure["height"] > 20
        assert figure["shapes"] > 0, figure["label"]


@pytest.mark.parametrize("width", [375, 1280])
def test_shapes_stay_within_their_figures(window: Browser, digits_page: Path, width: int):
    window.open(digits_page, width=width)
    outside = window.run(
        """return Array.from(document.querySelectorAll('svg[role=img]')).flatMap(figure => {
             const frame = figure.closest('section, .summary').getBoundingClientRect();
             return Array.from(figure.querySelectorAll('path, rect, text')).filter(shape => {
               const box = shape.getBoundingClientRect();
               return box.left < frame.left || box.right > frame.right;
             }).map(shape => shape.outerHTML.slice(0, 80));
           })"""
    )
    assert outside == []


def test_nothing_is_asked_for_and_nothing_complains(window: Browser, digits_page: Path):
    window.open(digits_page)
    assert window.console() == []
    asked = window.requests()
    assert asked[0] == digits_page.resolve().as_uri()
    assert [url for url in asked[1:] if not url.startswith("data:")] == []


def test_the_policy_forbids_requests_and_foreign_scripts(window: Browser, digits_page: Path):
    window.open(digits_page)
    window.run(
        """const script = document.createElement('script');
           script.textContent = "document.title = 'owned'";
           document.body.append(script);
           const image = document.createElement('img');
           image.src = 'http://127.0.0.1:9/pixel.png';
           document.body.append(image);"""
    )
    assert window.run("return document.title") != "owned"
    assert window.run("return fetch('http://127.0.0.1:9/').catch(error => 'refused')") == "refused"
    refused = [line for line in window.console() if "Content Security Policy" in line]
    assert len(refused) >= 3


def test_hostile_names_are_only_text(window: Browser, hostile_page: Path):
    window.open(hostile_page)  # an alert would make the next command fail
    assert window.console() == []
    assert window.run("return document.title").startswith(HOSTILE[2])
    assert window.run("return document.querySelectorAll('img').length") == 0
    assert window.run("return document.scripts.length") == 1
    shown = window.run(
        "return Array.from(document.querySelectorAll('#columns tbody th'), "
        "th => th.title || th.textContent)"
    )
    assert len(shown) == len(HOSTILE) - 1
    assert set(shown) <= set(HOSTILE)


def test_the_table_sorts_and_filters(window: Browser, digits_page: Path):
    window.open(digits_page)
    names = (
        "return Array.from(document.querySelectorAll('#columns tbody tr:not([hidden]) th'), "
        "th => th.textContent)"
    )
    by_rank = window.run(names)
    window.run("document.querySelector('[data-key=name]').click()")
    by_name = window.run(names)
    assert by_name == sorted(by_rank, key=lambda name: int(name[1:]))
    assert by_name != by_rank
    window.run("document.querySelector('[data-key=name]').click()")
    assert window.run(names) == by_name[::-1]
    window.run(
        f"""const find = document.getElementById('find');
            find.value = '{by_rank[0].upper()}';
            find.dispatchEvent(new Event('input'));"""
    )
    assert by_rank[0] in window.run(names)
    assert all(by_rank[0] in name for name in window.run(names))


def test_scores_fall_at_the_first_click(window: Browser, digits_page: Path):
    window.open(digits_page)
    for key in ("score", "frequency"):
        values = (
            "return Array.from(document.querySelectorAll('#columns tbody tr'), "
            f"row => Number(row.dataset.{key}))"
        )
        click = f"document.querySelector('[data-key={key}]').click()"
        window.run(click)
        falling = window.run(values)
        assert falling == sorted(falling, reverse=True)
        header = f"return document.querySelector('[data-key={key}]').closest('th').ariaSort"
        assert window.run(header) == "descending"
        window.run(click)
        assert window.run(values) == sorted(falling)
    window.run("document.querySelector('[data-key=index]').click()")
    assert window.run(
        "return document.querySelector('[data-key=index]').closest('th').ariaSort"
    ) == ("ascending")


def find(window: Browser, text: str) -> tuple[list[str], str]:
    """What Find shows: the names of the rows, and what it says of them."""
    window.run(
        f"""const find = document.getElementById('find');
            find.value = {json.dumps(text)};
            find.dispatchEvent(new Event('input'));"""
    )
    names = window.run(
        "return Array.from(document.querySelectorAll('#columns tbody tr:not([hidden]) th'), "
        "th => th.title || th.firstChild.data)"
    )
    return names, window.run("return document.getElementById('found').textContent")


def test_find_reaches_columns_that_are_not_kept(window: Browser, digits_page: Path):
    window.open(digits_page)
    kept, said = find(window, "")
    assert (len(kept), said) == (16, "")
    names, said = find(window, "x")
    assert len(names) == 16 + 48
    assert set(names) == {f"x{j}" for j in range(64)}
    assert said == "16 kept, 48 not kept"
    missing = next(f"x{j}" for j in range(10, 64) if f"x{j}" not in kept)
    names, said = find(window, missing)
    assert (names, said) == ([missing], "0 kept, 1 not kept")
    cells = window.run(
        "return Array.from(document.querySelectorAll('#columns tr.other > *'), e => e.textContent)"
    )
    assert cells[1] == f"{missing} not kept"
    assert int(cells[0]) > 16
    assert "not kept" in cells
    heads = window.run("return document.querySelectorAll('#columns thead th').length")
    assert len(cells) == heads
    assert find(window, "")[0] == kept
    window.open(digits_page, width=375)
    find(window, missing)
    shown = window.run(
        "return Array.from(document.querySelectorAll('#columns tr.other > *'))"
        ".filter(e => e.offsetParent).map(e => e.innerText)"
    )
    assert any("not kept" in text for text in shown)


def test_find_shows_hostile_names_as_text(window: Browser, hostile_page: Path):
    window.open(hostile_page)
    names, _ = find(window, "")
    (other,) = set(HOSTILE) - set(names)
    assert other in find(window, other)[0]
    assert window.run("return document.querySelectorAll('img').length") == 0
    assert window.run("return document.scripts.length") == 1
    assert window.console() == []


@pytest.mark.parametrize("n_kept", [15, 16, 17, 18, 40])
def test_labels_of_knee_and_cut_do_not_overlap(window: Browser, tmp_path: Path, n_kept: int):
    spread = np.r_[np.full(17, 5.0), np.linspace(1.2, 0.5, 183)]
    X = np.resize([-1.0, 1.0], (50, 1)) * spread  # the knee is at 17
    page = report.selection(MaxVariance(n_kept).fit(X), X, n_subsamples=0)
    path = page.save(tmp_path / "page.html")
    for width in (375, 1280):
        window.open(path, width=width)
        boxes, lines = window.run(
            """const box = e => { const b = e.getBoundingClientRect();
                 return [b.left, b.top, b.right, b.bottom]; };
               const all = css => Array.from(document.querySelectorAll(css), box);
               return [all('text.mark-label'), all('line.mark')]"""
        )
        assert len(boxes) == len(lines) == (1 if n_kept == 17 else 2)
        if n_kept != 17:
            (left, top, right, bottom), (other_left, other_top, other_right, other_bottom) = boxes
            assert (
                bottom <= other_top + 1
                or other_bottom <= top + 1
                or right < other_left
                or other_right < left
            )
            assert abs(lines[0][0] - lines[1][0]) >= 1.5
        for left, _, right, _ in boxes:
            assert 0 < left < right < width


def test_long_names_are_whole_on_hover(window: Browser, tmp_path: Path):
    names = [f"{'a long and winding name of a column ' * 3}{j}" for j in range(6)]
    X = np.random.RandomState(0).normal(size=(40, 6))
    page = report.selection(MaxVariance(2).fit(X), X, feature_names=names, n_subsamples=0)
    window.open(page.save(tmp_path / "page.html"), width=375)
    cells = window.run(
        "return Array.from(document.querySelectorAll('#columns tbody th'), "
        "th => [th.textContent, th.title])"
    )
    assert len(cells) == 2
    for shown, whole in cells:
        assert whole in names
        assert len(shown) == 40
        assert shown[-1] == whole[-1]
    assert find(window, names[0])[0] == [names[0]]
    assert sorted(find(window, "winding")[0]) == names


@pytest.mark.parametrize("page", ["digits_page", "hostile_page"])
def test_readable_on_a_phone(window: Browser, page: str, request):
    window.open(request.getfixturevalue(page), width=375, height=700)
    across, room = window.run(
        "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]"
    )
    assert room == 375
    assert across <= room
    # A text in a figure is as large as its font times the scale of the figure.
    sizes = window.run(
        """const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
           const sizes = [];
           while (walker.nextNode()) {
             const owner = walker.currentNode.parentElement;
             if (!walker.currentNode.data.trim() || !owner.getClientRects().length) continue;
             if (owner.closest('title, script')) continue;
             const scale = owner.getScreenCTM ? owner.getScreenCTM().a : 1;
             sizes.push([parseFloat(getComputedStyle(owner).fontSize) * scale, owner.outerHTML]);
           }
           return sizes"""
    )
    assert len(sizes) > 50
    assert [text for size, text in sizes if size < 14] == []
    narrowest = window.run(
        """return Math.min(...Array.from(document.querySelectorAll('#columns tbody th'),
             name => name.getBoundingClientRect().width))"""
    )
    assert narrowest >= 90
    cut = window.run(
        """return Array.from(document.querySelectorAll('td, th, p, li, pre')).filter(e =>
             e.offsetParent && e.getBoundingClientRect().right > innerWidth).length"""
    )
    assert cut == 0


def _contrasts(window: Browser) -> list[tuple[float, str]]:
    """Contrast of every text with what is behind it, as WCAG has it."""
    return window.run(
        """const parse = text => (text.match(/[\\d.]+/g) || []).map(Number);
           const light = ([r, g, b]) => {
             const f = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
             return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
           };
           const over = (top, below) => {
             const alpha = top.length > 3 ? top[3] : 1;
             return [0, 1, 2].map(i => alpha * top[i] + (1 - alpha) * below[i]);
           };
           const behind = element => {
             if (!element) return [255, 255, 255];
             const colour = parse(getComputedStyle(element).backgroundColor);
             if (colour.length === 3) return colour;
             return over(colour, behind(element.parentElement));
           };
           const found = [];
           const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
           while (walker.nextNode()) {
             const owner = walker.currentNode.parentElement;
             if (!walker.currentNode.data.trim() || owner.closest('title, script')) continue;
             const style = getComputedStyle(owner);
             const ink = light(parse(owner.closest('svg') ? style.fill : style.color));
             const paper = light(behind(owner));
             const [high, low] = ink > paper ? [ink, paper] : [paper, ink];
             found.push([(high + 0.05) / (low + 0.05), owner.outerHTML.slice(0, 120)]);
           }
           return found"""
    )


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_contrast_and_colour_scheme(window: Browser, digits_page: Path, dark: bool):
    window.open(digits_page, dark=dark)
    background = window.run("return getComputedStyle(document.body).backgroundColor")
    brightness = np.mean([int(part) for part in background[4:-1].split(",")])
    assert brightness < 40 if dark else brightness > 230
    contrasts = _contrasts(window)
    assert len(contrasts) > 100
    assert [text for contrast, text in contrasts if contrast < 4.5] == []


def test_without_scripts_the_table_is_whole(window: Browser, digits_page: Path, tmp_path: Path):
    text = digits_page.read_text(encoding="utf-8")
    start, end = text.index("<script>"), text.index("</script>")
    bare = tmp_path / "bare.html"
    bare.write_text(text[:start] + text[end:], encoding="utf-8")
    window.open(bare)
    assert window.run("return document.querySelectorAll('#columns tbody tr').length") == 16
    assert window.run("return document.getElementById('find').offsetParent === null")


def test_in_a_notebook_frame(window: Browser, tmp_path: Path):
    X = np.random.RandomState(0).normal(size=(40, 6))
    page = report.selection(MaxVariance(2).fit(X), X)
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!DOCTYPE html><body>{page._repr_html_()}", encoding="utf-8")
    window.open(notebook)
    assert window.console() == []
    frame = window.driver.find_element("tag name", "iframe")
    window.driver.switch_to.frame(frame)
    try:
        assert window.run("return document.querySelector('h1').textContent") == "2 of 6 columns"
        assert not window.run("return document.querySelector('[data-key=name]').disabled")
    finally:
        window.driver.switch_to.default_content()
