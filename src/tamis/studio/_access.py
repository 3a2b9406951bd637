"""Who may ask the local server: this computer alone, and whoever knows the address."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Collection
from typing import Any

HOST = "127.0.0.1"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def hosts_of(port: int) -> set[str]:
    """The names by which a page of ours asks."""
    return {f"{HOST}:{port}", f"localhost:{port}"}


def refused(scope: Any, hosts: Collection[str], start: str) -> tuple[str, int] | None:
    """Why a request is refused, with the status; None for one that may be answered.

    Parameters
    ----------
    scope : mapping
        The request, as ASGI has it.
    hosts : collection of str
        The names by which a page of ours asks.
    start : str
        How the path begins: the token that whoever knows the address knows.
    """
    headers = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in scope["headers"]]
    asked = [value for key, value in headers if key == "host"]
    origins = [value for key, value in headers if key == "origin"]
    if len(asked) != 1 or asked[0] not in hosts:
        return "this address belongs to no page of ours.", 421
    sites = [value for key, value in headers if key == "sec-fetch-site"]
    if any(site not in ("same-origin", "none") for site in sites):
        return "another page must not ask this.", 403
    if any(origin != f"http://{asked[0]}" for origin in origins):
        return "another page must not ask this.", 403
    if scope["method"] not in ("GET", "HEAD") and not origins:
        return "only the page itself may ask this.", 403
    if not secrets.compare_digest(scope["path"][: len(start)].encode(), start.encode()):
        return "the address lacks its token; open the one that was printed.", 404
    return None


def listening(port: int) -> socket.socket:
    """A socket of this machine alone."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOST, port))
        made.listen(128)
    except OSError:
        made.close()
        raise
    return made
