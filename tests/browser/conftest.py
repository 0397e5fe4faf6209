"""A server for the built book and a browser to look at it with."""

import functools
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

HTML = Path(__file__).parents[2] / "_build" / "html"
DESKTOP, TELEPHONE = 1400, 390  # width of the window
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class QuietHandler(SimpleHTTPRequestHandler):
    """Serve files without a line per request."""

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address():
    """Address of a local server for the built book."""
    handler = functools.partial(QuietHandler, directory=HTML)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    executable = next(filter(None, map(shutil.which, names)), None)
    assert executable, "install Chromium (Debian: apt-get install chromium) or Chrome"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, address):
    """Open a page at a width; returns it with everything that went wrong while loading."""
    contexts = []

    def open_page(name, width, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page, troubles = context.new_page(), []
        page.on("console", lambda m: m.type == "error" and troubles.append(f"console: {m.text}"))
        page.on("pageerror", lambda error: troubles.append(f"script: {error}"))
        page.on("requestfailed", lambda r: troubles.append(f"failed: {r.url}"))
        page.on(
            "request",
            lambda r: (
                r.url.startswith((address, "data:", "blob:"))
                or troubles.append(f"external: {r.url}")
            ),
        )
        page.on("response", lambda r: r.status >= 400 and troubles.append(f"{r.status}: {r.url}"))
        page.goto(f"{address}/{name}", wait_until="networkidle")
        page.evaluate("() => window.MathJax?.startup?.promise")
        return page, troubles

    yield open_page
    for context in contexts:
        context.close()
