#!/usr/bin/python3 -B
"""tests/packets.py - unit tests of course/packets. No device, no tshark: what it would print is
here as NAME=VALUE. Prints a line for each test."""
import pathlib
import sys
import tempfile
import traceback
import unittest

sys.path.insert(0, "course/packets")
import capture
import compare
import ladder
import picture

CLIENT, SERVER = "fe80000000000000" + "1" * 16, "fe80000000000000" + "2" * 16
TO_CLIENT, TO_SERVER = "ipv6.dst=fe80::1111:1111:1111:1111", "ipv6.dst=fe80::2222:2222:2222:2222"
# QP info: QP 0x11, first PSN 0xfffffe, no region; QP 0x12, PSN 5, rkey 7, 64 bytes at 0x1000.
INFOS = (
    "tcp.stream=0 tcp.srcport=40000 tcp.payload=52444d41000400030000001100fffffe0000030000000000"
    + CLIENT + "0" * 32,
    "tcp.stream=0 tcp.srcport=18515 tcp.payload=52444d4100040003000000120000000500000300",
    "tcp.stream=0 tcp.srcport=18515 tcp.payload=00000007" + SERVER
    + "00000000000010000000000000000040" + "42",
)
ACK = TO_CLIENT + " bth.opcode=17 bth.destqp=0x000011 aeth.syndrome.opcode="
REQUEST = TO_SERVER + " bth.destqp=0x000012 bth.opcode="
PLACE = " reth.r_key=0x00000007 reth.va=0x0000000000001008"
PACKETS = (
    REQUEST + "4 bth.psn=16777214 udp.length=32 bth.padcnt=3",
    ACK + "1 bth.psn=16777214 aeth.syndrome.timer=24",
    REQUEST + "5 bth.psn=16777214 udp.length=32 bth.padcnt=0 immdt=0a",
    REQUEST + "4 bth.psn=16777214 udp.length=32 bth.padcnt=3",
    ACK + "0 bth.psn=16777214",
    REQUEST + "6 bth.psn=16777215 udp.length=1064 bth.padcnt=0 reth.dmalen=2000" + PLACE,
    REQUEST + "12 bth.psn=0 reth.dmalen=2000 reth.r_key=0x00000009 reth.va=0x0000000000002000",
    REQUEST + "19 bth.psn=1 atomiceth.cmpdt=5 atomiceth.swapdt=72057594037927937" + PLACE,
    ACK.replace("=17", "=18") + "0 bth.psn=1 atomicacketh.origremdt=5",
    REQUEST + "20 bth.psn=2 atomiceth.swapdt=1" + PLACE,
    ACK + "3 bth.psn=2 aeth.syndrome.error_code=2",
    "udp.payload=" + b"client: <done>\n".hex(),
    "udp.payload=" + b"trace: end\n".hex(),
    ACK + "0 bth.psn=3",
)
LADDER = """\
     0.000  client --> server  QP info (TCP)
     1.000  client <-- server  QP info (TCP)           64 bytes of memory are offered
     1.000  client <-- server  barrier (TCP)
     2.000  client --> server  SEND only               PSN 0       5 bytes
     3.000  client <-- server  RNR NAK, wait 40.96 ms  PSN 0
     4.000  client --> server  SEND only               PSN 0       4 bytes, immediate 0x0000000a
     5.000  client --> server  SEND only               PSN 0       5 bytes, again
     6.000  client <-- server  ACK                     PSN 0
     7.000  client --> server  WRITE first             PSN 1    1024 bytes at +8, of 2000
     8.000  client --> server  READ request            PSN 2    2000 bytes at ~+0
     9.000  client --> server  COMPARE_AND_SWAP        PSN 3    at +8, compare 5, swap 0x100000000000001
    10.000  client <-- server  ATOMIC ACK              PSN 3    old value 5
    11.000  client --> server  FETCH_AND_ADD           PSN 4    at +8, add 1
    12.000  client <-- server  NAK: remote access error PSN 4
    13.000  client: <done>
""".splitlines()


def rows(*texts):
    """What tshark prints, a packet a ms; QP info may come in two pieces."""
    time = 0
    for text in texts:
        row = dict.fromkeys(capture.FIELDS, "") | {"frame.time_relative": str(time / 1000)}
        for word in text.split():
            name, _, field = word.partition("=")
            row[name if name in row else f"ib.{name}"] = field
        yield row
        time += not text.endswith("00000300")
    

def readme(*lines):
    """A README with an excerpt."""
    return "```console\n$ make trace-03 DELAY=20\n" + "".join(f"{s}\n" for s in lines) + "```\n"


class Packets(unittest.TestCase):
    maxDiff = None

    def decode(self, *texts):
        return capture.Decoder().decode(list(rows(*texts)))

    def test_decoder(self):
        """a capture with each kind of packet is decoded"""
        self.assertEqual([ladder.show(line) for line in self.decode(*INFOS, *PACKETS)], LADDER)

    def test_unheard(self):
        """without QP info, and with IPv4, each receiver is a server"""
        words = "ip.dst=10.0.0.{0} bth.opcode=4 bth.destqp=0x00001{0} bth.psn=7 udp.length=28 bth.padcnt=0"
        text = [ladder.show(line, True) for line in self.decode(*map(words.format, (1, 2, 1)))]
        self.assertEqual(text, [
            "     0.000  client --> server A  SEND only               PSN 0       4 bytes",
            "     1.000  client --> server B  SEND only               PSN 0       4 bytes",
            "     2.000  client --> server A  SEND only               PSN 0       4 bytes, again"])

    def test_rnr_wait(self):
        """timer codes of RNR NAKs are those of the specification"""
        codes = {0: 655.36, 1: 0.01, 2: 0.02, 3: 0.03, 12: 0.64, 24: 40.96, 31: 491.52}
        self.assertEqual({code: capture.rnr_wait(code) for code in codes}, codes)

    def test_parse(self):
        """what is shown is parsed"""
        for qp in "", "B":
            for line in self.decode(*INFOS, *PACKETS):
                line.payload, line.qp = b"", qp if line.way else ""
                self.assertEqual(ladder.parse(ladder.show(line, qp != "")), line)

    def test_fold(self):
        """lines that repeat themselves are folded, and many lines; but no NAK"""
        ack, send = ladder.parse(LADDER[7]), ladder.parse(LADDER[3])
        self.assertEqual(ladder.fold([send, *[ack] * 5, send])[2:], [
            "            ... 4 more like this", LADDER[3]])
        self.assertEqual(ladder.fold([send, ack, ack] * 4)[3:], [
            "            ... these 3 lines 3 times more"])
        nak = ladder.parse(LADDER[4])
        self.assertEqual(ladder.fold([send, nak]), [LADDER[3], LADDER[4]])
        many = [capture.Line(0, "-->", "SEND only", psn=i, amount=i) for i in range(50)]
        folded = ladder.fold(many)
        self.assertEqual((len(folded), folded[24][:31]), (31, "            ... 20 more lines l"))

    def test_missing(self):
        """an excerpt is compared with a capture"""
        live = self.decode(*INFOS, *PACKETS)
        wire, order = "not so on the wire: ", "not there, or not in this order: "
        def faults(*excerpt):
            return compare.missing(excerpt, live)
        self.assertEqual(faults(*LADDER), [])
        self.assertEqual(faults(LADDER[3], LADDER[5], LADDER[8], "            ...", *LADDER[11:]), [])
        self.assertEqual(faults(LADDER[8].replace("+8", "+0 or +8")), [])
        self.assertEqual(faults(LADDER[9], LADDER[8]), [wire + compare.words(live[8])])
        self.assertEqual(faults(LADDER[8], LADDER[10]), [wire + compare.words(live[10])])
        self.assertEqual(faults(LADDER[8], LADDER[7]), [wire + compare.words(live[7])])
        self.assertEqual(faults(LADDER[14], LADDER[2], LADDER[1]), [order + compare.words(live[1])])
        self.assertEqual(faults(LADDER[8], "            ... 4 more like this"),
                         [wire + "alike " + compare.words(live[8])])

    def test_picture(self):
        """a picture has arrows, a cut where time is long, and escaped text"""
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory, "README.md")
            file.write_text(readme(LADDER[4], LADDER[10], LADDER[14].replace("13", "93")))
            svg = picture.draw(str(file))
        for text in ("make trace-03 DELAY=20", 'class="label nak-text"', ">RNR NAK, wait 40.96 ms, PSN 0<",
                     ">COMPARE_AND_SWAP, PSN 3, at +8<", ">compare 5, swap ", ">84 ms<", "&lt;done&gt;<"):
            self.assertIn(text, svg)


class Result(unittest.TestResult):
    def addSuccess(self, test):
        print(f"ok packets: {test.shortDescription()}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        print("    " + "".join(traceback.format_exception(*err)).replace("\n", "\n    "))
        print(f"not ok packets: {test.shortDescription()}")

    addError = addFailure


if __name__ == "__main__":
    result = unittest.defaultTestLoader.loadTestsFromTestCase(Packets).run(Result())
    sys.exit(not result.wasSuccessful())
