# SPDX-License-Identifier: MIT
"""What is in this course, as all checks read it: files, headers, tables."""
import os
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

HANDOUT = os.path.exists("HANDOUT")
# As in course/lib.sh: git reads a checkout whoever owns it.
os.environ |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}


def read(path):
    if not os.path.exists(path):
        raise SystemExit(f"{path} is missing: write it, as CONTRIBUTING.md says")
    return Path(path).read_text(encoding="utf-8")


def files(*patterns):
    return [str(p) for pattern in patterns for p in sorted(Path().glob(pattern)) if p.is_file()]


def lessons():
    return [str(p) for p in sorted(Path().glob("[0-9][0-9]_*"))]


def ours(path):
    """What git has of a file, or nothing. A student's exercise differs from that."""
    return subprocess.run(["git", "show", f"HEAD:./{path}"], capture_output=True, text=True).stdout


def header(path):
    """key: value lines in front of a patch, or in the first comment of a C file."""
    keys = {}
    for line in re.split(r"^(?:--- | \*/)", read(path), maxsplit=1, flags=re.M)[0].splitlines():
        key, colon, value = line.removeprefix(" * ").partition(":")
        if colon and value:
            keys.setdefault(key, []).append(value.strip())
    return keys


def breaks(lesson):
    """change is their first line, or nothing if that is not "Break 3a - change"."""
    for path in files(f"{lesson}/breaks/*.patch"):
        name = f"{int(lesson[:2])}{Path(path).name.split('_')[0]}"
        title = re.match(rf"Break {name} - (.+)", read(path))
        yield SimpleNamespace(path=path, name=name, change=title and title[1], header=header(path))


def exercises(lesson):
    """kind is nothing if they have no title, here or, if a student has lost it, in git. judge is
    what its files begin with: judges/03_read/1_how_much."""
    for path in files(f"{lesson}/exercises/*.c"):
        name = f"{int(lesson[:2])}.{Path(path).name.split('_')[0]}"
        title = re.compile(rf"^ \* Exercise {re.escape(name)} - (predict|repair|extend|choose): "
                           r"(.*\S) +(\*{1,3}) (\d+) minutes$", re.M)
        found = title.search(read(path)) or title.search(ours(path))
        kind, words, stars, minutes = found.groups() if found else (None, "", "", 0)
        yield SimpleNamespace(path=path, name=name, judge=f"judges/{lesson}/{Path(path).stem}",
                              kind=kind, title=words[:1].upper() + words[1:], stars=stars,
                              minutes=int(minutes))


def prose(page):
    """The lines of a page; those between ``` are empty."""
    code = False
    for line in page.splitlines():
        fence = line.lstrip().startswith("```")
        code ^= fence
        yield "" if code or fence else line


def cells(row):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def first_column(page, word):
    """The words of the tables whose first line begins with that one."""
    inside = False
    for line in page.splitlines():
        inside = line.startswith("|") and (inside or line.startswith(f"| {word} |"))
        if inside and not line.startswith((f"| {word} |", "|--")):
            yield from cells(line)[0].lower().split(", ")
