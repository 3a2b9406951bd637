"""Draw the pictures of the report and of the studio: light, dark and as on a phone.

Run from the root of the checkout, with Chromium and its driver installed::

    python docs/make_screenshots.py
    python docs/make_screenshots.py studio
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from PIL import Image
from sklearn.datasets import load_breast_cancer, load_digits

from tamis import MRSF, report, studio

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from browser.chromium import Browser, browser  # noqa: E402

SIZES = {"light": (1200, 3440), "dark": (1200, 3440), "phone": (390, 1600)}
STUDIO_SIZES = {"light": (1240, 1180), "dark": (1240, 1180), "phone": (390, 1180)}


def digits_report() -> report.Report:
    """The report on sixteen pixels of handwritten digits."""
    digits = load_digits(as_frame=True)
    selector = MRSF(16, n_clusters=10).fit(digits.data)
    return report.selection(
        selector,
        digits.data,
        labels=digits.target,
        image_shape=(8, 8),
        title="Sixteen of 64 pixels of handwritten digits",
    )


def with_palette(picture: Image.Image) -> Image.Image:
    """The picture in 256 colours, a third of the file: areas keep theirs, only edges change."""
    counts = picture.getcolors(picture.width * picture.height)
    commonest = [colour for _, colour in sorted(counts, reverse=True)[:160]]
    spread = picture.quantize(96, Image.Quantize.MAXCOVERAGE).getpalette()[: 3 * 96]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in commonest for part in colour] + spread)
    return picture.quantize(palette=palette, dither=Image.Dither.NONE)


def small(target: Path) -> None:
    """Make a picture small, and say how small."""
    with_palette(Image.open(target).convert("RGB")).save(target, optimize=True)
    print(f"{target.relative_to(ROOT)}: {target.stat().st_size / 1000:.0f} kB")


def draw_report(window: Browser) -> None:
    """Write docs/images/report_*.png."""
    with tempfile.TemporaryDirectory() as folder:
        page = digits_report().save(Path(folder) / "report.html")
        for name, (width, height) in SIZES.items():
            target = ROOT / "docs" / "images" / f"report_{name}.png"
            window.open(page, width=width, height=height, dark=name == "dark")
            window.picture(target)
            small(target)


def draw_studio(window: Browser) -> None:
    """Write docs/images/studio_*.png: tumours, one measurement kept, one chosen in the list."""
    X = load_breast_cancer(as_frame=True).data
    running = studio.open(X, browser=False)
    running.wait()
    window.visit(running.url)
    window.run("return new Promise(done => setTimeout(done, 1500))")
    for name, (width, height) in STUDIO_SIZES.items():
        window.look(width=width, height=height, dark=name == "dark")
        window.run("document.querySelector('#list .row').click()")
        if name == "phone":
            window.run("document.querySelector('.list-card').scrollIntoView()")
        time.sleep(1.5)
        target = ROOT / "docs" / "images" / f"studio_{name}.png"
        window.picture(target)
        small(target)
    running.close()


def main() -> None:
    """Draw what is named, the report or the studio; without a name both."""
    drawn = {"report": draw_report, "studio": draw_studio}
    with browser() as window:
        for name in sys.argv[1:] or drawn:
            drawn[name](window)


if __name__ == "__main__":
    main()
