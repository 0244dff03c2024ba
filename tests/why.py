#!/usr/bin/python3 -B
"""tests/why.py - course/why on each line of tests/why/known and tests/why/unknown, on bad input, and as make why."""
import re
import resource
import runpy
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

from checks.verdict import end, test

why = SimpleNamespace(**runpy.run_path("course/why"))
spent = {}  # bytes of a log: seconds of the CPU


def corpus(path, least):
    lines = [row.split("\t", 2) for row in Path(path).read_text(encoding="utf-8").splitlines() if row[0] != "#"]
    patterns = why.known(why.PAGE.read_text(encoding="utf-8"))
    for address, row, line in lines:
        hit = "".join(why.found([line], patterns))
        if hit != row:
            yield f'{address}: "{line[:90]}" is "{hit}", not "{row}"'
    if len(lines) < least or len({tuple(row) for row in lines}) < len(lines):
        yield f"{len(lines)} lines, at least {least}, and none twice"


def typed(command, log, said, status=0):
    """One command; what it says, in this order, and how it ends."""
    begun = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = subprocess.run(command, input=log, capture_output=True, check=False)
    out = (run.stdout + run.stderr).decode()
    if not re.search(".*".join(map(re.escape, said)), out, re.S):
        yield f'no {said} in "{out[:200]}"'
    if run.returncode != status or "Traceback" in out:
        yield f"status {run.returncode}, not {status}"
    spent[len(log)] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begun
    if spent[len(log)] > 20 * spent.get(len(log) // 10, 9):
        yield "ten times the lines cost more than twenty times as much"


LOG = b"""a line that nobody knows
client: FAIL waiting for a completion: the peer hung up
server: FAIL RDMA_READ: transport retry counter exceeded
"""
test("each known line hits its row", corpus("tests/why/known", 300))
test("each unknown line hits none", corpus("tests/why/unknown", 150))
with tempfile.TemporaryDirectory(prefix="a log ") as place:
    file = Path(place, "log")
    file.write_bytes(LOG)
    first = ("line 3: server: FAIL RDMA_READ", "  1. RoCE: the GID", "how to tell: ", "next: show_gids", "make break-03.g",
             "(docs/attributes.md#", "hung up, not the first cause", "2 of 3 lines")
    test("make why LOG=FILE: the cause, then what follows from it",
         typed(["make", "-s", "why", f"LOG={file}"], b"", first))
    test("make why reads standard input", typed(["make", "-s", "why"], LOG, first))
    for name, log, said in (("an unknown log, numbers with more digits", b"(synd 0x17 vend 0x81)\nQP errno 1210\n", "none of 2 lines are known: docs/symptoms.md"),
                            ("colours, a title, \\r, and zeros of a crash", b"\0\0\x1b]0;a\a1%\r\x1b[33mnvme1: Connect \x1b(Brejected: status 8\n" * 9, "9 of 9 lines"),
                            ("a line of a megabyte", b"x FAIL " * 150000, "none of 1 lines"),
                            ("a long record", b"x" * 9000 + b" transport retry counter exceeded\n", "1 of 1 lines"),
                            ("a log of 9 999 lines", LOG * 3333, "6666 of 9999 lines"),
                            ("a log of ten times as many", LOG * 33330, "66660 of 99990 lines")):
        test(f"{name}: a line says so", typed(["course/why"], log, [said]))
    for name, command, log, said in (("an empty log", [], b" \n", "standard input is empty"),
                                     ("a binary", [], b"FAIL\0", "standard input is no text (zcat?"),
                                     *((f"a .{name}", [], magic + b"FAIL", "standard input is no text") for name, magic in
                                       (("gz", b"\x1f\x8b"), ("bz2", b"BZh9"), ("zst", b"(\xb5/\xfd"))),
                                     ("two files", [place, place], b"", "cat A B"),
                                     ("no such file", [f"{place}/x"], b"", "No such file"),
                                     ("a directory", [place], b"", "Is a directory")):
        test(f"{name}: a line says so", typed(["course/why", *command], log, [said], 1))
end()
