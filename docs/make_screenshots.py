"""Draw the pictures of the report: light, dark and as on a phone.

Run from the root of the checkout, with Chromium and its driver installed::

    python docs/make_screenshots.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image
from sklearn.datasets import load_digits

from tamis import MRSF, report

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from browser.chromium import browser  # noqa: E402

SIZES = {"light": (1200, 3440), "dark": (1200, 3440), "phone": (390, 1600)}


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


def main() -> None:
    """Write docs/images/report_*.png."""
    with tempfile.TemporaryDirectory() as folder, browser() as window:
        page = digits_report().save(Path(folder) / "report.html")
        for name, (width, height) in SIZES.items():
            target = ROOT / "docs" / "images" / f"report_{name}.png"
            window.open(page, width=width, height=height, dark=name == "dark")
            window.picture(target)
            with_palette(Image.open(target).convert("RGB")).save(target, optimize=True)
            print(f"{target.relative_to(ROOT)}: {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
