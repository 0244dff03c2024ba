# SPDX-License-Identifier: MIT
"""The stages of project 2."""
import contextlib
import os
import random
import select
import signal
import time

from . import outside
from .outside import (AT, DEVICES, SERVER, Local, Wrong, arrived, bad_wire, bench, fails, kill_all, machine, patient,
                      port, sent, within)

MIB = 1 << 20
RIGHTS = {2: 'REMOTE_WRITE', 4: 'REMOTE_READ', 8: 'REMOTE_ATOMIC'}
# What a packet does (the low bits of its opcode), and where its rkey is: behind an address.
USES = {6: 2, 10: 2, 11: 2, 29: 2, 12: 4, 19: 8, 20: 8}


class Copies:
    """Where the files are, the server's DIR, and a server."""

    def __init__(self, files, into, deadline, env):
        self.files, self.into, self.deadline, self.env, self.size = files, into, deadline, env, 0
        self.serve()

    def start(self, role, *words):
        return AT[role].Program([outside.RUN, *words], **{'DEVICE': DEVICES[role], 'DEADLINE': str(self.deadline),
                                                          **self.env.get(role, {})})

    def serve(self, at=None):
        self.at = at or port()
        self.server = self.start('server', 'server', self.at, self.into.path())
        self.server.wait_for_port(self.at)

    def file(self, content, name='source'):
        self.size = len(content)
        return self.files.write(name, content)

    def copy(self, path, name, at=None):
        return self.start('client', 'copy', path, f'{SERVER}:{name}', at or self.at)

    def target(self, name):
        """The bytes of DIR/NAME; None: there is no such file."""
        return self.into.read(name)

    def settle(self, you, what, look=lambda: False, pause=.02):
        """Waits until it ends, as long as bytes move: to be slow is no fault. Or until look() says so."""
        if not patient(lambda: you.status() is not None or look(), lambda: (
                arrived('server'), arrived('client'), you.work(), self.server.work()), 8, 60 + 4 * self.size / MIB, pause):
            raise Wrong(f'{what}: your copy still runs, and for 8 s no byte has come, or it takes too long; '
                        f'it said last: {you.last()}')

    def done(self, you, content, name, what):
        """It must end well, and the file must be there, whole."""
        self.settle(you, what)
        status = you.end(1)
        if status or 'FAIL' in str(you.said()):
            raise Wrong(f'{what}: your copy must end with 0, and ended with {status}; it said last: {you.last()} (no line may '
                        f'have FAIL then); {self.server.state("the server")}')
        same(content, self.target(name), f'{what}, {name}')
        if self.server.status() is not None:
            raise Wrong(f'{what}: your server has ended, and must serve until it is killed; '
                        f'it said last: {self.server.last()}')

    def copied(self, content, name, what):
        before, packets = arrived('server') + arrived('client'), sent()
        self.done(self.copy(self.file(content), name), content, name, what)
        # Between two machines TCP comes there, too; a packet of RDMA has 4096 bytes at most.
        seen = min(arrived('server') + arrived('client') - before, (sent() - packets) * 4096)
        if seen < len(content):
            raise Wrong(f'{what}: the file has {len(content)} bytes, and the RDMA devices had only {seen}: '
                        'the bytes went another way')

    def refused(self, path, name, what):
        you = self.copy(path, name)
        self.settle(you, what)
        fails(you, 'copy', what, 1)

    def visible(self):
        return [name for name in self.into.names() if not name.startswith('.')]

    def holds(self):
        return {**self.server.holds(), 'own files in DIR': len(self.into.names()) - len(self.visible())}

    def leaves_nothing(self, had, what):
        left = lambda: '; '.join(f'{n} {kind}, and had {had[kind]}' for kind, n in self.holds().items() if n - had[kind] > 19)
        if not within(self.deadline, lambda: not left(), .1):
            raise Local(f'after {what}, your server has {left()}: a copy that has ended must leave none')


@contextlib.contextmanager
def place(deadline=6, full=None, mtu=4200, **env):
    """full: DIR has no more room than that."""
    files, into = AT['client'].Folder(), AT['server'].Folder(full)
    try:
        for role in DEVICES:
            machine(role).mtu(mtu)
        yield Copies(files, into, deadline, env)
    finally:
        kill_all()
        files.remove()
        into.remove()


def same(want, have, what):
    if have is None:
        raise Wrong(f'{what}: your copy has ended with 0, and there is no such file in DIR')
    if have != want:
        at = next(i for i in range(0, max(len(want), len(have)), 4096) if want[i:i + 4096] != have[i:i + 4096])
        at = next(i for i in range(at, at + 4096) if want[i:i + 1] != have[i:i + 1])
        raise Wrong(f'{what}: expected {len(want)} bytes, seen {len(have)}; byte {at} is the first that differs')


def content(size, seed=1):
    """Bytes that look random; the last one is not zero."""
    return random.Random(seed).randbytes(size)[:-1] + b'\n' if size else b''


def waits_for_the_server(p, name, count):
    """The server is stopped when so many bytes have come to its device, which takes the others without it. If it has
    not stored them, the copy must not end with 0. (If it has, this says nothing.)"""
    before = arrived('server')
    you = p.copy(p.file(content(20000)), name)
    p.server.signal_at(signal.SIGSTOP, before + count)
    try:
        if p.target(name) is None and within(1, lambda: you.status() is not None):
            if you.status() == 0 and p.target(name) is None:
                raise Wrong('your copy has ended with 0, and the file is not there: '
                            'the server was stopped when it had the bytes')
    finally:
        p.server.signal(signal.SIGCONT)
    p.done(you, content(20000), name, 'frames of 1500 bytes, 500 kbit/s: a copy whose server was stopped for a second')


def small():
    with place(deadline=12) as p:
        p.copied(content(20000), 'small', 'a file of 20000 bytes')
        p.copied(content(20000, 2), 'small', 'another file, to the same name')
        p.server.kill()
        at = port()
        you = p.copy(p.file(content(20000)), 'small', at)
        time.sleep(3)
        p.serve(at)
        p.done(you, content(20000), 'small', 'a copy that was started 3 s before the server')
        if p.visible() != ['small']:
            raise Local(f'DIR must have only the file "small"; it has {p.visible()}')
    with bad_wire('rate 500kbit'), place(mtu=1500) as p:  # so 20000 bytes take their time
        for count in 3000, 9000, 15000:
            waits_for_the_server(p, f'early{count}', count)
    with place(server={**outside.PRELOAD, 'RENAME_PAUSE': '1'}) as p:
        p.copied(content(20000), 'late', 'a server whose rename(2) takes half a second')


def empty():
    server, client = DEVICES.values()
    with place(deadline=4, server={**outside.PRELOAD, 'RENAME_PAUSE': '1', 'DEVICE': client}, client={'DEVICE': server}) as p:
        p.copied(b'', 'empty', 'an empty file')
        time.sleep(p.deadline + 1)  # for its next copier the server waits for ever
        p.copied(content(20000), 'other', f'a file after the empty one (DEVICE is {client} for the server, {server} for the copy)')
        p.copied(b'', 'other', 'an empty file, to a name that had 20000 bytes')


def big():
    with place(deadline=5) as p:
        bytes_, most = (content(MIB + 4099) * 64)[:64 * MIB], {'server': 0, 'copy': 0}
        stop = .55 * p.deadline  # no wait is longer than DEADLINE, and the whole is
        what = f'64 MiB, and the server is stopped (SIGSTOP) twice for {stop} s, less than DEADLINE'
        before, you = arrived(), p.copy(p.file(bytes_), 'big')

        def look():
            for role, program in (('server', p.server), ('copy', you)):
                regions = sum(int(mr.get('mrlen', 0)) for mr in program.objects('mr'))
                most[role] = max(most[role], program.pinned(), regions)
                if most[role] > 16 * MIB:
                    raise Local(f'your {role} may have 16 MiB pinned, and had {most[role] / MIB:.1f}')
            time.sleep(.1)  # the copy needs the CPUs, too
        for mib in 4, 32:
            p.settle(you, what, lambda m=mib: arrived() - before > m * MIB, .001)
            p.server.signal(signal.SIGSTOP)
            end = time.monotonic() + stop
            look()
            time.sleep(max(0, end - time.monotonic()))
            p.server.signal(signal.SIGCONT)
        p.settle(you, what, look)
        p.done(you, bytes_, 'big', what)
        if not any(most.values()):
            raise Local('no pinned memory was seen, neither in /proc/PID/status (VmPin) nor by "rdma res show mr"')


def lengths():
    with place() as p:
        for size in 1, 7, 1023, 1025, 4097, 65537, MIB - 1, 2 * MIB + 3:
            p.copied(content(size), f'n{size}', f'{size} bytes')
        p.copied(content(7), 'Z9' * 50, '7 bytes, and a NAME of 100 characters')
        for size in 4096, 70001:
            p.copied(content(size) + bytes(size), f'z{size}', f'{2 * size} bytes, the last {size} are zero')


def two_at_once():
    with place(deadline=40) as p:
        first, second = content(MIB + 1) * 20, content(MIB // 4, 2)  # 16 may be under way
        source, other = p.file(first), p.file(second, 'other')
        for _ in range(5):
            before = arrived('server')
            you = p.copy(source, 'first')
            p.settle(you, 'the first of two copies', lambda b=before: arrived() - b > MIB, .001)
            you.signal(signal.SIGSTOP)
            since = time.monotonic()
            if you.status() is None:
                break
            p.done(you, first, 'first', 'the first of two copies')  # too fast: once more
        else:
            raise OSError('the judge could not stop a copy before it ended: type it again')
        try:
            with outside.silent_peer(p.at):
                for name in 'second', 'first':
                    p.done(p.copy(other, name), second, name,
                           'a peer that says nothing is connected by TCP, '
                           f'a copy to "first" is stopped (SIGSTOP) after 1 MiB, and one to "{name}" must end')
                before, what = arrived('server'), f'a copy whose server was stopped (SIGSTOP) for 10 s, and DEADLINE is {p.deadline}'
                third = p.copy(other, 'third')
                p.server.signal_at(signal.SIGSTOP, before + MIB // 16)
                time.sleep(10)  # longer than stage 8 lets anybody wait
                p.server.signal(signal.SIGCONT)
                p.done(third, second, 'third', what)
        finally:
            you.signal(signal.SIGCONT)
        if (took := time.monotonic() - since) > p.deadline - 1:  # it may have given up
            raise OSError(f'while one copy was stopped, others took {took:.0f} s, and DEADLINE is {p.deadline}: '
                          'they, or this machine, are too slow to judge that')
        p.done(you, first, 'first', 'the copy that was stopped, and continued when another to "first" had ended')
        time.sleep(.5)  # the server may notice late that they have left
        had = p.holds()
        for n in range(12):  # they come and go, every other one is killed
            some = [(p.copy((other, source)[i % 2], f'{n}x{i}'), f'{n}x{i}') for i in range(4)]
            for i, (you, name) in enumerate(some):
                if i % 2:
                    you.kill()
                else:
                    p.done(you, second, name, f'four copies at once, after {3 + 4 * n} others')
        p.leaves_nothing(had, '24 copies more, and 24 that were killed')


def bad_wires():
    for fault in 'loss 2%', 'duplicate 20%', 'delay 2ms reorder 2%':
        with bad_wire(fault), place(mtu=1500) as p:
            p.copied(content(MIB // 2), 'file', f'wire with {fault}')


def full_disk():
    with place(deadline=4, full='4m') as p:
        old, what = content(30000, 2), 'DIR has room for 4 MiB, and the file has 8'
        p.into.write('old', old)
        source, three = p.file(content(8 * MIB), 'large'), content(4032 << 10)
        small, huge = p.file(old, 'few'), p.file(b'', 'huge')
        os.truncate(huge, (4 << 30) + 5)
        for n in range(5):  # if it was too fast: once more
            left = machine('client').arrived('tx')
            you = p.copy(source, f'stuck{n}')  # all of it may be under way when it is stopped
            you.signal_at(signal.SIGSTOP, left + MIB // 8, 'client', 'tx')
            if you.status() is None:
                break
        since, silent, hung_up = time.monotonic(), [outside.silent_peer(p.at) for _ in range(2)], select.poll()
        silent[1].send(b'x')
        for peer in silent:
            hung_up.register(peer, select.POLLRDHUP)
        for name in 'big', 'old':
            p.refused(source, name, what)
        if p.visible() != ['old'] or p.target('old') != old:
            raise Local(f'DIR was full, so it must have only the file "old", as it was; it has {p.visible()}')
        time.sleep(max(0, since + p.deadline + 3 - time.monotonic()))
        with contextlib.suppress(OSError):
            p.into.write('.full', bytes(4 * MIB))
        had = p.holds()
        for _ in range(20):
            p.refused(small, 'old', 'DIR is full')
        p.leaves_nothing(had, '20 copies that did not fit')
        p.into.write('.full', b'')
        p.into.write('old', b'x')
        p.into.write('dir/x', b'x')
        for path, name, what in (
                (p.file(content(4 * MIB)), 'page', 'a file that is one page longer than the room in DIR'),  # a part is stored
                (huge, 'huge', f'DIR has room for 4 MiB, and the file has {(4 << 30) + 5} bytes'),
                (small, 'dir', 'in DIR the NAME is a directory'), (source + '0', 'none', 'FILE is not there')):
            p.refused(path, name, what)
        p.copied(three, 'fits', f'DIR has 4 MiB, and in it {p.into.names()}; after two copies that did not fit, and one '
                 'that was stopped (SIGSTOP) for longer than DEADLINE, a file of 4032 KiB')
        if not within(2, lambda: len(hung_up.poll(0)) == 2):
            raise Local(f'a peer connected by TCP and said nothing for longer than DEADLINE, {p.deadline + 3} s, or one byte: your server still waits for it')


def old_or_new(p, name, old, new, what):
    have = p.target(name)
    if have != old and have != new:
        raise Wrong(f'{what}: {name} must be as it was, {len(old)} bytes, or be the new file, {len(new)} bytes; '
                    + (f'it has {len(have)} bytes' if have is not None else 'there is no such file'))


def killed():
    """Who is killed, or stopped, and how much of the file has come to the server by then."""
    end, rounds = time.monotonic() + 25, []
    moments = [('server', 1), ('server', 1, 'stop'), ('copy', .5), ('copy', .95), ('server', .5), ('server', .9, 'stop'),
               ('server', .05), ('server', .98), ('copy', 0), ('copy', 1)]
    client = machine('client')
    with place(deadline=4, server={**outside.PRELOAD, 'RENAME_PAUSE': '1'}) as p:
        new, old = content(4 * MIB), content(30000, 2)
        source = p.file(new, 'new')
        for n, (who, share, *stop) in enumerate(moments):
            if time.monotonic() > end and n > 5:
                break
            how, fate = (signal.SIGSTOP, 'stopped (SIGSTOP) for good') if stop else (signal.SIGKILL, 'killed')
            name = f'file{n}'
            p.into.write(name, old)
            before, left = arrived('server'), client.arrived('tx')
            you = p.copy(source, name)
            # Each by what its own machine counts: to ask the other takes a while.
            at, victim, *wire = (left, you, 'client', 'tx') if who == 'copy' else (before, p.server)
            slow = bool(p.env)  # the first servers: rename(2) takes half a second, and they end in it
            victim.signal_at(0 if slow else how, at + int(share * len(new)), *wire)
            time.sleep(.3 if slow else 0)
            what = f'your {who} was {fate} when the server had {min(arrived("server") - before, len(new))} bytes'
            if stop:
                victim.signal(how)
            else:
                victim.kill()
            old_or_new(p, name, old, new, what)
            others = [(p.copy(source, name), f'{what}; a copy that came then, {p.deadline} s later'),
                      (p.copy(source, name, port()), f'no server listens, {p.deadline} s later')] if stop else []
            if who == 'server':
                status = you.end(p.deadline + 3, f'{what}: ')
                for other, why in others:
                    fails(other, 'copy', why, p.deadline + 3)
                victim.kill()
                if status == 0:
                    same(new, p.target(name), f'{what}, and your copy ended with 0')
                else:
                    fails(you, 'copy', what, 1)
                if n:
                    p.env.clear()
                p.serve()
            rounds.append((name, what))
            p.copied(old, name, f'{what}; the next copy to this name')
            if who == 'copy':
                within(1, lambda w=name: p.target(w) not in (old, new), .1)  # the server may notice late
            for earlier in rounds:
                old_or_new(p, earlier[0], old, new, earlier[1])
        extra = set(p.visible()) - {name for name, _ in rounds}
        if extra:
            raise Local(f'DIR must have no other files than those that were copied; it has {sorted(extra)}')
        for name in 'file0', 'fresh':  # there is a file of the one name, and none of the other
            p.into.watch()
            p.copied(content(30000, 3), name, f'a file, to the name {name}')
            if (first := p.into.first(name)) not in ('replaced', 'made'):
                raise Local(f'{name} was {first}, and must only be replaced: for a moment nobody could open it, or not the whole of it')


def least_rights():
    logs = {role: AT[role].Folder() for role in DEVICES}
    preload = {role: {**outside.PRELOAD, 'RTR_PAUSE': 'y', 'RIGHTS_LOG': folder.path('rights')} for role, folder in logs.items()}
    wire, used = outside.Wire(), set()
    with place(**preload) as p:
        p.copied(content(MIB // 4), 'file', 'a file of 256 KiB')
        if wrong := [line for line in p.server.said(1) if line[:9] == 'path_mtu ' and line[9] != '5']:
            raise Local(f'active_mtu is 5, and the QP of your server gets to RTR with {wrong[0].partition(",")[0]}')
    for _, sender, bth, _ in wire.frames():
        right, role = USES.get(bth[0] & 31), outside.other(sender)
        if right:
            used |= {(role, 'qp', int.from_bytes(bth[5:8], 'big'), right),
                     (role, 'mr', int.from_bytes(bth[20:24], 'big'), right)}
    if wire.lost():
        raise OSError('the judge did not capture all packets: type it again')
    for role, name in ('server', 'server'), ('client', 'copy'):
        log = logs[role].read('rights')
        if log is None:
            raise Local(f'the judge cannot record what your {name} grants: link libibverbs dynamically')
        logs[role].remove()
        for kind, key, access in map(str.split, log.decode().splitlines()):
            for right, text in RIGHTS.items():
                if int(access, 16) & right and (role, kind, int(key, 16), right) not in used:
                    thing = f'region with rkey 0x{key}' if kind == 'mr' else f'QP 0x{key}'
                    raise Local(f'your {name} grants {text} on its {thing}, and no packet used it')


def rate(you, size):
    """Bytes a second, from when a sixteenth of them has come (at once, into a window), until 14 have, or for 3 s.
    How long it takes to start does not count."""
    start, marks = arrived('server'), []
    begun = looked = time.monotonic()

    def look():
        nonlocal looked
        come, before, looked = arrived('server') - start, looked, time.monotonic()
        if come >= size / 16 * (1 + 13 * len(marks)):
            marks.append((looked if marks else before, come))
        return len(marks) == 2 or you.status() is not None
    patient(look, lambda: not marks and you.work(), 3, pause=.003)
    if you.status():
        raise Wrong(f'the rate cannot be seen: a program has ended, and said last: {you.last()}')
    while len(marks) < 2:  # it is slow, or was too fast for us
        marks = (marks or [(begun, 0)]) + [(time.monotonic(), arrived('server') - start)]
    you.kill()
    return (marks[1][1] - marks[0][1]) / (marks[1][0] - marks[0][0])


def fast():
    size = 8 * MIB
    with bad_wire('delay 8ms limit 9999'), place(mtu=1500) as p:  # netem holds what is under way
        source, rates, end = p.file(content(size)), {'yours': [], 'ours': []}, time.monotonic() + 15
        for turn in range(1, 10):  # two at least, and four for a fault: some may have been held up
            for who, run in (('yours', lambda: p.copy(source, 'fast')), (
                    'ours', lambda: bench('-o', 'send', '-s', '16384', '-n', str(size // 16384), '-q', '32'))):
                with contextlib.suppress(*[Wrong] * (who == 'ours')):  # on a busy machine it may fail, too
                    rates[who].append(rate(run(), size))
            yours, ours = (max(seen, default=0) for seen in rates.values())
            if turn > 1 and 0 < ours <= yours * 2:
                return
            if turn > 3 and time.monotonic() > end and (not ours or rates['yours'][-1] * 2 < rates['ours'][-1]):
                break  # also in this turn: a quiet moment of ours alone is no fault
        if not ours:
            raise OSError('our bench fails each time')
        raise Wrong(f'expected at least half of our rate, which is {ours / MIB:.1f} MiB/s; seen {yours / MIB:.1f} MiB/s, the best of several runs, in turns')


STAGES = [small, empty, big, lengths, two_at_once, bad_wires, full_disk, killed, least_rights, fast]
