# SPDX-License-Identifier: MIT
"""Who calls whom: tests and bench call course, course calls lab, lessons and judges call
common; never the other way."""
import re
from pathlib import Path

from . import repo

# What a room may name beside its own files. A judge has its lesson, too, and an exercise
# its judge.
ROOMS = {"common": set(), "lab": set(), "judges": {"common"}, "course": {"common", "judges", "lab"},
         "bench": {"common", "lab", "course"}}
NAMED = re.compile(r"(?<![\w-])(?:\./)?(common|judges|lab|course|bench|tests|\d\d_\w+)(?=/\w)")


def may_name(path):
    top, second = path.split("/")[:2]
    allowed = {top} | ROOMS.get(top, {"common"})
    if top == "judges":
        allowed.add(second)
    elif second == "exercises":
        allowed.add("judges")
    return allowed


def calls(path, text, homes):
    """What a script names, or a C file includes, that its room must not. homes: of each header,
    the rooms that have one of that name."""
    for line in text.splitlines():
        if path.endswith((".c", ".h")):
            include = re.match(r'#include "(?:.*/)?(.*)"', line)
            bad = include and not homes.get(include[1], set()) & may_name(path)
        else:
            code = re.sub(r"(^|\s)#.*|\bbuild/\S*|\brun/lab\S*", "", line)
            bad = set(NAMED.findall(code)) - may_name(path)
        if bad:
            yield f"{path}: {line.strip()}"


def check():
    homes = {}
    for path in repo.files("*/*.h", "*/*/*.h"):
        homes.setdefault(Path(path).name, set()).add(path.split("/")[0])
    for path in repo.files("common/**/*", "judges/**/*", "lab/*", "course/**/*", "bench/**/*",
                           "[0-9][0-9]_*/**/*"):
        data = Path(path).read_bytes()
        if path.endswith((".c", ".h", ".sh", ".py")) or data.startswith(b"#!"):
            yield from calls(path, data.decode(), homes)
