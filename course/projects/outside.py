# SPDX-License-Identifier: MIT
"""How a judge starts programs, looks at them from outside, and ends them.

With two machines (HOSTS=2) the judge is where the clients are, and another process of it where
the server is: AT['server'] makes a Program, a Folder or a Machine there, and each call of a method
of these is made there, too.
"""
# What few need is imported there: an emulated machine takes 0.1 s for json alone.
import contextlib
import fcntl
import functools
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

DEVICES = {'server': os.environ.get('DEV_SERVER', ''), 'client': os.environ.get('DEV_CLIENT', '')}
SERVER = os.environ.get('JUDGE_SERVER', '127.0.0.2')  # where a client finds it
RUN = ''  # the student's script, set by course/judge
# For a program whose calls of libibverbs are recorded, or slowed down.
PRELOAD = {'LD_PRELOAD': os.path.abspath('build/judges/projects/rights.so'), 'ASAN_OPTIONS': 'verify_asan_link_order=0'}
TROUBLE = [OSError, EOFError, subprocess.SubprocessError]  # what ends a stage, and is no verdict
AT = {}  # what makes the objects of a role: this module, or that of another machine


class Wrong(Exception):
    """What is said of a stage that fails."""


class Local(Wrong):
    """The same, of what packets do not explain: files, memory, rights."""


def within(seconds, look, pause=0.02):
    end = time.monotonic() + seconds
    while not look():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True


def patient(look, work, idle=8, most=60, pause=0.02):
    """As long as work() changes: to be slow is no fault. False: look() was not true, and for `idle` seconds
    nothing was done, or `most` are over."""
    end, seen, since, due = time.monotonic() + most, None, 0, 0
    while not look():
        now = time.monotonic()
        if now > due:  # to look into /proc takes a while
            due, done = now + 0.5, work()
            if done != seen:
                seen, since = done, now
        if now > min(end, since + idle):
            return False
        time.sleep(pause)
    return True


class Program:
    """A program in a session of its own, so that all it started can be found and killed."""
    all = []
    threads = set()  # the kernel's, which are most of what /proc has

    def __init__(self, args, stdin='', stdout=None, **env):
        """Without stdin it is a pipe, process.stdin; stdout may be a descriptor."""
        self.files = [tempfile.TemporaryFile() for _ in range(2)]
        given = subprocess.PIPE
        if stdin is not None:
            given = tempfile.TemporaryFile()
            given.write(stdin.encode())
            given.seek(0)
        self.mark, self.device = str(time.monotonic_ns()), env.get('DEVICE')
        try:
            self.process = subprocess.Popen(args, stdin=given, stdout=stdout or self.files[0], stderr=self.files[1],
                                            start_new_session=True, env={**os.environ, **env, 'JUDGED': self.mark})
        except OSError as why:  # the reason is not that the file is missing, even if it says so
            raise OSError(f'{args[0]} cannot be started ({why.strerror}): is its first line "#!/bin/sh", '
                          'and without a CR at the end?') from None
        self.all.append(self)

    def status(self):
        """None: it still runs."""
        return self.process.poll()

    def said(self, i=0):
        """Its lines; while it runs those that are whole."""
        runs = self.status() is None
        text = os.pread(self.files[i].fileno(), 1 << 24, 0).decode(errors='replace')
        return (text[:text.rfind('\n') + 1] if runs else text).splitlines()

    def last(self):
        errors = [line for line in self.said(1) if ' error: ' in line] or self.said(1)  # a compiler's is not its last
        return (self.said()[-1:] or errors[-1:] or ['nothing'])[0][:300]

    def state(self, who='yours'):
        """For a verdict: what it said last, and how it ended if it has."""
        status = self.process.poll()
        how = 'still runs' if status is None else (
            f'was ended by {signal.Signals(-status).name}' if status < 0 else f'ended with {status}')
        return f'{who} {how}, and said last: {self.last()}'

    def pids(self, dead=False):
        """dead: also those that have ended, and that nobody has waited for."""
        found = []
        for name in set(filter(str.isdigit, os.listdir('/proc'))) - self.threads:
            with contextlib.suppress(OSError), open(f'/proc/{name}/stat') as stat:
                fields = stat.read().rpartition(')')[2].split()
                if fields[3] == '0':
                    self.threads.add(name)
                if (dead or fields[0] != 'Z') and (int(fields[3]) == self.process.pid or
                                                   int(fields[1]) == os.getpid() and self.left_it(name)):
                    found.append(int(name))
        return found

    def left_it(self, pid):
        """Has it left the session, as a daemon does? It is ours when its parent has ended, see prepare()."""
        with contextlib.suppress(OSError), open(f'/proc/{pid}/environ', 'rb') as environ:
            return f'JUDGED={self.mark}\0'.encode() in environ.read()
        return False

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

    def signal_at(self, number, count, role='server', way='rx'):
        """As soon as the device of its own machine has got (tx: sent) more than so many bytes in all."""
        pids, device = self.pids(), Machine(role)
        within(30, lambda: device.arrived(way) > count, pause=0)
        self.signal(number, pids)

    @classmethod
    def kill_all(cls):
        while cls.all:
            (one := cls.all.pop()).kill()
            sys.stderr.writelines(f'{line}\n' for line in one.said(1) if line[:8] == 'strict: ' and line[8] != '#')

    def proc(self, name):
        """What /proc has of that name, for each of its processes."""
        for pid in self.pids():
            with contextlib.suppress(OSError), open(f'/proc/{pid}/{name}') as file:  # it may just have ended
                yield file.read()

    def cpu(self):
        """Seconds of CPU that it has used, in user mode and in the kernel."""
        ticks = sum(int(n) for stat in self.proc('stat') for n in stat.rpartition(')')[2].split()[11:13])
        return ticks / os.sysconf('SC_CLK_TCK')

    def share(self, seconds):
        """What share of a CPU it uses from now on, for so long."""
        since, used = time.monotonic(), self.cpu()  # on its own machine: to ask takes a while
        time.sleep(seconds)
        return (self.cpu() - used) / (time.monotonic() - since)

    def work(self):
        """Changes while it uses the CPU."""
        return int(self.cpu() * 5)

    def wait_for_port(self, at):
        """Waits until somebody listens there, by TCP: a busy machine starts it late."""
        patient(lambda: any(f':{int(at):04X} 0000' in Machine('server').look(f'/proc/net/tcp{version}') for version in ('', 6)), self.work)

    def end(self, seconds, what=''):
        """Its status, once it has ended and left nothing; if it does not end: in which case that is."""
        ended = lambda: self.status() is not None  # on a busy machine it takes time to end
        if not (within(seconds, ended) or patient(ended, self.work, 2, 4)):
            raise Wrong(f'{what}your program still runs after {seconds} s; it said last: {self.last()}')
        if not within(1, lambda: not self.pids()):
            raise Wrong(f'{what}your program has ended, and left a process behind: what did it start, and who waits for it?')
        return self.process.returncode

    def stuck(self):
        """Waits until one of its threads does, in write(2), because nobody reads what it prints."""
        patient(lambda: os.system(f'grep -qs pipe_write - {" ".join(f"/proc/{pid}/task/*/wchan" for pid in self.pids())} '
                                  '</dev/null') == 0, self.work)

    def objects(self, kind):
        """Its QPs ('qp'), regions ('mr') and so on, as the kernel sees them."""
        import glob, json
        shown = subprocess.run(['rdma', '-j', 'res', 'show', kind], capture_output=True, text=True, timeout=10).stdout
        tasks = {path.rpartition('/')[2] for pid in self.pids() for path in glob.glob(f'/proc/{pid}/task/*')}
        return [found for found in json.loads(shown or '[]')  # without a name: of a thread that has ended
                if str(found.get('pid')) in tasks or ('comm' not in found and found['ifname'] == self.device)]

    def holds(self):
        """How many QPs and so on it has; a process that has ended is one until somebody has waited for it."""
        import glob
        rdma, own = {'QPs': 'qp', 'regions': 'mr', 'CQs': 'cq', 'PDs': 'pd'}, {'open files': 'fd', 'threads or processes': 'task'}
        return {**{name: len(self.objects(kind)) for name, kind in rdma.items()},
                **{name: sum(len(glob.glob(f'/proc/{pid}/{of}/*')) for pid in self.pids(True)) for name, of in own.items()}}

    def states(self):
        return [qp['state'] for qp in self.objects('qp')]

    def pinned(self):
        """The bytes that the kernel has pinned for it."""
        return 1024 * sum(int(status.split('VmPin:')[1].split()[0]) for status in self.proc('status') if 'VmPin:' in status)


class Wire:
    """What crosses the wire from now on, as the client's interface sees it. The kernel keeps the
    first packets, as many as fit into 16 MB."""

    def __init__(self):
        self.seen, self.start, self.boot = [], time.time(), time.monotonic()
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
        self.socket.setsockopt(socket.SOL_SOCKET, 29, 1)  # SO_TIMESTAMP
        self.socket.setblocking(False)
        self.socket.bind((Machine('client').net, 3))  # ETH_P_ALL

    def frames(self):
        """(time, sender, bytes from the BTH on, and how many there are) of each RoCE packet."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(1 << 15):  # more than the kernel keeps: who sends all the time does not hold us up
                frame, extra, _, address = self.socket.recvmsg(200, 64)
                ip = 54 if frame[12:14] == b'\x86\xdd' else 34
                if frame[ip + 2:ip + 4] == b'\x12\xb7' and len(frame) >= ip + 20:
                    self.seen.append((extra[0][2], 'client' if address[2] == 4 else 'server',  # PACKET_OUTGOING
                                      frame[ip + 8:], int.from_bytes(frame[ip + 4:ip + 6], 'big') - 8))
        return self.seen

    def lost(self):
        """How many came later, and were not kept; asked once."""
        return int.from_bytes(self.socket.getsockopt(263, 6, 8)[4:], 'little')  # SOL_PACKET, PACKET_STATISTICS

    def packets(self, most=None):
        """(ms, sender, opcode, PSN, length of the UDP payload, AETH syndrome) of these, or of the last of them."""
        for when, sender, bth, length in self.frames()[-most if most else None:]:
            seconds, micros = struct.unpack('qq', when[:16])
            if seconds < 1 << 30:  # since the boot: netem does that
                seconds += self.start - self.boot
            yield ((seconds - self.start) * 1e3 + micros / 1e3, sender, bth[0], int.from_bytes(bth[9:12], 'big'), length,
                   bth[12] if bth[0] in (13, 15, 16, 17, 18) else None)

    def show(self, most=24):
        """The last packets, as lines; PSNs are whole, and lengths are from the BTH to the ICRC."""
        sys.path.append('course/packets')
        from capture import NAKS, OPCODES
        if len(self.frames()) > most:
            yield f'    ... {len(self.seen) - most} packets before'
        for ms, sender, op, psn, length, syndrome in sorted(self.packets(most), key=lambda packet: packet[0]):
            what = OPCODES[op][0] if op < len(OPCODES) else f'opcode {op:#x}'
            kind = '' if syndrome is None else ('', 'RNR NAK', '', 'NAK')[syndrome >> 5 & 3]
            if kind == 'NAK':
                kind += f' {NAKS[syndrome & 31] if syndrome & 31 < len(NAKS) else syndrome}'
            way = 'client --> server' if sender == 'client' else 'client <-- server'
            yield f'    {ms:9.3f}  {way}  {kind or what:24} PSN {psn:<8} {length:5} bytes'.rstrip()
        if lost := self.lost():
            yield f'    ... {lost} packets behind them, which the judge has not kept'


class Folder:
    """A directory with no more room than that, if `full` says how much."""
    events = {2: 'written', 64: 'moved', 128: 'replaced', 256: 'made', 512: 'removed'}  # of inotify(7)

    def __init__(self, full=None):
        self.top, self.full = tempfile.mkdtemp(), full
        if full:
            subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={full}', 'full', self.top], check=True, timeout=10)

    def path(self, name=''):
        return os.path.join(self.top, name)

    def names(self):
        return sorted(os.listdir(self.top))

    def write(self, name, content):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'wb') as file:
            file.write(content)
        return self.path(name)

    def read(self, name):
        """None: there is no such file."""
        with contextlib.suppress(FileNotFoundError), open(self.path(name), 'rb') as file:
            return file.read()
        return None

    def watch(self):
        """From now on the kernel writes down what happens to the names."""
        from ctypes import CDLL
        self.seen = CDLL(None).inotify_init1(os.O_NONBLOCK)
        CDLL(None).inotify_add_watch(self.seen, self.top.encode(), sum(self.events))

    def first(self, name):
        """What happened to it first; but if it was ever written, that."""
        with open(self.seen, 'rb', 0) as events:
            seen, found = events.read(1 << 16), []
        while seen:
            event, size = struct.unpack('4xI4xI', seen[:16])
            if seen[16:16 + size].rstrip(b'\0') == name.encode():
                found.append(self.events[event])
            seen = seen[16 + size:]
        return found[0] if found and 'written' not in found else 'written'  # no event at all: by mmap(2)

    def remove(self):
        if self.full:
            subprocess.run(['umount', '-l', self.top], check=True, timeout=10)
        shutil.rmtree(self.top, ignore_errors=True)


class Machine:
    """That of a role: its device, and the network interface of that."""

    def __init__(self, role):
        self.device = f'/sys/class/infiniband/{DEVICES[role]}/ports/1/'
        self.net = self.look('gid_attrs/ndevs/0')

    def look(self, name):
        with open(os.path.join(self.device, name)) as file:
            return file.read().strip()

    def gid(self):
        return bytes.fromhex(self.look('gids/0').replace(':', ''))

    def sent(self):
        """RoCE packets that it has sent, ever."""
        return int(self.look('hw_counters/sent_pkts'))

    def arrived(self, way='rx'):
        """The bytes that have come to it, or (tx) left it, ever. The lab's TCP goes another way, or is little."""
        return int(self.look(f'/sys/class/net/{self.net}/statistics/{way}_bytes'))

    def mtu(self, size):
        """Of its Ethernet; the RDMA MTU follows: 1500 allows 1024, 4200 allows 4096."""
        subprocess.run(['ip', 'link', 'set', 'dev', self.net, 'mtu', str(size)], check=True, timeout=10)

    def netem(self, *fault):
        """A fault of what it sends; none: no more."""
        tc = subprocess.run(['tc', 'qdisc', 'replace' if fault else 'del', 'dev', self.net, 'root',
                             *['netem'] * bool(fault), *fault], capture_output=True, text=True)
        if fault and tc.returncode:
            raise OSError(f'netem on {self.net}: {tc.stderr.strip()}')

    def kill_all(self):
        Program.kill_all()
        self.mtu(1500)


@functools.cache  # to make an object on another machine takes 0.3 s, a call of it 3 ms
def machine(role):
    return AT[role].Machine(role)


def there():
    """What another machine makes for us, and how we ask for it."""
    from multiprocessing.managers import BaseManager, RemoteError
    for kind in Program, Folder, Machine:
        BaseManager.register(kind.__name__, kind)
    TROUBLE.append(RemoteError)
    return BaseManager((SERVER, 1), b'judge')


def prepare(role):
    """Whose machine this is; None: both are. That of the server makes what the other asks for, until it is killed."""
    from ctypes import CDLL
    CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
    prepare.alone = open('/tmp/judge', 'w', encoding='utf-8')  # as long as this runs
    try:
        fcntl.flock(prepare.alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as busy:
        raise OSError('another judge is at work in this lab, and would disturb this one: wait until it has ended') from busy
    AT.update({'server': sys.modules[__name__], 'client': sys.modules[__name__]})
    if role == 'server':
        try:
            there().get_server().serve_forever()
        finally:
            Program.kill_all()
    elif role:
        AT['server'] = there()

        def met():
            with contextlib.suppress(OSError):
                return AT['server'].connect() or True
        if not within(30, met):
            raise OSError(f'the server\'s machine, {SERVER}, does not answer')
    for side in map(machine, DEVICES):  # a judge that was killed may have left something
        side.netem()
        side.mtu(1500)


def bench(*options):
    """The bench's client, and its server: what this machine can do just now."""
    at = port()
    AT['server'].Program(['build/bench/server', '-d', DEVICES['server'], '-g', '0', '-p', at, '-t', '30'])
    return AT['client'].Program(['build/bench/client', '-d', DEVICES['client'], '-g', '0', '-p', at, '-t', '30',
                                 *options, SERVER])


def kill_all():
    for role in DEVICES:
        with contextlib.suppress(OSError, EOFError):  # its machine is gone
            machine(role).kill_all()


def sent():
    """RoCE packets that both devices have sent."""
    return sum(machine(role).sent() for role in DEVICES)


def port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return str(s.getsockname()[1])


def silent_peer(at):
    """A peer that connects by TCP to a server, and comes no further. (If none listens, the next program says so.)"""
    peer = socket.socket()
    peer.settimeout(8)
    peer.connect_ex((SERVER, int(at)))
    return peer


def arrived(role='server'):
    return machine(role).arrived()


@contextlib.contextmanager
def bad_wire(fault):
    """A fault of netem in both directions, put there before any QP is, and gone after the last."""
    try:
        for role in DEVICES:
            machine(role).netem(*fault.split())
        yield
    finally:
        kill_all()
        for role in DEVICES:
            machine(role).netem()


def other(role):
    return 'client' if role == 'server' else 'server'


def fails(you, role, what, seconds):
    """Does it end in time, with one line of FAIL?"""
    status = you.end(seconds, f'{what}: ')
    lines = [line for line in you.said() if 'FAIL' in line]
    if status == 0 or len(lines) != 1:
        raise Wrong(f'{what}: your {role} must say one line with FAIL on stdout, and end with a status that is not 0: '
                    f'it said {len(lines)} such lines, and ended with {status}')
