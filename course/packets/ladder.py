#!/usr/bin/python3 -B
# SPDX-License-Identifier: MIT
"""course/packets/ladder.py - show a capture of course/trace, one line for each packet, in words.

usage: course/packets/ladder.py [-a] FILE   -a: all lines, none folded

A line has: ms since the first packet; who sends to whom; the QP, if there are several (A is the first
pair); what it is; its PSN, counted from the first PSN of the side that asks, which is in its QP info;
bytes; where, counted from the beginning of the region in the responder's QP info (of another region: from
the first place seen, with "~"). "again" is what was there before. READMEs show such lines.
"""
import re
import signal
import sys
from pathlib import Path

import capture

LINE = re.compile(r"""\s* (?P<time>[\d.]+) \s+
    (?: client\ (?P<way>-->|<--)\ server (?:\ (?P<qp>[A-Z])(?=\s))? \s+ (?P<what>\S.*?)
        (?: \s+PSN\ (?P<psn>-?\d+) (?: \s+(?P<amount>\d+)\ bytes)? | (?<=\(TCP\)) | (?<=\(CM\)) )
        (?P<more>.*) | (?P<said>.*) )""", re.VERBOSE)


def show(line, qps=False):
    """A Line as text; qps: with a column for the QP."""
    text = f"{line.time:10.3f}  "
    if not line.way:
        return text + line.what
    text += f"client {line.way} server" + (f" {line.qp or ' '}" if qps else "")
    text += f"  {line.what:23}"
    if line.psn is not None:
        text += f" PSN {line.psn:<4}"
    if line.amount is not None:
        text += f" {line.amount:4} bytes"
    return (text + line.more).rstrip()


def parse(text):
    """The Line that was shown as this text."""
    found = LINE.fullmatch(text.rstrip()) or sys.exit(f'not a line as make trace-NN prints them: "{text}"')
    if found["said"] is not None:
        return capture.Line(float(found["time"]), "", found["said"])
    psn, amount = (found[name] and int(found[name]) for name in ("psn", "amount"))
    more = re.sub(" +", " ", found["more"])
    return capture.Line(float(found["time"]), found["way"], found["what"], found["qp"] or "", psn, amount, more)


def excerpts(readme):
    """Of each excerpt in a README: the command, NN or NN.x, its DELAY or "", and the lines."""
    text = Path(readme).read_text(encoding="utf-8") if Path(readme).exists() else ""
    found = re.findall(r"(?m)^\$ (make trace-(\S+)(?: DELAY=(\d+))?.*)\n((?:(?!```|\$ ).*\n)*)", text)
    if not found:
        sys.exit(f"{readme}: no console block of make trace-NN: put an excerpt of what it prints there")
    return [(*name, lines.splitlines()) for *name, lines in found]


def fold(lines, name="CAPTURE"):
    """The text of all Lines: what repeats itself once; of many with nothing new the first and the last."""
    qps = any(line.qp for line in lines)
    keys = [(line.way, line.what, line.qp, line.amount, "again" in line.more) if line.way else i for i, line in enumerate(lines)]
    out, held = [], []

    def kind(line):
        """What of many is left out; None: never."""
        new = not line.way or "NAK" in line.what or "again" in line.more or line.what.endswith("(CM)")
        return None if new else (line.way, line.what, line.qp)

    def flush():
        at, left, shown = 0, 0, set()
        total = sum(len(group) for _, group, _ in held)
        for kinds, group, count in held:  # the last one is shown
            at += len(group)
            if total > 40 and 24 < at <= total - 6 and kinds <= shown:
                left += count
                continue
            if left:
                out.append(f"{'':12}... {left} more lines like these; course/packets/ladder.py -a {name} has them all")
            left = 0
            shown |= kinds - {None}
            out.extend(group)
        held.clear()

    i = 0
    while i < len(lines):
        saved = period = 0
        for p in range(1, 17):
            n = 1
            while keys[i:i + p] == keys[i + n * p:i + (n + 1) * p]:
                n += 1
            if n >= 3 and (n - 1) * p >= 4 and (n - 1) * p > saved + 1:
                saved, period = (n - 1) * p, p
        these = lines[i:i + (period or 1)]
        group, kinds = [show(line, qps) for line in these], {kind(line) for line in these}
        if saved:
            n = saved // period
            again = f"{n} more like this" if period == 1 else f"these {period} lines {n} times more"
            group.append(f"{'':12}... {again}")
        held.append((kinds, group, len(these) + saved))
        if None in kinds and not saved:
            flush()
        i += saved + (period or 1)
    flush()
    return out


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # into head, for example
    read = capture.read(sys.argv[-1])
    several = any(line.qp for line in read)
    text = [show(line, several) for line in read] if "-a" in sys.argv else fold(read, sys.argv[-1])
    print("\n".join(text) or "nothing was captured")
