# SPDX-License-Identifier: MIT
"""11_rdma_cm/lesson.py - what server.py and client.py share: lesson.h, cm.h and the command line."""
import getopt
import os
import select
import signal
import socket
import struct
import sys
import time
from enum import EnumMeta

try:
    try:
        import pyverbs.cm_enums as ce
        import pyverbs.enums as e
    except ImportError:  # rdma-core 59 and later
        import pyverbs.libibverbs_enums as e
        import pyverbs.librdmacm_enums as ce
    from pyverbs.cmid import AddrInfo, CMEvent
    from pyverbs.cq import CQ
    from pyverbs.device import Context, get_device_list
    from pyverbs.qp import QPCap, QPInitAttr
except ImportError as why:
    sys.exit(f"no pyverbs for {sys.executable} ({why}): type make deps")
for module in e, ce:  # there a name is only in its enum: e.ibv_wc_opcode.IBV_WC_RECV
    for names in [kind for kind in vars(module).values() if isinstance(kind, EnumMeta)]:
        vars(module).update(names.__members__)

COUNT_MAX, BYTES_MAX, DATA_MAX = 1000, 65536, 1 << 20
OP_WRITE, OP_READ = 1, 2
WISH = struct.Struct("!4sIII")  # magic, operation, count, bytes
OFFER, DONE, RIGHT = 1, 2, 3
MESSAGE = struct.Struct("!IIQQ")  # kind, rkey, address, length
RECEIVES = 3
ROLE = os.path.basename(sys.argv[0]).removesuffix(".py")


def say(text, to=1):
    os.write(to, f"{ROLE}: {text}\n".encode())


def note(text):
    say(f"# {text}", 2)


def die(text):
    """Ends at once: what pyverbs has made is undone by the kernel."""
    say(f"FAIL {text}")
    os._exit(1)


def expected(count):
    """What must be in memory in the end: byte_at() of lesson.h."""
    return bytes((k * 7 + k // 256 * 3) % 256 for k in range(count))


def wish_unpack(data):
    """The wish, and why it is wrong, or "". Anybody may have sent it."""
    if len(data) < WISH.size or data[:4] != b"CM11":
        return None, "this is lesson 11, and you are not"
    _, *wish = WISH.unpack(data[:WISH.size])
    operation, count, size = wish
    if operation not in (OP_WRITE, OP_READ):
        return None, f"no such operation: {operation}"
    if not 1 <= count <= COUNT_MAX:
        return None, f"1 to {COUNT_MAX} requests, not {count}"
    if not 1 <= size <= BYTES_MAX:
        return None, f"1 to {BYTES_MAX} bytes, not {size}"
    if count * size > DATA_MAX:
        return None, f"{count * size} bytes in all are more than {DATA_MAX}"
    return wish, ""


def number(options, letter, default, most, least=1):
    text = options.get("-" + letter, default)
    if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
        die(f"-{letter} takes a number from {least} to {most}, not \"{text}\"")
    return int(text)


def operation_of(options, default):
    op = options.get("-o", default)
    if op not in ("write", "read", default):
        die(f"-o is write or read, not \"{op}\"")
    return op


def wish_fits(wish, only):
    """Why it is not the only one that is served, or "". None in only: any."""
    op, count, size = only
    if op and wish[0] != (OP_WRITE if op == "write" else OP_READ):
        return f"only {op} here (-o)"
    if count and wish[1] != count:
        return f"only {count} requests here (-n), not {wish[1]}"
    if size and wish[2] != size:
        return f"only {size} bytes in each here (-b), not {wish[2]}"
    return ""


def command_line(letters):
    """The options; a host behind them is that of -s."""
    usage = f"usage: {ROLE}.py " + " ".join(f"[-{letter} ...]" for letter in letters) + ": as ./README.md says"
    try:
        found, rest = getopt.gnu_getopt(sys.argv[1:], letters.replace("", ":")[1:] + "h")
    except getopt.GetoptError as error:
        say(str(error), 2)
        sys.exit(usage)
    options = dict(found)
    if "-h" in options:
        print(usage)
        sys.exit()
    if rest:
        options.setdefault("-s", rest[0])
    options["port"] = str(number(options, "p", "18515", 65535))
    options["wait"] = number(options, "t", "6", 3600)
    signal.signal(signal.SIGALRM, lambda *_: die("the whole program took too long"))
    signal.alarm(10 * options["wait"])
    return options


# ---- addresses ----

def device_address(name, options):
    """The address of a device, or of the first, by its GID: as text, with its scope; and the scope."""
    devices = [device.name.decode() for device in get_device_list()]
    name = name or (devices[0] if devices else "")
    if name not in devices:
        die(f"no RDMA device {name} (-d), see ibv_devices")
    with Context(name=name) as context:
        port = number(options, "i", "1", 254)
        table = [entry for entry in context.query_gid_table(256) if entry.port_num == port]
        if "-g" in options:
            index = number(options, "g", "", 255, 0)
            table = [entry for entry in table if entry.gid_index == index]
    # RoCE v2 before v1, IPv4 before IPv6.
    best = max(table, default=None, key=lambda entry: (entry.gid_type, "0000:ffff:" in entry.gid_str()))
    if best is None:
        die(f"{name} has no usable GID: has its network interface an IP address?")
    raw = bytes.fromhex(best.gid_str().replace(":", ""))
    note(f"{name} port {port}, GID {best.gid_index}: {socket.inet_ntop(socket.AF_INET6, raw)}")
    if raw[:12] == bytes(10) + b"\xff\xff":
        return socket.inet_ntop(socket.AF_INET, raw[12:]), ""
    scope = "%" + socket.if_indextoname(best.ndev_ifindex) if raw[:2] == b"\xfe\x80" else ""
    return socket.inet_ntop(socket.AF_INET6, raw) + scope, scope


def server_address(options, scope):
    """That of -s, or of the device DEV_SERVER here, or of our own."""
    host = options.get("-s")
    if host is None:
        own = {key: value for key, value in options.items() if key != "-g"}
        host, _ = device_address(os.environ.get("DEV_SERVER") or options.get("-d"), own)
        return host.partition("%")[0] + scope if scope else host
    return host + scope if host.lower().startswith("fe80") and "%" not in host else host


# ---- events ----

def descriptor():
    """pyverbs does not tell the descriptor of its channel; it is the last one that was opened."""
    found = [int(fd) for fd in os.listdir("/proc/self/fd")
             if os.path.realpath(f"/proc/self/fd/{fd}") == "/dev/infiniband/rdma_cm"]
    return max(found)


class Events:
    """The events of a channel, each with a deadline."""

    def __init__(self, channel, wait):
        self.channel, self.wait, self.fd = channel, wait, descriptor()
        self.gone = False

    def there(self, seconds):
        return bool(select.select([self.fd], [], [], seconds)[0])

    def next(self, waiting_for):
        if not self.there(self.wait):
            die(f"waiting for {waiting_for}: it takes too long")
        return CMEvent(self.channel)

    def must_be(self, event, wanted):
        """Ends the program, with what happened instead. (pyverbs does not tell an event's status.)"""
        if event.event_type == wanted:
            return
        said = "".join(chr(c) if 32 <= c < 127 else "?" for c in event.private_data.partition(b"\0")[0])
        die(event.event_str() + (f": the server says: {said}" if said else ""))

    def expect(self, wanted):
        event = self.next(ce.rdma_cm_event_type(wanted).name)
        while event.event_type == ce.RDMA_CM_EVENT_CONNECT_REQUEST:  # see hung_up()
            event.ack_cm_event()
            event = self.next(ce.rdma_cm_event_type(wanted).name)
        self.must_be(event, wanted)
        event.ack_cm_event()

    def hung_up(self):
        """Did an event come? Then it is the end of the connection, or another client, who gets no answer. (server.c
        destroys its listener; in pyverbs that would take the device from the connection, too.)"""
        if self.gone or not self.there(0.001):
            return self.gone
        event = CMEvent(self.channel)
        if event.event_type not in (ce.RDMA_CM_EVENT_TIMEWAIT_EXIT, ce.RDMA_CM_EVENT_CONNECT_REQUEST):
            self.must_be(event, ce.RDMA_CM_EVENT_DISCONNECTED)
            self.gone = True
        event.ack_cm_event()
        return False


class Queues:
    """CQ, QP and messages of an id."""

    def __init__(self, cmid, events):
        self.cmid, self.events = cmid, events
        self.cq = CQ(cmid.context, RECEIVES + 2)
        self.came = self.taken = 0
        cap = QPCap(max_send_wr=2, max_recv_wr=RECEIVES, max_send_sge=1, max_recv_sge=1)
        # DOC: create-qp
        cmid.create_qp(QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq, cap=cap))
        self.outbox, *self.inbox = [cmid.reg_msgs(MESSAGE.size) for _ in range(1 + RECEIVES)]
        for place in self.inbox:
            cmid.post_recv(place)

    def next_completion(self, what):
        end = time.monotonic() + self.events.wait
        while True:
            count, found = self.cq.poll()
            if count:
                return found[0]
            if self.events.hung_up():
                die(f"waiting for {what}: the peer hung up")
            if time.monotonic() > end:
                die(f"waiting for {what}: it takes too long")

    def completion(self, what):
        wc = self.next_completion(what)
        if wc.status != e.IBV_WC_SUCCESS:
            die(f"{what}: status {wc.status} (enum ibv_wc_status)")
        self.came += wc.opcode == e.IBV_WC_RECV
        return wc.opcode

    def post(self, kind, length, rkey=0, address=0):
        self.outbox.write(MESSAGE.pack(kind, rkey, address, length), MESSAGE.size)
        self.cmid.post_send(self.outbox)

    def send(self, *message):
        self.post(*message)
        while self.completion("SEND") == e.IBV_WC_RECV:
            pass

    def take(self, wanted, name):
        """rkey, address and length of the next message."""
        while self.came == self.taken:
            self.completion(name)
        kind, *rest = MESSAGE.unpack(self.inbox[self.taken].read(MESSAGE.size, 0))
        self.taken += 1
        if kind != wanted:
            die(f"a message of kind {kind} came, and not {name}")
        return rest

    def drain(self, sends):
        """The QP is in ERROR: takes what it owes us, of receives and of so many SENDs, and returns how many
        receives were flushed. (All have wr_id 0 here; a SEND that is flushed looks like a receive.)"""
        owed = RECEIVES - self.came
        for _ in range(owed + sends):
            self.events.gone = False
            wc = self.next_completion("a flushed request")
            if wc.status != e.IBV_WC_WR_FLUSH_ERR and (wc.status != e.IBV_WC_SUCCESS or wc.opcode != e.IBV_WC_SEND):
                die("a receive after the end was not flushed")
        return owed

    def close(self):
        for mr in self.outbox, *self.inbox:
            mr.close()
        self.cmid.close()
        self.cq.close()


def address_info(source, target, port):
    """rdma_getaddrinfo(): source alone is where to listen. (Of its errors pyverbs tells only errno, which says nothing.)"""
    try:
        socket.getaddrinfo(os.fsencode(target or source), None)
    except socket.gaierror as error:
        die(f"the server's address \"{target or source}\" (-s): {error.strerror}")
    flags = {} if target else {"flags": ce.RAI_PASSIVE}
    service = {"dst_service": port} if target else {"src_service": port}
    return AddrInfo(src=source, dst=target, port_space=ce.RDMA_PS_TCP, **service, **flags)
