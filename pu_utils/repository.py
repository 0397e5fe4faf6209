"""The repository's address: kept in ``_config.yml``, repeated in badges, links and metadata."""

import re
from pathlib import Path

REPEATED_IN = ("README.md", "CITATION.cff", "pyproject.toml", "book/*.md", "notebooks/*.ipynb")
# OWNER/NAME as GitHub allows them, without what could be taken for an end of the address
ADDRESS = re.compile(
    r"https://github\.com/([A-Za-z0-9-]+/[\w.-]*[\w-])(?<!\.git)(?:\.git)?/?", re.ASCII
)
IN_CONFIG = re.compile(r"^  url: (\S+)$", re.MULTILINE)


def repository_url(root="."):
    """Address of the repository as ``_config.yml`` has it.

    Parameters
    ----------
    root : path
        Top folder of the repository.
    """
    config = Path(root) / "_config.yml"
    if not config.is_file():
        raise ValueError(f"{config} not found; run this command at the top of the repository")
    found = IN_CONFIG.search(config.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{config} has no line '  url: ...'; put the repository's address there")
    return found[1]


def set_repository(url, root="."):
    """Put ``url`` in the place of the repository's address wherever it stands.

    Everything is read before anything is written, and ``_config.yml``, which tells the old address,
    is written last: after any accident the same command completes the work.

    Parameters
    ----------
    url : str
        New address, ``https://github.com/OWNER/NAME`` (Colab opens notebooks from GitHub only).
    root : path
        Top folder of the repository.

    Returns
    -------
    list of Path
        The files that were changed.
    """
    old, new = _owner_and_name(repository_url(root)), _owner_and_name(url)
    patterns = (*REPEATED_IN, "_config.yml")
    files = [path for pattern in patterns for path in sorted(Path(root).glob(pattern))]
    texts = {path: path.read_bytes().decode() for path in files}
    changed = {path: _replaced(text, old, new) for path, text in texts.items()}
    changed = {path: text for path, text in changed.items() if text != texts[path]}
    for path, text in changed.items():
        if _replaced(text, new, old) != texts[path]:
            raise ValueError(
                f"url is {url!r}, but {path} holds {new!r} already, so that there would be no way "
                "back; choose another name"
            )
    for path, text in changed.items():
        path.write_bytes(text.encode())
    return list(changed)


def _owner_and_name(url):
    match = ADDRESS.fullmatch(url)
    if match is None:
        raise ValueError(f"url is {url!r}; it must read https://github.com/OWNER/NAME")
    return match[1]


def _replaced(text, old, new):
    """``text`` with ``new`` for ``old`` as a whole OWNER/NAME or as a clone's folder."""
    text = re.sub(rf"(?<=/){re.escape(old)}(?![\w-])", new, text)
    folder, new_folder = (name.split("/")[1] for name in (old, new))
    return text.replace(f"%cd -q {folder}/notebooks", f"%cd -q {new_folder}/notebooks")
