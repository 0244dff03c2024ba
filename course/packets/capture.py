# SPDX-License-Identifier: MIT
"""course/packets/capture.py - what is in a capture of course/trace, as a list of Lines.

tshark says what the fields of a packet are. This says which pair of queue pairs the packet
belongs to and what it means, because it has seen the QP info that went over TCP before, or
the messages of the CM.
"""
import re
import socket
import struct
import subprocess
import sys
from dataclasses import dataclass

# The opcodes of a reliable connection, from 0 on: in words, and the headers behind the BTH,
# the base transport header, with their length in bytes.
OPCODES = [text.split(" + ") for text in (
    "SEND first, SEND middle, SEND last, SEND last + ImmDt, SEND only, SEND only + ImmDt, "
    "WRITE first + RETH, WRITE middle, WRITE last, WRITE last + ImmDt, WRITE only + RETH, "
    "WRITE only + RETH + ImmDt, READ request + RETH, READ response first + AETH, "
    "READ response middle, READ response last + AETH, READ response only + AETH, ACK + AETH, "
    "ATOMIC ACK + AETH + AtomicAckETH, COMPARE_AND_SWAP + AtomicETH, FETCH_AND_ADD + AtomicETH, "
    "opcode 21, SEND last w/ invalidate + IETH, SEND only w/ invalidate + IETH"
).split(", ")]
LENGTH = {"RETH": 16, "ImmDt": 4, "AETH": 4, "AtomicETH": 28, "AtomicAckETH": 8, "IETH": 4}
# The messages of the CM: datagrams to QP 1, of management class 7. Their attribute says which.
CM = {0x10: "REQ", 0x11: "MRA", 0x12: "REJ", 0x13: "REP", 0x14: "RTU", 0x15: "DREQ", 0x16: "DREP"}
UD_SEND, MAD = 100, 12 + 8  # the opcode; what is in front of the MAD: BTH, DETH
NAKS = ("PSN sequence error", "invalid request", "remote access error", "remote operational error",
        "invalid RD request")
# QP info (common/wire.c): magic, version, lesson, QP number, first PSN, LID, MTU, 0, rkey, GID, address, length.
INFO = struct.Struct(">4sHHIIHBBI16sQQ")
FIELDS = """frame.time_relative ipv6.dst ip.dst udp.dstport udp.length udp.payload tcp.stream tcp.srcport tcp.payload
    ib.bth.opcode ib.bth.destqp ib.bth.psn ib.bth.padcnt ib.reth.va ib.reth.r_key ib.reth.dmalen ib.immdt
    ib.atomiceth.swapdt ib.atomiceth.cmpdt ib.atomicacketh.origremdt
    ib.aeth.syndrome.opcode ib.aeth.syndrome.timer ib.aeth.syndrome.error_code""".split()


@dataclass
class Line:
    """A packet, a message over TCP, or what a program said."""
    time: float  # ms since the first packet
    way: str  # "-->" to the server, "<--" to the client, "" what a program said
    what: str  # in the words of the InfiniBand specification
    qp: str = ""  # A is the first pair; "" if there is one pair
    psn: int | None = None  # counted from the first PSN of the side that asks
    amount: int | None = None  # bytes; of a READ request, those it asks for
    more: str = ""  # place, values, "again"


def octets(text):
    """Bytes, which tshark prints as 0x1234, 12:34 or 1234."""
    return bytes.fromhex(re.sub("0x|:", "", text))


def number(text):
    return int.from_bytes(octets(text), "big")


def value(text):
    """64 bits, which tshark prints in decimal: in hex if they are many digits."""
    return text if len(text) < 16 else hex(int(text))


def rnr_wait(code):
    """The ms that the timer code of an RNR NAK stands for. 0 stands for the longest time."""
    return ((2 + code % 2) << ((code or 32) // 2)) // 2 / 100


class Decoder:
    """Makes Lines of tshark's fields. A side is named by the way of what it sends."""

    def __init__(self):
        self.lines = []
        self.client_port = {}  # of a TCP stream: the client speaks first
        self.heard = {}  # (stream, side): the beginning of a message
        self.infos = {}  # (stream, side): how many QP infos
        self.pairs = {}  # the number of each pair
        self.owner = {}  # (GID, QP number): its pair and side
        self.first_psn = {}  # (pair, side that asks)
        self.base = {}  # (pair, side, rkey): where the region begins; "~" if nobody told us
        self.asked = {}  # by the id of a REQ's sender, the client: GID of the server, REQ
        self.pair_of = {}  # the pair that such an id has got
        self.seen = set()

    def add(self, row, way, what, pair=None):
        qp = "" if pair is None else chr(ord("A") + pair)
        self.lines.append(Line(float(row["frame.time_relative"]) * 1000, way, what, qp))
        return self.lines[-1]

    def tcp(self, row):
        """Messages are QP info, or the one byte of a barrier."""
        stream, port = row["tcp.stream"], row["tcp.srcport"]
        side = "-->" if self.client_port.setdefault(stream, port) == port else "<--"
        data = self.heard.get((stream, side), b"") + octets(row["tcp.payload"])
        while len(data) >= (INFO.size if data[:4] == b"RDMA" else 1):
            if data[:4] == b"RDMA":
                self.info(row, stream, side, data[:INFO.size])
                data = data[INFO.size:]
            else:
                self.add(row, side, "barrier (TCP)")
                data = data[1:]
        self.heard[stream, side] = data

    def info(self, row, stream, side, data):
        _, _, _, qpn, psn, _, _, _, rkey, gid, address, length = INFO.unpack(data)
        # The n-th of the client and the n-th of the server are a pair.
        n = self.infos[stream, side] = self.infos.get((stream, side), 0) + 1
        pair = self.pairs.setdefault((stream, n), len(self.pairs))
        self.owner[gid, qpn] = pair, side
        self.first_psn[pair, side] = psn
        self.base[pair, side, rkey] = address, ""
        line = self.add(row, side, "QP info (TCP)", pair)
        line.more = f" {length} bytes of memory are offered" if length else ""

    def cm(self, row, to, mad):
        """REQ and REP say what QP info says elsewhere; but a PSN in them is that of the first packet which
        the sender wants to hear. Each id is of one side."""
        attribute, body = int.from_bytes(mad[16:18], "big"), mad[24:]
        what, local, remote = CM.get(attribute, f"attribute {attribute:#x}"), body[:4], body[4:8]
        if what == "REQ":
            self.asked[local] = to, body
        client = local if local in self.asked else remote
        side = "-->" if local in self.asked else "<--"
        if what == "REP" and client in self.asked:
            server, req = self.asked[client]
            pair = self.pair_of[client] = self.pairs.setdefault(("CM", client), len(self.pairs))
            for way, gid, qpn, psn in ("-->", to, req[32:35], body[20:23]), ("<--", server, body[12:15], req[44:47]):
                self.owner[gid, int.from_bytes(qpn, "big")] = pair, way
                self.first_psn[pair, way] = int.from_bytes(psn, "big")
        line = self.add(row, side, f"{what} (CM)", self.pair_of.get(client))
        if what == "REJ":
            line.more = f" reason {int.from_bytes(body[10:12], 'big')}"
        if (side, mad[8:16], what) in self.seen:
            line.more += ", again"
        self.seen.add((side, mad[8:16], what))

    def roce(self, row):
        op, psn = int(row["ib.bth.opcode"]), int(row["ib.bth.psn"])
        gid = socket.inet_pton(socket.AF_INET6, row["ipv6.dst"] or "::ffff:" + row["ip.dst"])
        to = gid, number(row["ib.bth.destqp"])
        if op == UD_SEND and to[1] == 1:
            self.cm(row, gid, octets(row["udp.payload"])[MAD:])
            return
        if to not in self.owner:  # nobody told us
            self.owner[to] = self.pairs.setdefault(to, len(self.pairs)), "<--"
        pair, receiver = self.owner[to]
        sender = "-->" if receiver == "<--" else "<--"
        what, *headers = OPCODES[op] if op < len(OPCODES) else [f"opcode {op}"]
        line = self.add(row, sender, what, pair)
        answer = what.startswith("READ response") or what in ("ACK", "ATOMIC ACK")
        first = self.first_psn.setdefault((pair, receiver if answer else sender), psn)
        line.psn = (psn - first + 2**23) % 2**24 - 2**23
        if what == "READ request":
            line.amount = int(row["ib.reth.dmalen"])
        elif what.startswith(("SEND", "WRITE", "READ")):
            around = 8 + 12 + sum(LENGTH[header] for header in headers) + int(row["ib.bth.padcnt"]) + 4
            line.amount = int(row["udp.length"]) - around
        if row["ib.reth.r_key"]:
            place, key = number(row["ib.reth.va"]), number(row["ib.reth.r_key"])
            base, unknown = self.base.setdefault((pair, receiver, key), (place, "~"))
            line.more = f" at {unknown}{place - base:+}"
        if what == "WRITE first":
            line.more += f", of {row['ib.reth.dmalen']}"
        elif what == "COMPARE_AND_SWAP":
            compare, swap = value(row["ib.atomiceth.cmpdt"]), value(row["ib.atomiceth.swapdt"])
            line.more += f", compare {compare}, swap {swap}"
        elif what == "FETCH_AND_ADD":
            line.more += f", add {value(row['ib.atomiceth.swapdt'])}"
        elif what == "ATOMIC ACK":
            line.more = f" old value {value(row['ib.atomicacketh.origremdt'])}"
        if row["ib.immdt"]:
            line.more += f", immediate 0x{number(row['ib.immdt']):08x}"
        syndrome = row["ib.aeth.syndrome.opcode"]
        if syndrome == "1":
            line.what = f"RNR NAK, wait {rnr_wait(int(row['ib.aeth.syndrome.timer'])):g} ms"
        elif syndrome == "3":
            code = int(row["ib.aeth.syndrome.error_code"])
            line.what = f"NAK: {NAKS[code] if code < len(NAKS) else f'code {code}'}"
        # A READ goes on from the middle of its answer: its new PSN is that of a response.
        if what != "ACK" and ((sender, pair, answer, psn) in self.seen or
                              what == "READ request" and (receiver, pair, True, psn) in self.seen):
            line.more += ", again"
        self.seen.add((sender, pair, answer, psn))

    def decode(self, rows):
        for row in sorted(rows, key=lambda row: float(row["frame.time_relative"])):
            if row["tcp.payload"]:
                self.tcp(row)
            elif row["ib.bth.opcode"]:
                try:
                    self.roce(row)
                except (ValueError, OSError):
                    sys.exit(f"packets: the packet at {row['frame.time_relative']} s is not whole: capture with tcpdump -s 0")
            elif row["udp.payload"] and row["udp.dstport"] != "4791":
                said = octets(row["udp.payload"]).decode(errors="replace").split("\n")[0]
                said = "".join(c if c.isprintable() else "?" for c in said)
                if said == "trace: end":
                    break
                self.add(row, "", said)
        start = self.lines[0].time if self.lines else 0
        for line in self.lines:
            line.time -= start
            line.qp = line.qp if len(self.pairs) > 1 else ""
        return self.lines


def tshark(file, *options):
    """What tshark prints of a capture."""
    try:
        run = subprocess.run(["tshark", "-n", "-r", file, *options], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit("packets: tshark is not here: type make deps")
    if run.returncode:
        why = run.stderr.strip().split("\n")[-1]
        sys.exit(f"packets: tshark cannot decode {file}: {why}: type make trace-NN, or make watch-nvme")
    return run.stdout


def read(file, decoder=Decoder):
    """The Lines of a capture."""
    names = [option for name in FIELDS for option in ("-e", name.replace("ib.", "infiniband."))]
    text = tshark(file, "-T", "fields", "-E", "occurrence=f", *names)
    return decoder().decode(dict(zip(FIELDS, row.split("\t"))) for row in text.splitlines())
