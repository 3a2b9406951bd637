"""Sets that scikit-learn carries, and sets that are made of others."""

from __future__ import annotations

from tamis.datasets.recipes import classes, noise_columns, pooled_images
from tamis.datasets.records import Entry

__all__ = ["BUNDLED", "DERIVED", "RESEARCH_USE", "UCI_LICENCE"]

UCI_LICENCE = "UCI, CC BY 4.0"
RESEARCH_USE = "research use; see source"
_M3FS = ("m3fs",)

BUNDLED = (
    Entry(
        "iris",
        150,
        4,
        3,
        "table",
        source="scikit-learn",
        licence=UCI_LICENCE,
        sha256="ae721e886c58e4cf6f5bf2e0f8202010b47e60aded9fa84ecce813d6b563854b",
    ),
    Entry(
        "digits",
        1797,
        64,
        10,
        "image",
        image_shape=(8, 8),
        source="scikit-learn",
        licence=UCI_LICENCE,
        sha256="817eab20ee76ddc3ecf92186c255ec39380a3966d241c71435510ee0ecf0527c",
        note="the test part of the UCI set",
    ),
    Entry(
        "wine",
        178,
        13,
        3,
        "table",
        source="scikit-learn",
        licence=UCI_LICENCE,
        sha256="055439d061c0c07061e3b7ae487828626542a189d3d6228af05dc8ddd5069f7b",
    ),
    Entry(
        "breast_cancer",
        569,
        30,
        2,
        "table",
        source="scikit-learn",
        licence=UCI_LICENCE,
        sha256="53f46f52d5cb056066ceb6562a17ad0d69184da23de3b1f77bcd5b5987149a2a",
    ),
)


def _digits(name: str, n_samples: int, digits: tuple[int, ...], sha256: str) -> Entry:
    about = f"digits {', '.join(map(str, digits))} of digits"
    return Entry(
        name,
        n_samples,
        64,
        len(digits),
        "image",
        image_shape=(8, 8),
        papers=_M3FS,
        source="made of digits",
        licence=UCI_LICENCE,
        sha256=sha256,
        recipe=classes("digits", digits, about),
        note=about,
    )


DERIVED = (
    _digits(
        "digits1v7", 361, (1, 7), "03c3b75463d748acdcddd85e308b5d9cf7a471792ef9f29a0814eaaec9939c76"
    ),
    _digits(
        "digits2v7", 356, (2, 7), "68590fcea3945f73426afa42c608de0bbdf58cd5d9081425886cc394f09e22d7"
    ),
    _digits(
        "digits0689",
        713,
        (0, 6, 8, 9),
        "075d7cf1089c7b4f00bf5a6ac6caefba76d91ced5e8d41ee633edfe16e15b932",
    ),
    _digits(
        "digits1279",
        718,
        (1, 2, 7, 9),
        "679e3ee64ba8a73e72ad337d12ba36537d4c55608cee0835713b1b0cd06f54ad",
    ),
    Entry(
        "letter_ab",
        1555,
        16,
        2,
        "table",
        papers=_M3FS,
        source="made of letter",
        licence=UCI_LICENCE,
        sha256="6ec2f834b970867518958c778f632f88a7add22a2985cfd36ed2d972a376cbd9",
        recipe=classes("letter", (0, 1), "letters A and B of letter"),
        note="letters A and B of letter",
    ),
    Entry(
        "letter_abcd",
        3096,
        16,
        4,
        "table",
        papers=_M3FS,
        source="made of letter",
        licence=UCI_LICENCE,
        sha256="077edeee699ba759caefb3af3e2c26cd37bcbdbc6764eed02dfea3bc5baa8e9a",
        recipe=classes("letter", (0, 1, 2, 3), "letters A to D of letter"),
        note="letters A to D of letter",
    ),
    Entry(
        "satellite_12",
        2236,
        36,
        2,
        "table",
        papers=_M3FS,
        source="made of satellite",
        licence=UCI_LICENCE,
        sha256="832c9fff1fef73e7d044422acccd336c432cd99a5e4b6b2855fa359b5379543f",
        recipe=classes("satellite", (0, 1), "the source's classes 1 and 2 of satellite"),
        note="the source's classes 1 and 2 of satellite",
    ),
    Entry(
        "mnist_0123",
        28911,
        196,
        4,
        "image",
        image_shape=(14, 14),
        papers=_M3FS,
        source="made of mnist",
        licence="as mnist",
        sha256="6e14c3e927531ad67f0aabf3108f3e477dfc9ad8ec9a2b6006ea7e1694710ee3",
        recipe=pooled_images(
            "mnist", (0, 1, 2, 3), 28, "digits 0 to 3 of mnist, means over 2 × 2 pixels"
        ),
        note="digits 0 to 3 of mnist, means over 2 × 2 pixels; the paper calls it mnist01234, but "
        "its 28911 samples are those of four digits",
    ),
    Entry(
        "iris_noise",
        150,
        14,
        3,
        "table",
        papers=_M3FS,
        source="made of iris",
        licence=UCI_LICENCE,
        sha256="a405ac642f0efa4d99ca4773eb33e036e55e34be9dd1ead2c4febc66610ca98b",
        recipe=noise_columns("iris", 10, 0, "iris and ten columns of N(0, 1) noise, seed 0"),
        note="iris and ten columns of N(0, 1) noise, seed 0; the paper's draw is not published",
    ),
)
