"""Files: downloaded, checked, missed; against a server on this machine."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from pu_utils.data import store

NAME = "file.bin"
CONTENT = bytes(range(256)) * 2048
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Serves CONTENT as the server's ``script`` says, one word per request, "whole" at the end."""

    def do_GET(self):
        """Answer one request."""
        self.server.asked += 1
        word = self.server.script.pop(0) if self.server.script else "whole"
        if word == "gone":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        bodies = {"whole": CONTENT, "cut": CONTENT[:1000], "garbage": bytes(len(CONTENT))}
        self.wfile.write(bodies[word])

    def log_message(self, *arguments):
        """Be quiet."""


@pytest.fixture
def server():
    """A server on this machine whose next answers a test scripts."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.script, server.asked = [], 0
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def folder(tmp_path, monkeypatch, server):
    """A data folder that is not there yet, and a table with one file, which the server has."""
    monkeypatch.setenv("PU_DATA_DIR", str(tmp_path / "data"))
    file = store.DataFile(NAME, f"http://127.0.0.1:{server.server_port}/{NAME}", SHA256, "")
    homeless = file._replace(name="homeless", address="")
    monkeypatch.setattr(store, "FILES", {NAME: file, "homeless": homeless})
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None))
    return tmp_path / "data"


def test_downloads_once(folder, server):
    """A missing file is downloaded, whole and alone; a second fetch asks nobody."""
    for _ in range(2):
        path = store.fetch(NAME)
        assert path.read_bytes() == CONTENT
        assert [found.name for found in folder.iterdir()] == [NAME]
    assert server.asked == 1 and store.status(NAME) == "whole"


@pytest.mark.parametrize("accident", ["cut", "garbage", "gone"])
def test_an_accident_is_tried_again(accident, folder, server):
    """A connection that breaks, other bytes and an error of the server are forgiven twice."""
    server.script = [accident, accident]
    assert store.fetch(NAME).read_bytes() == CONTENT
    assert server.asked == 3


@pytest.mark.parametrize("accident", ["cut", "garbage", "gone"])
def test_a_download_that_fails_says_what_to_do(accident, folder, server):
    """The third accident is an error with file, address and remedy; nothing poses as the file."""
    server.script = [accident] * 3
    with pytest.raises(OSError, match=rf"{NAME} could not be .* http://.* try again, put it at "):
        store.fetch(NAME)
    assert not list(folder.iterdir())


def test_nobody_there(folder, monkeypatch):
    """Without a network the error names the file and where to put it."""
    nowhere = store.FILES[NAME]._replace(address="http://127.0.0.1:9/file.bin")
    monkeypatch.setitem(store.FILES, NAME, nowhere)
    with pytest.raises(OSError, match=f"{NAME} could not be fetched.*put it at {folder / NAME}"):
        store.fetch(NAME)


def test_file_without_public_home(folder):
    """Such a file is asked for."""
    with pytest.raises(FileNotFoundError, match=r"homeless is missing.*no public home yet: put it"):
        store.fetch("homeless")


@pytest.mark.parametrize(("name", "remedy"), [(NAME, "load again"), ("homeless", "put the right")])
def test_altered_file_stays(name, remedy, folder, server):
    """The error names the file and the remedy; what is in it is not lost."""
    folder.mkdir()
    (folder / name).write_bytes(CONTENT[:-1])
    assert store.status(name) == "altered"
    with pytest.raises(ValueError, match=f"{name} is not what it was.*move it and {remedy}"):
        store.fetch(name)
    assert (folder / name).read_bytes() == CONTENT[:-1] and server.asked == 0


def test_first_of_several_files(folder):
    """Of alternatives the one that is there is taken, else the last is downloaded."""
    assert store.fetch("homeless", NAME).name == NAME
    (folder / "homeless").write_bytes(CONTENT)
    assert store.fetch("homeless", NAME).name == "homeless"


def test_file_without_checksum(tmp_path):
    """It is named: nothing is downloaded that cannot be checked."""
    table = tmp_path / "files.csv"
    table.write_text(f"name,address,sha256,licence\na,,{SHA256},\nb,https://b.org/b,,CC0\n")
    with pytest.raises(ValueError, match=r"files\.csv lacks the sha256 of b"):
        store.read_files(table)


def test_folder_without_environment_variable(monkeypatch):
    """Without PU_DATA_DIR files are kept in the user's cache."""
    monkeypatch.delenv("PU_DATA_DIR", raising=False)
    assert store.data_dir().name == "pu_utils"
