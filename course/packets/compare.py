# SPDX-License-Identifier: MIT
"""course/packets/compare.py - what of an excerpt in a README is not so in a capture.

packets  are there, in this order on each QP, with nothing between them: what they are, who
         sends them, PSN, bytes, place, values; the messages of the CM with those of the QP.
         "..." stands for any number, "at +64 or +6064" for a choice. Behind "... these N lines K times more" they go on alike. What the
         wire did again, and NAKs, may come between, if the excerpt has them not.
ACKs     are there, of this PSN or of a later one, behind the packets before them, each of what was sent
lines    of each program are there in this order, and so are QP info and barriers

Times may vary, and so may the old values of atomics, for which two clients race.
"""
import re

import ladder

LEFT_OUT = r"(?:.*(?:NAK.*|, again)\n)*"


def words(line):
    """The text of a line, without what may vary."""
    text = " ".join(ladder.show(line, line.qp != "").split()[1:])
    return re.sub("old value [^,]*", "old value", text)


def is_packet(line):
    return line.psn is not None and line.what != "ACK" or line.what.endswith("(CM)")


def answers(ack, line):
    """May this ACK be of that packet, or of one before it?"""
    sent = line.way != ack.way or line.what.startswith("READ response")
    return line.qp == ack.qp and line.what != "ACK" and line.psn is not None and line.psn >= ack.psn and sent


def pattern(items):
    """A regular expression for the packets of a QP. An item is the text of one, or for "..."
    a number: so many of the items before it come once more, but for PSN and place."""
    text = ""
    for i, item in enumerate(items):
        if isinstance(item, str):
            choice = re.sub(r"(\\\+\d+)\\ or\\ (\\\+\d+)", r"(?:\1|\2)", re.escape(item))
            text += f"{LEFT_OUT}(?P<item{i}>{choice})\n"
            continue
        for alike in items[i - item:i]:
            before, after = re.split(r"(?<= PSN )-?\d+", alike)
            after = after.partition(" at ")[0]
            text += rf"{LEFT_OUT}{re.escape(before)}\S+{re.escape(after)}(?: at .*)?\n"
        text += r"(?:.*\n)*?"
    return text


def missing(excerpt, live):
    """Sentences: what of the lines of an excerpt is not so in these Lines."""
    def stream(line):
        """What has its order: a QP, the TCP of a side, a program."""
        return line.qp if is_packet(line) else line.way or line.what.split(":")[0]

    items, acks, recent, faults = {}, [], [], []
    for text in excerpt:
        if gap := re.match(r" *\.\.\.(?: these (\d+) lines .*more$)?(.*this$)?", text):
            alike = int(gap[1] or bool(gap[2]))
            for qp, before in items.items():
                before.append(recent[len(recent) - alike:].count(qp))
            recent.append(None)
            continue
        line = ladder.parse(text)
        recent.append(line.qp if is_packet(line) else None)
        if line.what == "ACK":
            before = [i for i, item in enumerate(items.get(line.qp, ())) if isinstance(item, str)]
            acks.append((line, f"item{before[-1]}" if before else None))
            continue
        of_stream = items.setdefault(stream(line), [0])  # it may begin anywhere
        of_stream += [words(line)] if is_packet(line) else [words(line), 0]

    found = {}  # (QP, item): its place in live
    for key, of_stream in items.items():
        places = [place for place, line in enumerate(live) if line.what != "ACK" and stream(line) == key]
        text = "".join(words(live[place]) + "\n" for place in places)
        for n, item in enumerate(of_stream):
            match = re.match(pattern(of_stream[:n + 1]), text)
            if not match:
                item = f"alike {of_stream[n - 1]}" if isinstance(item, int) else item
                faults.append(f"not there, or not in this order: {item}")
                break
            for name in match.groupdict():
                found[key, name] = places[text.count("\n", 0, match.start(name))]
    for ack, item in acks:
        last = max((place for place, line in enumerate(live) if line.what == "ACK" and
                    (line.qp, line.way) == (ack.qp, ack.way) and line.psn >= ack.psn), default=-1)
        if last <= found.get((ack.qp, item), -1):
            faults.append(f"not there, or not behind its packets: {words(ack)}")
    for place, ack in enumerate(live):
        if ack.what == "ACK" and not any(answers(ack, line) for line in live[:place]):
            faults.append(f"of what was not sent: {words(ack)}")
    return faults
