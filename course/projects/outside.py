# SPDX-License-Identifier: MIT
"""How a judge starts programs, looks at them from outside, and ends them."""
import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.append('course/packets')
from capture import NAKS, OPCODES  # noqa: E402

DEVICES = {'server': os.environ.get('DEV_SERVER', ''), 'client': os.environ.get('DEV_CLIENT', '')}


RUN = ''  # the student's script, set by course/judge


class Wrong(Exception):
    """What is said of a stage that fails."""


class Program:
    """A program in a session of its own, so that all it started can be found and killed."""
    all = []

    def __init__(self, args, stdin='', stdout=None, **env):
        """Without stdin it is a pipe, process.stdin; stdout may be a descriptor."""
        self.files = [tempfile.TemporaryFile() for _ in range(2)]
        given = subprocess.PIPE
        if stdin is not None:
            given = tempfile.TemporaryFile()
            given.write(stdin.encode())
            given.seek(0)
        self.process = subprocess.Popen(args, stdin=given, stdout=stdout or self.files[0], stderr=self.files[1],
                                        start_new_session=True, env={**os.environ, **env})
        self.all.append(self)

    def said(self, i=0):
        return os.pread(self.files[i].fileno(), 100000, 0).decode(errors='replace').splitlines()

    def last(self):
        return (self.said()[-1:] or self.said(1)[-1:] or ['nothing'])[0]

    def state(self):
        """For a verdict: what it said last, and how it ended if it has."""
        status = self.process.poll()
        how = 'still runs' if status is None else (
            f'was ended by {signal.Signals(-status).name}' if status < 0 else f'ended with {status}')
        return f'yours {how}, and said last: {self.last()}'

    def pids(self):
        found = []
        for name in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open(f'/proc/{name}/stat') as stat:
                    fields = stat.read().rpartition(')')[2].split()
            except OSError:
                continue
            if int(fields[3]) == self.process.pid and fields[0] != 'Z':
                found.append(int(name))
        return found

    def signal(self, number, pids=None):
        """To its process group at once, or to these; then to what has left the group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)
        for pid in pids or self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self, pids=None):
        """At once, if its pids are known: to look for them takes a while."""
        self.signal(signal.SIGKILL, pids)
        self.signal(signal.SIGKILL)
        self.process.wait()
        if self.process.stdin:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()

    @classmethod
    def kill_all(cls):
        while cls.all:
            cls.all.pop().kill()

    def cpu(self):
        """Seconds of CPU that it has used, in user mode and in the kernel."""
        ticks = 0
        for pid in self.pids():
            with contextlib.suppress(OSError), open(f'/proc/{pid}/stat') as stat:
                ticks += sum(map(int, stat.read().rpartition(')')[2].split()[11:13]))
        return ticks / os.sysconf('SC_CLK_TCK')

    def end(self, seconds):
        """Its status, once it has ended and left nothing."""
        if not within(seconds, lambda: self.process.poll() is not None):
            raise Wrong(f'your program still runs after {seconds} s; it said last: {self.last()}')
        if not within(1, lambda: not self.pids()):
            raise Wrong('your program has ended, and left a process behind: what did it start, and who waits for it?')
        return self.process.returncode

    def objects(self, kind):
        """Its QPs ('qp') or regions ('mr'), as the kernel sees them."""
        shown = subprocess.run(['rdma', '-j', 'res', 'show', kind], capture_output=True, text=True, timeout=10).stdout
        pids = self.pids()
        return [found for found in json.loads(shown or '[]') if found.get('pid') in pids]

    def states(self):
        return [qp['state'] for qp in self.objects('qp')]

    def pinned(self):
        """The bytes that the kernel has pinned for it."""
        kib = 0
        for pid in self.pids():
            try:
                with open(f'/proc/{pid}/status') as status:
                    kib += sum(int(line.split()[1]) for line in status if line.startswith('VmPin:'))
            except OSError:
                pass  # it has just ended
        return kib * 1024


class Wire:
    """What crosses the wire from now on, as the server's interface sees it. The kernel keeps the
    first packets, as many as fit into 16 MB."""

    def __init__(self):
        self.seen, self.start = [], time.time()
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
        self.socket.setsockopt(socket.SOL_SOCKET, 29, 1)  # SO_TIMESTAMP
        self.socket.setblocking(False)
        self.socket.bind((interface('server'), 3))  # ETH_P_ALL

    def packets(self):
        """(ms, sender, opcode, PSN, length of the UDP payload, AETH syndrome) of each RoCE packet."""
        try:
            while True:
                frame, extra, _, address = self.socket.recvmsg(200, 64)
                ip = frame[14:]
                udp = ip[40:] if frame[12:14] == b'\x86\xdd' else ip[20:] if frame[12:14] == b'\x08\x00' else b''
                if udp[2:4] == b'\x12\xb7' and len(udp) >= 20:
                    seconds, micros = struct.unpack('qq', extra[0][2][:16])
                    self.seen.append(((seconds - self.start) * 1e3 + micros / 1e3,
                                      'server' if address[2] == 4 else 'client',  # PACKET_OUTGOING
                                      udp[8], int.from_bytes(udp[17:20], 'big'),
                                      int.from_bytes(udp[4:6], 'big') - 8, udp[20] if udp[8] in (13, 15, 16, 17, 18)
                                      else None))
        except BlockingIOError:
            return self.seen

    def show(self, most=24):
        """The last packets, as lines; PSNs are whole, and lengths are from the BTH to the ICRC."""
        seen = self.packets()
        if len(seen) > most:
            yield f'    ... {len(seen) - most} packets before'
        for ms, sender, op, psn, length, syndrome in seen[-most:]:
            what = OPCODES[op][0] if op < len(OPCODES) else f'opcode {op:#x}'
            kind = '' if syndrome is None else ('', 'RNR NAK', '', 'NAK')[syndrome >> 5 & 3]
            if kind == 'NAK':
                kind += f' {NAKS[syndrome & 31] if syndrome & 31 < len(NAKS) else syndrome}'
            way = 'client --> server' if sender == 'client' else 'client <-- server'
            yield f'    {ms:9.3f}  {way}  {kind or what:24} PSN {psn:<8} {length:5} bytes'.rstrip()


def within(seconds, look, pause=0.02):
    end = time.monotonic() + seconds
    while not look():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True


def sent():
    """RoCE packets that both devices have sent."""
    total = 0
    for device in DEVICES.values():
        with open(f'/sys/class/infiniband/{device}/ports/1/hw_counters/sent_pkts') as counter:
            total += int(counter.read())
    return total


def port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return str(s.getsockname()[1])


def interface(role):
    """The network interface of its device."""
    with open(f'/sys/class/infiniband/{DEVICES[role]}/ports/1/gid_attrs/ndevs/0') as ndev:
        return ndev.read().strip()


def arrived(role='server'):
    """The bytes that have come to its device, ever. The lab's TCP goes another way."""
    with open(f'/sys/class/net/{interface(role)}/statistics/rx_bytes') as count:
        return int(count.read())


@contextlib.contextmanager
def bad_wire(fault):
    """A fault of netem in both directions, put there before any QP is, and gone after the last."""
    nets = [interface(role) for role in DEVICES]
    try:
        for net in nets:
            tc = subprocess.run(['tc', 'qdisc', 'replace', 'dev', net, 'root', 'netem', *fault.split()],
                                capture_output=True, text=True)
            if tc.returncode:
                raise OSError(f'netem on {net}: {tc.stderr.strip()}')
        yield
    finally:
        Program.kill_all()
        for net in nets:
            subprocess.run(['tc', 'qdisc', 'del', 'dev', net, 'root'], capture_output=True)


def other(role):
    return 'client' if role == 'server' else 'server'


def host(role):
    return ['127.0.0.2'] if role == 'client' else []  # any address is listened on


def fails(you, role, what, seconds):
    """Does it end in time, with one line of FAIL?"""
    try:
        status = you.end(seconds)
    except Wrong as wrong:
        raise Wrong(f'{what}: {wrong}') from None
    lines = [line for line in you.said() if 'FAIL' in line]
    if status == 0 or len(lines) != 1:
        raise Wrong(f'{what}: your {role} must say one line with FAIL on stdout, and end with a status that is not 0: '
                    f'{len(lines)} lines, status {status}')
