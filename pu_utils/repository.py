"""The repository's address: kept in ``_config.yml``, repeated in badges, links and metadata."""

import re
from pathlib import Path

REPEATED_IN = ("README.md", "CITATION.cff", "pyproject.toml", "book/*.md", "notebooks/*.ipynb")
ADDRESS = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?")
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
    match = ADDRESS.fullmatch(url)
    if match is None:
        raise ValueError(f"url is {url!r}; it must read https://github.com/OWNER/NAME")
    old = ADDRESS.fullmatch(repository_url(root))[1]
    patterns = ("_config.yml", *REPEATED_IN)
    files = sorted(path for pattern in patterns for path in Path(root).glob(pattern))
    return [path for path in files if _replace(path, old, match[1])]


def _replace(path, old, new):
    """Replace ``old`` by ``new`` as a whole OWNER/NAME in one file; whether it changed."""
    text = path.read_text(encoding="utf-8")
    changed = re.sub(rf"(?<=/){re.escape(old)}(?![\w-])", new, text)
    if changed != text:
        path.write_text(changed, encoding="utf-8")
    return changed != text
