#!/usr/bin/python3 -B
# SPDX-License-Identifier: MIT
"""course/packets/nvme.py - show a capture of lab/nvme/watch: the packets, and what is in the capsules.

usage: course/packets/nvme.py FILE        the queue for I/O, and how both queues come and go
       course/packets/nvme.py -a FILE     all packets of both queues
       course/packets/nvme.py -c FILE PAGE   is the excerpt in PAGE, behind "$ make watch-nvme", so in FILE?

Below a packet is what it carries. What a command, a completion and the private data of the connection
manager (CM) look like is in Linux include/linux/nvme.h and nvme-rdma.h; a CM message, in the InfiniBand
specification (Linux include/rdma/ibta_vol1_c12.h). QP A is the admin queue, QP B the queue for I/O.
"""
import itertools
import re
import signal
import socket
import struct
import sys

import capture
import ladder

ADMIN = {0x02: "Get Log Page", 0x06: "Identify", 0x09: "Set Features", 0x0a: "Get Features",
         0x0c: "Async Event Request", 0x18: "Keep Alive"}
IO = {0x00: "Flush", 0x01: "Write", 0x02: "Read"}
FABRICS = {0x00: "Property Set", 0x01: "Connect", 0x04: "Property Get"}
# By status code type and status code; 0x4000, "do not retry", is shown apart.
STATUS = {0x000: "success", 0x004: "data transfer error", 0x006: "internal error", 0x007: "aborted",
          0x080: "LBA out of range", 0x081: "capacity exceeded", 0x184: "this host may not connect"}
BELOW = "\n" + 15 * " "


def little(data):
    return int.from_bytes(data, "little")


class Decoder(capture.Decoder):
    """The letter of a pair is that of its queue, whose number is in the REQ."""

    def add(self, row, way, what, pair=None):
        line = super().add(row, way, what)
        line.qp = next((self.letter(client) for client, its in self.pair_of.items() if its == pair), "")
        return line

    def letter(self, client):
        return "B" if self.request(client)[0] else "A"

    def request(self, client):
        """The queue, its receives, its sends: behind the two IP addresses, and the format."""
        return struct.unpack_from("<3H", self.asked[client][1], 140 + 36 + 2)

    def roce(self, row):
        to = bytes(10) + b"\xff\xff" + socket.inet_aton(row["ip.dst"]), capture.number(row["ib.bth.destqp"])
        if to[1] == 1 or to in self.owner:  # else of a connection that was made before
            super().roce(row)
        if to in self.owner:
            self.capsule(row, self.lines[-1])

    def cm(self, row, to, mad):
        super().cm(row, to, mad)
        line, body = self.lines[-1], mad[24:]
        client = next((one for one in (body[:4], body[4:8]) if one in self.asked), None)
        if client is None:  # as above
            self.lines.pop()
            return
        line.qp = self.letter(client)
        if line.what.startswith("REQ"):
            queue, receives, sends = self.request(client)
            line.more = f"{BELOW}queue {queue}: {receives} receives here, a queue of {sends + 1}"
        elif line.what.startswith("REP"):
            line.more = f"{BELOW}{struct.unpack_from('<H', body, 38)[0]} receives here"

    def capsule(self, row, line):
        headers = capture.OPCODES[int(row["ib.bth.opcode"])][1:]
        payload = capture.octets(row["udp.payload"])  # from the BTH to the ICRC
        body = payload[12 + sum(capture.LENGTH[header] for header in headers):-4]
        again = ", again" if line.more.endswith("again") else ""
        if row["ib.reth.r_key"]:
            line.more = f"{BELOW}at 0x{capture.number(row['ib.reth.va']):x}, " \
                        f"key 0x{capture.number(row['ib.reth.r_key']):x}{again}"
        elif line.what.startswith(("SEND only", "SEND first")):
            what = self.command(line, body) if line.way == "-->" else self.completion(line, body)
            line.more = BELOW + what + again
        if "IETH" in headers:
            line.more += f"; invalidates key 0x{int.from_bytes(payload[12:16], 'big'):x}"

    def command(self, line, capsule):
        opcode, _, number, kind = struct.unpack_from("<BBHB", capsule)
        first, = struct.unpack_from("<Q", capsule, 40)
        blocks, = struct.unpack_from("<H", capsule, 48)
        name = IO.get(opcode) if line.qp == "B" else ADMIN.get(opcode)
        if opcode == 0x7f:
            name = FABRICS.get(kind)
        text = f"{name or f'opcode {opcode:#x}'}, command 0x{number:04x}"
        if name == "Connect":
            queue, depth = struct.unpack_from("<HH", capsule, 42)
            text += f": queue {queue} of {depth + 1}"
        elif line.qp == "B" and opcode in (0x01, 0x02):
            text += f": {blocks + 1} blocks from {first}"
        address, length, key = little(capsule[24:32]), little(capsule[32:35]), little(capsule[35:39])
        kind = capsule[39]
        if kind >> 4 == 0x4 and length:
            text += f"{BELOW}{length} bytes at 0x{address:x}, key 0x{key:x}"
            text += ", to be invalidated" if kind & 15 == 15 else ""
        elif kind == 0x01:
            text += f"{BELOW}{little(capsule[32:36])} bytes behind the command"
        return text

    def completion(self, line, capsule):
        _, head, _, number, status = struct.unpack_from("<QHHHH", capsule)
        status >>= 1
        text = f"command 0x{number:04x}: {STATUS.get(status & 0x7ff, f'status {status & 0x7ff:#x}')}"
        text += ", do not retry" if status & 0x4000 else ""
        return text + f"; head of the queue {head}"


def chosen(lines):
    """Of the admin queue, and of what the kernel reads by itself after the connect, only what makes
    and ends a queue."""
    said, connect = "", {}
    for line in lines:
        if not line.way:
            said = line.what
        elif number := re.search(r"Connect, (command \w+)", line.more):
            connect[line.qp] = number[1]
        if line.qp in connect or line.what.endswith("(CM)") or not line.way or (
                line.qp == "B" and said and said != "host: connect"):
            yield line
        if line.qp in connect and f"{connect[line.qp]}: " in line.more and "; head" in line.more:
            del connect[line.qp]


def show(lines):
    """The text of the Lines. What is alike in the middle of a message is folded."""
    out = []
    for key, group in itertools.groupby(lines, lambda line: (line.way, line.what, line.qp, line.amount)):
        group = list(group)
        many = "middle" in key[1] and len(group) > 2
        for line in group[:1] if many else group:
            text = ladder.show(line, bool(line.way)).replace("client", "host").replace(" server", " target")
            out += (part.rstrip() for part in text.split("\n"))
        if many:
            out.append(f"{'':15}... {len(group) - 1} more like this")
    return out


def normal(lines):
    """What of an excerpt is the same on each run. Numbers that vary become names: the same
    number the same name. What acknowledges what depends on who is faster, so ACKs do not count.
    The CM's last message is on a QP of its own, and the first SEND may overtake it: it goes to the end."""
    names, out, last = {}, [], []
    for text in lines:
        text = re.sub(r"^ *\d+\.\d+ *", "", text.rstrip()).strip()
        text = re.sub(r"(PSN) \d+|(head of the queue) \d+", r"\1\2", text)
        for kind, found in re.findall(r"(command|at|key) (0x\w+)", text):
            name = names.setdefault((kind, found), f"{kind} {len(names)}")
            text = re.sub(f"{kind} {found}\\b", name, text)
        if not re.search(r" ACK\b", text):
            (last if "RTU (CM)" in text else out).append(re.sub("  +", " ", text))
    return out + last


def differs(page, got):
    """How an excerpt in a page, which begins with its second line, is not what was got; or ""."""
    with open(page, encoding="utf-8") as file:
        found = re.search(r"(?m)^\$ make watch-nvme\n((?:(?!```|\$ ).*\n)*)", file.read())
    if not found:
        return f"{page} has no excerpt"
    want, got = normal(found[1].splitlines()), normal(got)
    for expected, real in itertools.zip_longest(want, got, fillvalue="nothing"):
        if expected != real:
            return f'{page} has "{expected}", the run "{real}"'
    return ""


def main(option, file, page=""):
    lines = [line for line in capture.read(file, Decoder) if option != "-c" or not line.more.endswith("again")]
    text = show(lines if option == "-a" else chosen(lines))
    if option == "-c":
        sys.exit(differs(page, text) or 0)
    if not text:
        sys.exit("nothing was captured")
    print("\n".join(text))


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # into head, for example
    args = sys.argv[1:] if "".join(sys.argv[1:2]).startswith("-") else ["", *sys.argv[1:]]
    if len(args) != {"": 2, "-a": 2, "-c": 3}.get(args[0]):
        sys.exit(__doc__)
    main(*args)
