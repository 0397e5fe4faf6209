"""Files: downloaded, resumed, checked, set aside, shared; against a server on this machine."""

import contextlib
import hashlib
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from data_files import READ_ONLY

from pu_utils.data import store

NAME = "file.bin"
CONTENT = bytes(range(256)) * 2048  # 8 blocks of a download
CHECKSUM = "sha256:" + hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Serves CONTENT as the server's ``script`` says, one word per request, "whole" at the end."""

    def do_GET(self):
        """Answer one request."""
        server = self.server
        asked = self.headers["Range"]
        server.asked.append(asked)
        word = server.script.pop(0) if server.script else "whole"
        if word == "drip":
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):  # the client has had enough
                for _ in range(100):
                    self.wfile.write(CONTENT[: 1 << 16])
                    time.sleep(0.05)
            return
        if word == "gone":
            self.send_error(404)
            return
        start = 0 if word == "no ranges" else int(asked.removeprefix("bytes=").removesuffix("-"))
        if start >= len(CONTENT):
            self.send_error(416)
            return
        body = CONTENT[start:] if word != "garbage" else b"not what you wanted"
        if word == "endless":
            body = bytes(3 << 19)
        self.send_response(206 if start else 200)
        if start:
            first = 0 if word == "elsewhere" else start
            self.send_header("Content-Range", f"bytes {first}-{len(CONTENT) - 1}/{len(CONTENT)}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if word == "cut" else body)
        if word == "slow":
            time.sleep(0.2)

    def log_message(self, *arguments):
        """Be quiet."""


@pytest.fixture
def server():
    """A server on this machine whose next answers a test scripts."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.script, server.asked = [], []
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        server.url = f"http://127.0.0.1:{server.server_port}/{NAME}"
        yield server
        server.shutdown()


@pytest.fixture
def folder(tmp_path, monkeypatch, server):
    """An empty data folder, and a registry with one file, which the server has."""
    folder = tmp_path / "data"
    monkeypatch.setenv("PU_DATA_DIR", str(folder))
    monkeypatch.setattr(store, "FILES", {NAME: store.DataFile(NAME, server.url, CHECKSUM, 0.5, "")})
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None))
    return folder


@pytest.fixture
def read_only(folder):
    """Make the data folder read-only from now on."""
    folder.mkdir()

    def now():
        READ_ONLY.append(folder)
        return folder

    yield now
    READ_ONLY.clear()


def names(folder):
    """What lies in the folder."""
    return sorted(path.name for path in folder.iterdir())


def test_downloads_once(folder, server):
    """A missing file is downloaded, whole and alone; a second fetch asks nobody."""
    path = store.fetch(NAME)
    assert path.read_bytes() == CONTENT
    assert names(folder) == [NAME]
    assert store.fetch(NAME) == path
    assert len(server.asked) == 1


def test_interrupted_download_goes_on(folder, server):
    """After a cut connection the retry asks only for the rest."""
    server.script = ["cut"]
    assert store.fetch(NAME).read_bytes() == CONTENT
    assert server.asked == ["bytes=0-", f"bytes={len(CONTENT) // 2}-"]
    assert names(folder) == [NAME]


def test_next_process_goes_on(folder, server):
    """Two cuts fail the fetch and keep what came; the next fetch asks for the rest."""
    server.script = ["cut", "cut"]
    with pytest.raises(store.DownloadError):
        store.fetch(NAME)
    assert store.fetch(NAME).read_bytes() == CONTENT
    assert server.asked[-1] == f"bytes={len(CONTENT) * 3 // 4}-"


def test_server_that_sends_another_part(folder, server):
    """A part that is not the one asked for is not appended; the next attempt begins anew."""
    server.script = ["cut", "elsewhere"]
    with pytest.raises(store.DownloadError, match="another part"):
        store.fetch(NAME)
    assert names(folder) == []
    assert store.fetch(NAME).read_bytes() == CONTENT


def test_download_that_is_larger_than_declared(folder, server):
    """No disk is filled by a server that does not stop."""
    server.script = ["endless", "endless"]
    with pytest.raises(store.DownloadError, match=r"larger than 1\.5 MB"):
        store.fetch(NAME)
    assert names(folder) == []


def test_download_that_does_not_end(folder, server, monkeypatch):
    """Bytes that drip in now and then do not keep a download alive for ever."""
    monkeypatch.setattr(store, "ABANDONED", -1000)
    monkeypatch.setattr(store, "SLOWEST", 2000)
    server.script = ["drip", "drip"]
    with pytest.raises(store.DownloadError, match="too slowly"):
        store.fetch(NAME)


@pytest.mark.parametrize("kind", [os.symlink, os.link])
def test_planted_partial_file_is_not_followed(kind, folder, server):
    """A link in the place of an abandoned download leads nobody to write elsewhere."""
    folder.mkdir()
    victim = folder.parent / "victim"
    victim.write_bytes(b"mine")
    os.utime(victim, (0, 0))
    kind(victim, folder / f"{NAME}.planted.part")
    assert store.fetch(NAME).read_bytes() == CONTENT
    assert victim.read_bytes() == b"mine"


def test_server_without_ranges(folder, server):
    """Where a server sends the whole again, the partial file is begun anew."""
    server.script = ["cut", "no ranges"]
    assert store.fetch(NAME).read_bytes() == CONTENT


def test_partial_file_that_is_complete(folder, server):
    """A partial file that lacks nothing is checked and taken."""
    folder.mkdir()
    part = folder / f"{NAME}.left.part"
    part.write_bytes(CONTENT)
    os.utime(part, (0, 0))
    assert store.fetch(NAME).read_bytes() == CONTENT
    assert server.asked == [f"bytes={len(CONTENT)}-"]


def test_partial_file_of_a_living_process_is_left_alone(folder, server):
    """A partial file that was written a moment ago belongs to somebody else."""
    folder.mkdir()
    other = folder / f"{NAME}.other.part"
    other.write_bytes(b"half")
    assert store.fetch(NAME).read_bytes() == CONTENT
    assert other.read_bytes() == b"half"


def test_altered_file_is_set_aside_and_replaced(folder, server):
    """A file with a wrong checksum is kept as .bad, and the right one is downloaded."""
    folder.mkdir()
    (folder / NAME).write_bytes(b"altered")
    with pytest.warns(UserWarning, match=f"{NAME} is not the file it should be"):
        assert store.fetch(NAME).read_bytes() == CONTENT
    assert (folder / f"{NAME}.bad").read_bytes() == b"altered"


def test_truncated_file_is_set_aside_and_replaced(folder, server):
    """A file that lost its end counts as altered; an older .bad is not overwritten."""
    folder.mkdir()
    (folder / f"{NAME}.bad").write_bytes(b"older")
    (folder / NAME).write_bytes(CONTENT[:-1])
    with pytest.warns(UserWarning, match="set aside as file.bin.bad2"):
        assert store.fetch(NAME).read_bytes() == CONTENT
    assert names(folder) == [NAME, f"{NAME}.bad", f"{NAME}.bad2"]


def test_bad_download_is_tried_once_more(folder, server):
    """A download with a wrong checksum is set aside, and the second one is taken."""
    server.script = ["garbage"]
    assert store.fetch(NAME).read_bytes() == CONTENT
    assert (folder / f"{NAME}.bad").read_bytes() == b"not what you wanted"


def test_bad_download_twice_is_an_error(folder, server):
    """After two bad downloads the error names the file and its checksum; nothing poses as it."""
    server.script = ["garbage", "garbage"]
    with pytest.raises(store.ChecksumError, match=f"{NAME}.*does not match {CHECKSUM}"):
        store.fetch(NAME)
    assert len(server.asked) == 2
    assert names(folder) == [f"{NAME}.bad", f"{NAME}.bad2"]


def test_no_network(folder, monkeypatch):
    """With nobody there the error says which file to put where."""
    file = store.DataFile(NAME, "http://127.0.0.1:9/file.bin", CHECKSUM, 0.5, "")
    monkeypatch.setitem(store.FILES, NAME, file)
    with pytest.raises(store.DownloadError, match=f"{NAME} is missing.*put it at {folder / NAME}"):
        store.fetch(NAME)


def test_server_does_not_have_it(folder, server):
    """A 404 is a download error with its reason, not an empty file."""
    server.script = ["gone", "gone"]
    with pytest.raises(store.DownloadError, match="404"):
        store.fetch(NAME)
    assert names(folder) == []


def test_file_without_public_home(folder, monkeypatch):
    """Such a file is asked for if missing, and set aside if altered."""
    monkeypatch.setitem(store.FILES, NAME, store.DataFile(NAME, None, CHECKSUM, 0.5, ""))
    with pytest.raises(store.DownloadError, match="no public home: put it at"):
        store.fetch(NAME)
    folder.mkdir()
    (folder / NAME).write_bytes(b"altered")
    with pytest.raises(store.ChecksumError, match="put the right file there"):
        store.fetch(NAME)
    assert names(folder) == [f"{NAME}.bad"]


def test_read_only_folder_can_be_read(read_only):
    """A whole file in a read-only folder is used."""
    (store.data_dir() / NAME).write_bytes(CONTENT)
    read_only()
    assert store.fetch(NAME).read_bytes() == CONTENT


def test_read_only_folder_with_an_altered_file(read_only):
    """An altered file that cannot be set aside is named, and stays."""
    (store.data_dir() / NAME).write_bytes(b"altered")
    folder = read_only()
    with pytest.raises(store.ChecksumError, match=r"could not be set aside.*PU_DATA_DIR"):
        store.fetch(NAME)
    assert names(folder) == [NAME]


def test_read_only_folder_without_the_file(read_only):
    """A file that cannot be written says so and names the way out."""
    read_only()
    with pytest.raises(store.DownloadError, match="PU_DATA_DIR to a writable folder"):
        store.fetch(NAME)


def test_two_processes_at_once(folder, server):
    """Two processes that fetch the same file both get it whole, and nothing else is left."""
    server.script = ["slow", "slow"]
    program = (
        "from pu_utils.data import store;"
        f"store.FILES = {{{NAME!r}: store.{store.FILES[NAME]!r}}};"
        f"print(len(store.fetch({NAME!r}).read_bytes()))"
    )
    command = [sys.executable, "-c", program]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0].strip() for process in processes] == [str(len(CONTENT))] * 2
    assert [process.returncode for process in processes] == [0, 0]
    assert names(folder) == [NAME]


def test_altered_file_that_another_process_set_aside(folder):
    """Setting aside a file that is gone by now is no error."""
    folder.mkdir()
    assert "set aside" in store.set_aside(folder / NAME, "was altered")


def test_first_of_several_files(folder, server, monkeypatch):
    """Of alternatives the one that is there is taken, else the last is downloaded."""
    local = store.DataFile("local.bin", None, CHECKSUM, 0.5, "")
    monkeypatch.setitem(store.FILES, "local.bin", local)
    assert store.fetch_first("local.bin", NAME).name == NAME
    (folder / "local.bin").write_bytes(CONTENT)
    assert store.fetch_first("local.bin", NAME).name == "local.bin"


def test_file_of_unknown_checksum(folder, monkeypatch):
    """Without a known checksum a file is taken as it is, and called unchecked."""
    folder.mkdir()
    monkeypatch.setitem(store.FILES, NAME, store.DataFile(NAME, None, None, 0.5, ""))
    (folder / NAME).write_bytes(b"anything")
    assert store.status(NAME) == "unchecked"
    assert store.fetch(NAME).read_bytes() == b"anything"


def test_folder_without_environment_variable(monkeypatch):
    """Without PU_DATA_DIR files are kept in the user's cache."""
    monkeypatch.delenv("PU_DATA_DIR", raising=False)
    assert store.data_dir().name == "pu_utils"


def test_registry_is_complete():
    """Every file has a checksum or says that none is known, and downloads use checksums but one."""
    unknown = [name for name, file in store.FILES.items() if file.checksum is None]
    assert unknown == ["cdc_diabetes_uci_891.csv"]
    assert all(name == file.name for name, file in store.FILES.items())
