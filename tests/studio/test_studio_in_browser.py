"""The studio as a browser shows it; one browser and few studios for all of it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import load_digits

pytest.importorskip("selenium", reason="selenium drives the browser: install tamis[test]")
from browser.chromium import Browser, browser, programs
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from studio.conftest import HOSTILE

from tamis import io
from tamis.studio._server import Studio
from tamis.studio._session import Session
from tamis.studio._table import read_file, read_memory

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("rough_evidence")]


@pytest.fixture(scope="module")
def window():
    if programs() is None:
        pytest.skip("no chromium and chromedriver: run tests/browser/install as root")
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def messy(messy_csv, tmp_path_factory):
    """A studio on a messy file, named as from the folder that it is in."""
    studio = Studio(Session(lambda: read_file(messy_csv, messy_csv.name)))
    thread = studio.start()
    yield studio
    studio.stop()
    thread.join(10)


@pytest.fixture(scope="module")
def wide():
    """Ten thousand columns, ranked by a method that is quick."""
    X = np.random.RandomState(0).normal(size=(40, 10_000)).astype(np.float32)
    X *= np.linspace(2, 1, 10_000, dtype=np.float32)
    studio = Studio(Session(None))
    studio.session.open(lambda: read_memory(X))
    studio.session.worker.wait(0.01)
    thread = studio.start()
    yield studio
    studio.stop()
    thread.join(10)


def until(condition, what, seconds=30.0):
    """Wait for what a page will do."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited in vain for {what}")


def settled(window: Browser, studio: Studio):
    """Wait until the page shows what follows from the decisions."""
    studio.session.worker.wait(60)
    version = studio.session.version

    def shown():
        return window.run(
            "return document.body.dataset.settled === 'true' "
            f"&& Number(document.body.dataset.version) >= {version}"
        )

    until(shown, f"the page: {studio.session.error}")


def open_page(window: Browser, studio: Studio, **look):
    window.visit(studio.url, **look)
    settled(window, studio)


def text(window: Browser, selector: str) -> str:
    return window.run(f"return document.querySelector({json.dumps(selector)}).textContent")


def frames(window: Browser):
    """Wait until what was done is drawn."""
    window.run("return new Promise(done => setTimeout(() => requestAnimationFrame(done), 20))")


def rows(window: Browser) -> list[dict]:
    return window.run(
        """return [...document.querySelectorAll('#list .row:not([hidden])')]
             .sort((a, b) => a.place - b.place)
             .map(row => ({name: row.querySelector('.name').textContent,
                           kept: row.classList.contains('kept'),
                           about: row.querySelector('.about').textContent}))"""
    )


def press(window: Browser, *keys: str):
    ActionChains(window.driver).send_keys(*keys).perform()
    frames(window)


def click(window: Browser, selector: str):
    window.run(f"document.querySelector({json.dumps(selector)}).click()")


def quiet(window: Browser, studio: Studio):
    """Nothing on the console, and no request beyond the studio."""
    assert window.console() == []
    allowed = (studio.url, "data:", f"blob:http://127.0.0.1:{studio.port}/")
    assert [url for url in window.requests() if not url.startswith(allowed)] == []


def test_from_a_messy_file_to_code(window: Browser, messy: Studio, messy_csv, tmp_path):
    open_page(window, messy, height=1400)
    session = messy.session
    # The table as it was read.
    click(window, "#tab-table")
    assert "a name" not in text(window, "#notes")
    assert "semicolons" in text(window, "#notes")
    until(lambda: window.run("return document.querySelectorAll('#rows tbody tr').length"), "rows")
    types = text(window, "#types")
    for kind in ("an identifier", "dates", "categories", "yes or no", "numbers", "free text"):
        assert kind in types
    # Hostile names and cells are text.
    shown = text(window, "#rows")
    assert "<script>alert(" in shown
    assert all(name in shown for name in HOSTILE)
    assert window.run("return document.querySelectorAll('#rows b, #rows i, img').length") == 0
    assert window.run("return document.scripts.length") == 1
    # Slide: what is kept follows at once, and nobody is asked.
    click(window, "#tab-choose")
    before = window.run("return performance.getEntriesByType('resource').length")
    at_first = text(window, "#number-shown")
    window.run(
        """const slider = document.getElementById('slider');
           slider.value = 700;
           slider.dispatchEvent(new Event('input'));"""
    )
    until(lambda: text(window, "#number-shown") != at_first, "the number")
    wanted = int(text(window, "#number-shown").split()[0])
    until(lambda: sum(row["kept"] for row in rows(window)) == wanted, "the kept rows")
    asked = window.run("return performance.getEntriesByType('resource').map(e => e.name)")
    assert not [name for name in asked[before:] if "/data/" in name]
    until(lambda: session.decisions.number == wanted, "the decision")
    settled(window, messy)
    # Keep the last, drop the first, by the keyboard alone.
    window.run("document.getElementById('list').focus()")
    press(window, Keys.END)
    last = rows(window)[-1]["name"]
    names = session.table.names
    ranked = [row for row in rows(window) if "not chosen among" not in row["about"]]
    last = ranked[-1]["name"]
    steps = len(rows(window)) - len(ranked)
    press(window, *[Keys.ARROW_UP] * steps, "k")
    until(lambda: session.decisions.keep == (last,), "the kept column")
    settled(window, messy)
    press(window, Keys.HOME)
    first = session.result.chosen.kept()[0]
    while first == last:
        press(window, Keys.ARROW_DOWN)
        first = session.result.chosen.kept()[1]
    press(window, "d")
    until(lambda: session.decisions.drop == (first,), "the dropped column")
    settled(window, messy)
    kept = session.result.chosen.kept()
    assert len(kept) == wanted
    assert last in kept
    assert first not in kept
    shown = {row["name"] for row in rows(window) if row["kept"]}
    assert shown == set(kept)
    assert text(window, "#detail h3") in names
    # Compare.
    click(window, "#tab-compare")
    click(window, "#remember")
    until(lambda: session.remembered is not None, "the remembered selection")
    window.run(
        """for (const box of document.querySelectorAll('#method-boxes input'))
             box.checked = ['auto', 'max_variance'].includes(box.value);"""
    )
    click(window, "#compare")
    until(lambda: session.compared and len(session.compared["methods"]) == 2, "the methods")
    until(lambda: window.run("return document.querySelectorAll('.agreement td').length") == 5, "it")
    held = ActionChains(window.driver).key_down(Keys.CONTROL)
    held.send_keys("z").key_up(Keys.CONTROL).perform()
    until(lambda: session.decisions.drop == (), "undo")
    settled(window, messy)
    assert "Only remembered" in text(window, "#difference")
    click(window, "#redo")
    until(lambda: session.decisions.drop == (first,), "redo")
    settled(window, messy)
    # Take along: the command and the Python give the same columns.
    click(window, "#tab-take")
    command = until(lambda: text(window, "#command").strip(), "the command")
    code = until(lambda: text(window, "#python").strip(), "the code")
    assert "wait" not in command
    assert command.startswith("tamis select 'messy table.csv' -k")
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)[:-1], str(tmp_path / "small.csv")],
        cwd=messy_csv.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    written = io.read_columns(tmp_path / "small.csv").names
    aside = {"id", "note", "when"}
    assert set(written) - aside == set(kept) - aside
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}\nprint(*names, sep='\\n')"],
        cwd=messy_csv.parent,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert set(ran.stdout.splitlines()) == set(kept)
    exported = window.run(
        """const done = arguments[0];
           return (async () => {
             const told = {};
             const files = ['selected.csv', 'selected.parquet', 'selection.json', 'report.html'];
             for (const name of files)
               told[name] = (await (await fetch(`export/${name}`)).text()).length;
             return told;
           })()"""
    )
    assert min(exported.values()) > 500
    quiet(window, messy)


def test_pictures_and_their_files(window: Browser, serve):
    digits = load_digits()
    studio = serve(
        Session(lambda: read_memory(digits.data[:150], digits.target[:150], image_shape=(8, 8)))
    )
    open_page(window, studio)
    click(window, "#tab-pictures")
    until(
        lambda: window.run("return document.querySelectorAll('#planes svg.chart').length") == 2,
        "planes",
    )
    until(lambda: window.run("return document.querySelectorAll('#pixels svg').length"), "pixels")
    assert (
        window.run("return document.querySelectorAll('#map .chart, #correlations .cells').length")
        == 3
    )
    window.run(
        """const colour = document.getElementById('colour');
           colour.value = 'labels';
           colour.dispatchEvent(new Event('change'));"""
    )
    until(lambda: "coloured by the labels" in text(window, "#planes"), "labels as colours")
    window.run(
        """const colour = document.getElementById('colour');
           colour.value = 'column';
           colour.dispatchEvent(new Event('change'));
           const column = document.getElementById('colour-column');
           column.value = 'x20';
           column.dispatchEvent(new Event('change'));"""
    )
    until(lambda: "coloured by x20" in text(window, "#planes"), "a column as colours")
    sizes = window.run(
        """return (async () => {
             const { picture } = await import(new URL('asset/exports.js', location));
             const svg = document.querySelector('#map svg.chart');
             const drawn = await picture(svg, 'svg'), image = await picture(svg, 'png');
             const bytes = new Uint8Array(await image.arrayBuffer());
             return [await drawn.text(), image.type, bytes.length, [...bytes.slice(1, 4)]];
           })()"""
    )
    assert sizes[0].startswith("<svg xmlns=")
    assert "class=" not in sizes[0]
    assert sizes[1] == "image/png"
    assert sizes[2] > 5000
    assert bytes(sizes[3]) == b"PNG"
    quiet(window, studio)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_on_a_phone_light_and_dark(window: Browser, messy: Studio, dark: bool):
    open_page(window, messy, width=375, height=720, dark=dark)
    background = window.run("return getComputedStyle(document.body).backgroundColor")
    brightness = np.mean([int(part) for part in background[4:-1].split(",")])
    assert brightness < 40 if dark else brightness > 230
    for tab in ("choose", "table", "pictures", "compare", "take"):
        click(window, f"#tab-{tab}")
        across = window.run("return document.documentElement.scrollWidth")
        assert across <= 375, tab
    click(window, "#tab-choose")
    narrowest = window.run(
        """return Math.min(...[...document.querySelectorAll('#list .row:not([hidden]) .name')]
             .map(name => name.getBoundingClientRect().width))"""
    )
    assert narrowest > 90
    quiet(window, messy)


def test_by_the_keyboard_alone(window: Browser, messy: Studio):
    open_page(window, messy)
    session = messy.session
    press(window, Keys.TAB, Keys.ENTER)  # the link past the top
    for _ in range(6):
        press(window, Keys.TAB)
        if window.run("return document.activeElement.getAttribute('role')") == "tab":
            break
    assert window.run("return document.activeElement.id") == "tab-choose"
    press(window, Keys.ARROW_RIGHT)
    assert window.run("return document.getElementById('view-table').hidden") is False
    press(window, Keys.ARROW_LEFT)
    window.run("document.activeElement.blur()")
    press(window, "/")
    assert window.run("return document.activeElement.id") == "find"
    press(window, "m1")
    until(lambda: [row["name"] for row in rows(window)] == ["m1"], "the found column")
    press(window, Keys.ESCAPE)
    until(lambda: len(rows(window)) > 5, "all columns")
    number = session.result.chosen.number
    window.run("document.getElementById('slider').focus()")
    press(window, Keys.ARROW_LEFT if number > 2 else Keys.ARROW_RIGHT)
    wanted = number - 1 if number > 2 else number + 1
    until(lambda: session.decisions.number == wanted, "one column fewer or more")
    settled(window, messy)
    quiet(window, messy)


def test_two_pages_show_the_same(window: Browser, messy: Studio):
    open_page(window, messy)
    first = window.driver.current_window_handle
    window.driver.switch_to.new_window("tab")
    try:
        window.driver.get(messy.url)
        settled(window, messy)
        window.run(
            """const method = document.getElementById('method');
               method.value = 'max_variance';
               method.dispatchEvent(new Event('change'));"""
        )
        until(lambda: messy.session.decisions.method == "max_variance", "the method")
        messy.session.worker.wait(60)
    finally:
        window.driver.close()
        window.driver.switch_to.window(first)
    settled(window, messy)
    assert window.run("return document.getElementById('method').value") == "max_variance"


def test_ten_thousand_columns(window: Browser, wide: Studio):
    window.visit(wide.url)
    session = wide.session
    until(lambda: session.table is not None, "the table")
    from tamis.studio import _actions as actions

    actions.act(session, {"do": "method", "method": "max_variance"})
    until(
        lambda: session.result and session.result.chosen.decisions.method == "max_variance", "ranks"
    )
    until(lambda: "of 10,000" in text(window, "#number-shown"), "the page")
    until(lambda: len(rows(window)) > 5, "rows")
    # Only what is in sight is there.
    assert window.run("return document.querySelectorAll('#list .row').length") < 40
    before = window.run("return performance.getEntriesByType('resource').length")
    counted = window.run(
        """return (async () => {
             const slider = document.getElementById('slider');
             const shown = new Set();
             for (let at = 300; at < 900; at += 20) {
               slider.value = at;
               slider.dispatchEvent(new Event('input'));
               await new Promise(requestAnimationFrame);
               shown.add(document.getElementById('number-shown').textContent);
             }
             return shown.size;
           })()"""
    )
    assert counted > 25  # a number per frame
    asked = window.run("return performance.getEntriesByType('resource').map(e => e.name)")
    assert not [name for name in asked[before:] if "/data/ranking" in name or "act" in name]
    window.run("const list = document.getElementById('list'); list.focus();")
    press(window, Keys.END)
    until(lambda: any(row["name"] for row in rows(window)), "the end")
    session.cancel()
    assert window.console() == []
