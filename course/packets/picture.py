#!/usr/bin/python3 -B
# SPDX-License-Identifier: MIT
"""course/packets/picture.py - draw the ladder in a lesson's README, "On the wire", as SVG.

usage: course/packets/picture.py NN_lesson/README.md >NN_lesson/wire.svg

Time runs downwards, to scale: SCALE pixels a ms. But no two packets are nearer than a line of
text, and a longer wait than MOST pixels is cut out of the axis. picture.svg is the frame.
"""
import re
import string
import sys
import textwrap
from pathlib import Path
from xml.sax.saxutils import escape

import ladder

SCALE, MOST = 10, 165
LEFT, MIDDLE, RIGHT, SLOPE = 240, 445, 650, 10
# The class of an arrow, and what is in its text.
CLASSES = {"tcp": r"\((TCP|CM)\)", "nak": "NAK", "again": "again", "ack": "^ACK", "packet": ""}


class Picture:
    """Draws from top to bottom; y is where it is."""

    def __init__(self):
        self.body = ""
        self.y = 62
        self.start = self.last = None  # the first time, and the time at y
        self.bottom = {"client": 0, "server": 0}  # of what each program said

    def text(self, x, y, kind, text):
        self.body += f'<text x="{x}" y="{y:.1f}" class="{kind}">{escape(text)}</text>\n'

    def cut(self, y, why):
        """A cut through both lines of life, at the height y."""
        for x in LEFT, RIGHT:
            self.body += f'<path class="gap" d="M{x} {y - 7:.1f}v14"/>\n'
            self.body += f'<path class="zig" d="M{x} {y - 7:.1f}l4 3.5l-8 3.5l8 3.5l-4 3.5"/>\n'
        if why:
            self.text(MIDDLE, y + 4, "wait", why)

    def gap(self, why):
        self.y += 54 if why else 44
        self.cut(self.y - 24, why)
        self.last = None

    def advance(self, time, least):
        """To the next place, which is at least so many pixels further down."""
        if self.last is not None:
            step = (time - self.last) * SCALE
            if step > MOST:
                step = 54
                self.cut(self.y + 30, f"{time - self.last:.0f} ms")
            self.y += max(step, least)
        self.last = time
        self.start = time if self.start is None else self.start
        self.text(8, self.y + 4, "ms", f"{time - self.start:.1f}")

    def say(self, who, text):
        """What a program says, in words that fit beside its line of life."""
        x, side, kind = (LEFT, -12, "say end") if who == "client" else (RIGHT, 12, "say")
        at = max(self.y, self.bottom[who])
        self.body += f'<circle class="dot" cx="{x}" cy="{self.y:.1f}" r="3.5"/>\n'
        for row in textwrap.wrap(text, 25, break_long_words=False, break_on_hyphens=False):
            self.text(x + side, at + 4, kind, row)
            at += 15
        self.bottom[who] = at + 3

    def arrow(self, line):
        kind = next(kind for kind, sign in CLASSES.items()
                    if re.search(sign, line.what + line.more))
        parts = [f"{line.qp}: {line.what}".removeprefix(": ")]
        if line.psn is None:
            parts[0] += line.more
        else:
            amount = "" if line.amount is None else f"{line.amount} bytes"
            parts += [f"PSN {line.psn}", amount + line.more]
        text = ", ".join(part.strip() for part in parts if part).replace(", of ", " of ")
        text, comma, under = text.partition(", compare")
        start, end, d = (LEFT, RIGHT, 1) if line.way == "-->" else (RIGHT, LEFT, -1)
        label = f"translate({MIDDLE} {self.y + SLOPE / 2 - 4:.1f}) rotate({d * 1.4:.1f})"
        self.body += (f'<path class="{kind}" marker-end="url(#{kind})" d="M{start} {self.y:.1f}'
                      f'L{end - d} {self.y + SLOPE:.1f}"/>\n'
                      f'<text class="label {kind}-text" transform="{label}">{escape(text)}</text>\n')
        if under:
            self.y += 15
            self.text(MIDDLE, self.y + SLOPE / 2 - 1, "label", comma[2:] + under)


def draw(readme):
    picture = Picture()
    command, _, _, lines = ladder.excerpts(readme)[0]
    for text in lines:
        if text.strip().startswith("..."):
            picture.gap(text.strip()[4:])
            continue
        line = ladder.parse(text)
        picture.advance(line.time, 25 if line.way else 18)
        if line.way:
            picture.arrow(line)
        else:
            picture.say(*line.what.split(": ", 1))
    end = max(picture.y + 30, *(bottom + 10 for bottom in picture.bottom.values()))
    frame = string.Template(Path(__file__).with_name("picture.svg").read_text(encoding="utf-8"))
    return frame.substitute(
        height=int(end) + 26, end=f"{end:.1f}", foot=f"{end + 16:.1f}", body=picture.body,
        lesson=Path(readme).parent.name, command=escape(command))


if __name__ == "__main__":
    sys.stdout.write(draw(sys.argv[1]) if sys.argv[1:] else sys.exit(__doc__))
