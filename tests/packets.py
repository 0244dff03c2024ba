#!/usr/bin/python3 -B
"""tests/packets.py - unit tests of course/packets: without a device, and without tshark. A line for each."""
import sys
import unittest

sys.path.insert(0, "course/packets")
import capture
import compare
import ladder
from checks.verdict import cases, end

# What tshark would print of packets. QP info: QP 0x11, first PSN 0xfffffe, no region; QP 0x12, PSN 5,
# rkey 7, 64 bytes at 0x1000. The second one comes in two pieces, and a barrier with it.
CLIENT, SERVER = "fe80000000000000" + "1" * 16, "fe80000000000000" + "2" * 16
PACKETS = f"""
tcp.stream=0 tcp.srcport=4 tcp.payload=52444d41000400030000001100fffffe00000300{"0" * 8}{CLIENT}{"0" * 32}
tcp.stream=0 tcp.srcport=5 tcp.payload=52444d410004000300000012000000050000030000000007
tcp.stream=0 tcp.srcport=5 tcp.payload={SERVER}0000000000001000000000000000004042
<server> op=4 ib.bth.psn=16777214 udp.length=32 ib.bth.padcnt=3
<client> op=17 ib.bth.psn=16777214 ib.aeth.syndrome.opcode=1 ib.aeth.syndrome.timer=24
<server> op=5 ib.bth.psn=16777213 udp.length=32 ib.bth.padcnt=0 ib.immdt=0a
<server> op=4 ib.bth.psn=16777214 udp.length=32 ib.bth.padcnt=3
<client> op=17 ib.bth.psn=16777214 ib.aeth.syndrome.opcode=0
<server> op=6 ib.bth.psn=16777215 udp.length=1064 ib.bth.padcnt=0 ib.reth.dmalen=2000 <place>
<server> op=12 ib.bth.psn=0 ib.reth.dmalen=2000 ib.reth.r_key=0x00000009 ib.reth.va=0x2000
<server> op=19 ib.bth.psn=1 ib.atomiceth.cmpdt=5 ib.atomiceth.swapdt=72057594037927937 <place>
<client> op=18 ib.bth.psn=1 ib.aeth.syndrome.opcode=0 ib.atomicacketh.origremdt=5
<server> op=20 ib.bth.psn=2 ib.atomiceth.swapdt=1 <place>
<client> op=17 ib.bth.psn=2 ib.aeth.syndrome.opcode=3 ib.aeth.syndrome.error_code=2
udp.payload={b"client: <done>".hex()}
udp.payload={b"trace: end".hex()}
<client> op=17 ib.bth.psn=3 ib.aeth.syndrome.opcode=0
"""
SHORT = {
    "<server>": "ipv6.dst=fe80::2222:2222:2222:2222 ib.bth.destqp=0x000012",
    "<client>": "ipv6.dst=fe80::1111:1111:1111:1111 ib.bth.destqp=0x000011",
    "<place>": "ib.reth.r_key=0x00000007 ib.reth.va=0x0000000000001008", "op=": "ib.bth.opcode=",
}
LADDER = """\
     0.000  client --> server  QP info (TCP)
     2.000  client <-- server  QP info (TCP)           64 bytes of memory are offered
     2.000  client <-- server  barrier (TCP)
     3.000  client --> server  SEND only               PSN 0       5 bytes
     4.000  client <-- server  RNR NAK, wait 40.96 ms  PSN 0
     5.000  client --> server  SEND only               PSN -1      4 bytes, immediate 0x0000000a
     6.000  client --> server  SEND only               PSN 0       5 bytes, again
     7.000  client <-- server  ACK                     PSN 0
     8.000  client --> server  WRITE first             PSN 1    1024 bytes at +8, of 2000
     9.000  client --> server  READ request            PSN 2    2000 bytes at ~+0
    10.000  client --> server  COMPARE_AND_SWAP        PSN 3    at +8, compare 5, swap 0x100000000000001
    11.000  client <-- server  ATOMIC ACK              PSN 3    old value 5
    12.000  client --> server  FETCH_AND_ADD           PSN 4    at +8, add 1
    13.000  client <-- server  NAK: remote access error PSN 4
    14.000  client: <done>
""".splitlines()
GAP = "            ..."


def decode(text):
    """The Lines of such packets, one a ms."""
    for short, words in SHORT.items():
        text = text.replace(short, words)
    rows = []
    for packet in text.strip().split("\n"):
        rows.append(dict.fromkeys(capture.FIELDS, ""))
        rows[-1].update(word.split("=") for word in packet.split())
        rows[-1]["frame.time_relative"] = str(len(rows) / 1000)
    return capture.Decoder().decode(rows)


class Packets(unittest.TestCase):
    def test_decoder(self):
        """a capture with packets of each kind is decoded"""
        self.assertEqual([ladder.show(line) for line in decode(PACKETS)], LADDER)

    def test_cm(self):
        """REQ and REP say whose the QPs are, and where PSNs begin; what is refused has no QP"""
        def mad(kind, *ids, **fields):
            data = bytearray(256)
            data[15], data[17] = ids[0], kind
            for place, value in (("24", ids[0]), ("28", ids[-1]), *fields.items()):
                at = int(place.strip("_"))
                data[at:at + 4] = value.to_bytes(4, "big")
            return f"op=100 ib.bth.psn=0 ib.bth.destqp=0x000001 udp.payload={'0' * 40}{data.hex()} ipv6.dst=fe80::"
        # The fields of three bytes are the first ones of four.
        req, rep = {"_56": 0x1100, "_68": 0x700}, {"_36": 0x1200, "_44": 0xfffffe00}
        lines = decode(f"""
{mad(0x10, 1, **req)}2222:2222:2222:2222
{mad(0x12, 9, 1, _34=0x80000)}1111:1111:1111:1111
{mad(0x10, 2, **req)}2222:2222:2222:2222
{mad(0x10, 2, **req)}2222:2222:2222:2222
{mad(0x13, 8, 2, **rep)}1111:1111:1111:1111
{mad(0x14, 2, 8)}2222:2222:2222:2222
<client> op=4 ib.bth.psn=8 udp.length=32 ib.bth.padcnt=0
<server> op=4 ib.bth.psn=16777215 udp.length=32 ib.bth.padcnt=0
""")
        self.assertEqual([f"{line.way} {line.what}{line.more}" for line in lines[:6]],
                         ["--> REQ (CM)", "<-- REJ (CM) reason 8", "--> REQ (CM)", "--> REQ (CM), again",
                          "<-- REP (CM)", "--> RTU (CM)"])
        self.assertEqual([(line.way, line.psn) for line in lines[6:]], [("<--", 1), ("-->", 1)])

    def test_unheard(self):
        """without QP info, and with IPv4, each receiver is a server"""
        send = "ip.dst=10.0.0.{0} op=4 ib.bth.destqp=0x00001{0} ib.bth.psn=7 udp.length=28 ib.bth.padcnt=0"
        lines = decode("\n".join(send.format(n) for n in (1, 2, 1)))
        self.assertEqual([(line.way, line.qp, line.psn, line.more) for line in lines],
                         [("-->", "A", 0, ""), ("-->", "B", 0, ""), ("-->", "A", 0, ", again")])

    def test_read_again(self):
        """a READ that goes on from the middle of its answer is one that was there"""
        lines = decode(PACKETS[:PACKETS.index("<server> op")] + "\n".join(
            f"{who} op={op} ib.bth.psn={psn} udp.length=1064 ib.bth.padcnt=0 ib.reth.dmalen=9 <place>" for who, op, psn in
            (("<server>", 12, 0), ("<client>", 13, 0), ("<client>", 14, 1), ("<server>", 12, 1), ("<client>", 13, 1), ("<server>", 12, 4))))
        self.assertEqual([i for i, line in enumerate(lines[3:]) if line.more.endswith(", again")], [3, 4])

    def test_rnr_wait(self):
        """timer codes of RNR NAKs are those of the specification"""
        codes = {0: 655.36, 1: 0.01, 2: 0.02, 3: 0.03, 12: 0.64, 24: 40.96, 31: 491.52}
        self.assertEqual({code: capture.rnr_wait(code) for code in codes}, codes)

    def test_parse(self):
        """what is shown is parsed"""
        for qp in "", "B":
            for line in decode(PACKETS):
                line.qp = qp if line.way else ""
                self.assertEqual(ladder.parse(ladder.show(line, qp != "")), line)

    def test_fold(self):
        """lines that repeat themselves are folded, and many lines; but no NAK"""
        send, nak, ack = (ladder.parse(LADDER[i]) for i in (3, 4, 7))
        self.assertEqual(ladder.fold([send, nak]), LADDER[3:5])
        self.assertEqual(ladder.fold([send, *[ack] * 5])[2:], [f"{GAP} 4 more like this"])
        self.assertEqual(ladder.fold([send, ack, ack] * 4)[3:], [f"{GAP} these 3 lines 3 times more"])
        many = ladder.fold([capture.Line(0, "-->", "SEND only", psn=0, amount=i) for i in range(50)])
        self.assertEqual((len(many), many[24].split(";")[0]), (31, f"{GAP} 20 more lines like these"))
        other = [capture.Line(0, "-->", "SEND only" if i not in (5, 30) else "NAK: invalid request", psn=0, amount=i) for i in range(50)]
        self.assertEqual([text for text in ladder.fold(other) if "NAK" in text], [ladder.show(other[5]), ladder.show(other[30])])

    def test_missing(self):
        """an excerpt is compared with a capture: each QP has its own order, and each side its own ACKs"""
        live = decode(PACKETS)
        for excerpt, fault in (  # and the line that is at fault
                (LADDER, None),
                ([LADDER[3], LADDER[5], LADDER[8], GAP, *LADDER[11:]], None),
                ([LADDER[8].replace("+8", "+0 or +8")], None),
                ([LADDER[8], LADDER[10]], 10),
                ([LADDER[9], LADDER[8]], 8),
                ([LADDER[8], LADDER[7]], 7),
                ([LADDER[14], LADDER[2], LADDER[1]], 1),
                ([LADDER[8], f"{GAP} 4 more like this"], 8)):
            faults = compare.missing(excerpt, live)
            self.assertEqual(len(faults), fault is not None)
            if faults:
                self.assertIn(compare.words(live[fault]), faults[0])
        two = [f"0 client {line[:3]} server {line[4:]}" for line in (
            "--> A SEND only PSN 0", "--> B SEND only PSN 5", "<-- A ACK PSN 0", "--> A SEND only PSN 1", "<-- A READ response last PSN 2", "<-- A ACK PSN 2",
            "<-- B SEND only PSN 6", "<-- B ACK PSN 6", "--> A ACK PSN 4", "<-- A ACK PSN 4", "<-- B ACK PSN 0")]
        for excerpt, places, faults in (
                ((0, 3, 5), range(6), []), ((1,), (0, 1, 2), []), ((1, 10), (0, 1, 2), [10]), ((0, 3, 5), (0, 3, 2), [5]), ((), range(10), [7, 8, 9])):
            said = compare.missing([two[i] for i in excerpt], [ladder.parse(two[i]) for i in places])
            self.assertEqual([fault.partition(": ")[2] for fault in said], [two[i][2:] for i in faults])


cases(Packets, "packets: ")
end()
