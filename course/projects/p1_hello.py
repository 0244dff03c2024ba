# SPDX-License-Identifier: MIT
"""The stages of project 1."""
import itertools
import secrets
import select
import socket
import struct

from . import outside
from .outside import AT, DEVICES, SERVER, Wrong, fails, machine, other, patient, port, sent, within

PEER = 'build/judges/projects/hello_peer'
PAUSE = {**outside.PRELOAD, 'RTR_PAUSE': 'y'}  # what comes after RTR is late, so that it shows
PATIENCE = 60  # seconds: in an emulated guest an interpreter takes some to start


def yours(role, at, token='hello, queue pair', deadline=6, server=SERVER, **env):
    return AT[role].Program([outside.RUN, role, *[server] * (role == 'client'), at], token + '\nnot the token\n',
                            DEVICE=DEVICES[role], DEADLINE=str(deadline), **env)


def peer(role, at, token, mode=''):
    return AT[role].Program([PEER, role, '-d', DEVICES[role], '-g', '0', '-p', at, '-k', token, '-m', mode,
                             '-t', str(PATIENCE), *[SERVER] * (role == 'client')])


def exchange():
    at = port()
    server = AT['server'].Program(['build/00_hello/server', '-d', DEVICES['server'], '-g', '0', '-p', at,
                                   '-t', str(PATIENCE)])
    you = yours('client', at)
    patient(lambda: server.said() or you.status() is not None and not within(1, server.said), you.work)
    if not server.said():
        raise Wrong(f'no QP info came from your client, or not all of it; {you.state()}')
    if not any('posted a receive' in line for line in server.said()):
        raise Wrong(f'lesson 00 does not take your QP info; it says: {server.last()}; {you.state()}')


def reaches_rts():
    at, states = port(), []
    them, you = peer('server', at, 'x', 'hold'), yours('client', at)
    if not patient(lambda: states.extend(you.states()) or states or you.status() is not None, you.work):
        raise Wrong(f'your client has made no QP; {you.state()}')
    if not patient(lambda: states.extend(you.states()) or 'RTS' in states, you.work, idle=4):
        last = (states or ['no state: there is none'])[-1]
        raise Wrong(f'the QP of your client does not reach RTS, but is in {last}; the peer says: {them.last()}; {you.state()}')


def talk(role, mode=''):
    at, alone = port(), role == 'client' and not mode
    theirs, mine = ('p', 'y') if mode else ('p ü' + secrets.token_hex(30), 'y ü' + secrets.token_hex(30))
    for side in map(machine, DEVICES):
        side.mtu(1500 if role == 'client' else 4200)  # an active_mtu of 1024, or of 4096
    wire, you = outside.Wire(), yours(role, at, mine, deadline=20 if alone else 6, **PAUSE if mode else {})
    within(8 * alone, lambda: not alone or you.status() is not None)  # it tries again, as DEADLINE is 20
    them = peer(other(role), at, theirs, mode)
    patient(lambda: them.status() is not None, lambda: (you.work(), them.work(), sent()))
    said = them.said()
    if f'{other(role)}: connected' not in said:
        asked = ' (does it listen on IPv4, on PORT of any address?)' if role == 'server' else ''
        raise Wrong(f'your {role} does not connect to its peer{asked}, which says: {them.last()}; {you.state()}')
    if f'{other(role)}: got {mine}' not in said:
        got = [line for line in said if ': got ' in line][-1:]
        raise Wrong(f'your {role} has "{mine}" on stdin and must SEND it; the {other(role)} says: '
                    f'{(got or [them.last()])[0]}; {you.state()}')
    if not wire.frames():
        raise Wrong(f'no packet crossed the wire: is the QP of your {role} on {DEVICES[role]}, as DEVICE says?')
    status = you.end(4)
    if [line for line in you.said() if line.startswith('got ')] != ['got ' + theirs]:
        raise Wrong(f'your {role} must print the line "got {theirs}" once; the peer says: {them.last()}; {you.state()}')
    asked = '3' if role == 'client' else '1, before its QP info'  # its port's code and the peer's: 3 and 5, 5 and 1
    if wrong := mode and [line for line in you.said(1) if line[:9] == 'path_mtu ' and not line[9:].startswith(asked)]:
        raise Wrong(f'the QP of your {role} gets to RTR with {wrong[0]}: it must be {asked} (the smaller code; a server answers later)')
    if status or them.status() != 0 or any('FAIL' in line for line in you.said()):
        raise Wrong(f'both tokens went, but the two must end with 0, and yours without FAIL; the peer says: {them.last()}; {you.state()}')


def info(role, **wrong):
    fields = {'magic': 0x52444d41, 'version': 1, 'lesson': 0, 'qpn': 17, 'psn': 1, 'lid': 0, 'mtu': 3, 'unused': 0,
              'rkey': 0, 'gid': machine(other(role)).gid(), 'address': 0, 'length': 0, **wrong}
    return struct.pack('>IHHIIHBBI16sQQ', *fields.values())


def refuses():
    for role, field, value in (('client', 'magic', 0x48545450), ('server', 'version', 2), ('client', 'qpn', 1),
                               ('server', 'lesson', 7), ('client', 'mtu', 6), ('server', 'psn', 1 << 24), ('server', 'mtu', 0),
                               ('server', 'qpn', 1 << 24), ('client', 'rkey', 5), ('server', 'gid', bytes(16)),
                               ('client', 'unused', 1), ('server', 'address', 1 << 40), ('client', 'length', 64)):
        what, seen, conn = f'QP info with {field} {value if field == "gid" else hex(value)}', [], socket.socket()
        with socket.create_server(('127.0.0.2', 0)) as listener:
            at = listener.getsockname()[1]
            listener.setblocking(False)
            if role == 'server':
                listener.close()
            you = yours(role, str(at), deadline=20, server='127.0.0.2', **PAUSE)
            if role == 'client':
                if not patient(lambda: select.select([listener], [], [], 0)[0], you.work):
                    raise Wrong(f'your client does not connect; {you.state()}')
                conn = listener.accept()[0]
            elif not patient(lambda: conn.connect_ex((SERVER, at)) == 0, you.work):
                raise Wrong(f'your server does not listen on port {at}; {you.state()}')
        with conn:
            conn.sendall(info(role, **{field: value}))
            within(4, lambda: seen.extend(you.states()) or {'RTR', 'RTS'} & set(seen) or not you.pids())
            if {'RTR', 'RTS'} & set(seen):
                raise Wrong(f'{what}: your {role} does not refuse it, but connects its QP')
            fails(you, role, f'{what}, for your {role}', 4)


def posts_first():
    first = set()
    for role in 'client', 'server':
        wire, wrong = outside.Wire(), None
        try:
            talk(role, 'early')
        except Wrong as said:
            wrong = said
        late = [sender for _, sender, *_, syndrome in wire.packets() if syndrome is not None and syndrome >> 5 == 1]
        if late:
            raise Wrong('an RNR NAK is on the wire: ' + (f'a token came before your {role} had posted a receive'
                        if role in late else f'your {role} SENDs more than its token'))
        if wrong:
            raise wrong
        first |= {psn for _, sender, op, psn, *_ in wire.packets() if sender == role and op == 4}  # SEND only
    if first and (max(first) - min(first) < 256 or max(first) < 1 << 16):  # one, a clock's, or as small as a QP number
        raise Wrong(f'the first PSN of two programs is {min(first)} and {max(first)}: it must be random')


def peer_dies():
    alone = {role: yours(role, port(), deadline=3) for role in DEVICES}
    for kill, limit in (True, 6), (False, 3):
        paired = []
        for role, (mode, when) in itertools.product(DEVICES, (
                ('shy', 'before its QP info'), ('hold', 'before any token'), ('mute', "before its 'B'"),
                ('deaf', 'without a receive for your token'))):
            them = peer(other(role), at := port(), 'x', mode)
            you = yours(role, at, deadline=limit)
            if not patient(them.said, you.work):
                raise Wrong(f'your {role} does not connect; {you.state()}')
            if mode == 'mute' and not patient(lambda t=them: "has the other's 'B'" in t.last(), lambda y=you, t=them: (y.work(), t.work()), 4):
                raise Wrong(f"your {role} does not say 'B' when both tokens are there; the peer says: {them.last()}; {you.state()}")
            if kill and mode == 'mute' and not you.states():
                raise Wrong(f"the QP of your {role} is undone before the other's 'B'; {you.state()}")
            if kill:
                them.kill()
            what = f'the peer of your {role} {"was killed" if kill else "is silent"} {when}, and DEADLINE is {limit}'
            paired.append((them, you, role, what))
        for them, you, role, what in paired:
            fails(you, role, what, limit + 3)
            if "it said 'B'" in them.last():
                raise Wrong(f"{what}: your {role} said 'B', and its SEND cannot be complete; {you.state()}")
    for role, you in alone.items():  # they started before all others
        fails(you, role, f'no peer comes to your {role}, and DEADLINE, 3 s, is over', 2)


STAGES = [exchange, reaches_rts, lambda: talk('client'), lambda: talk('server'), refuses, posts_first, peer_dies]
