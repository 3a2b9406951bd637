"""A headless Chromium that reports what a page does."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)


def programs() -> tuple[str, str] | None:
    """Where Chromium and its driver are, or None if one is missing."""
    found = shutil.which("chromium"), shutil.which("chromedriver")
    return (found[0], found[1]) if found[0] and found[1] else None


@contextmanager
def browser() -> Iterator[Browser]:
    """A Chromium with an empty profile of its own."""
    found = programs()
    assert found, "chromium and chromedriver are missing; run tests/browser/install"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = Options()
        options.binary_location = found[0]
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(found[1]))
        try:
            yield Browser(driver)
        finally:
            driver.quit()


class Browser:
    """Opens pages and says what they look like and what they do."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Open a file at a width, with a colour scheme; earlier logs are dropped."""
        self.visit(path.resolve().as_uri(), width=width, height=height, dark=dark)

    def visit(
        self, address: str, *, width: int = 1280, height: int = 900, dark: bool = False
    ) -> None:
        """Open an address likewise."""
        self.look(width=width, height=height, dark=dark)
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)
        self.driver.get(address)

    def look(self, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Change the size of the window and the colour scheme."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def run(self, script: str) -> Any:
        """The value of a script in the page."""
        return self.driver.execute_script(script)

    def console(self) -> list[str]:
        """What the console has said since the page was opened."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """The addresses that were asked for since the page was opened."""
        events = (json.loads(entry["message"])["message"] for entry in self._performance())
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def _performance(self) -> list[dict[str, Any]]:
        return self.driver.get_log("performance")

    def picture(self, path: Path) -> None:
        """Save the visible part of the page as PNG."""
        self.driver.save_screenshot(str(path))
