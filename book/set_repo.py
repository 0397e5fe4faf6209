"""Put your repository's address in the place of this one in every file.

From the project's root: ``python3 book/set_repo.py https://github.com/OWNER/NAME``.
"""

import re
import subprocess
import sys
from pathlib import Path


def main(url):
    """Rewrite the address, and the folder that Colab changes to, in every tracked file."""
    old = re.search(r"(?m)^  url: (\S+)$", Path("_config.yml").read_text())[1]
    if not re.fullmatch(r"https://github\.com/[\w-]+/[\w.-]+(?<!\.git)", url):
        sys.exit(f"error: the address must read https://github.com/OWNER/NAME, not {url}")
    folders = [f"%cd -q {one.rsplit('/', 1)[-1]}/" for one in (old, url)]  # in notebooks, on Colab
    listed = subprocess.run(["git", "grep", "-zlIF", old], stdout=subprocess.PIPE, text=True).stdout
    for path in map(Path, listed.split("\0")[:-1]):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(old, url).replace(*folders), encoding="utf-8")
        print(f"changed {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
