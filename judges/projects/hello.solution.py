#!/usr/bin/python3 -B
# SPDX-License-Identifier: MIT
"""judges/projects/hello.solution.py - a solution of project 1 in Python, with Debian's python3-pyverbs."""
import os
import secrets
import socket
import struct
import sys
import time
from enum import EnumMeta

try:
    from pyverbs import enums as e
except ImportError:  # rdma-core 59 and later: a name is only in its enum
    from pyverbs import libibverbs_enums as e
    for kind in [kind for kind in vars(e).values() if isinstance(kind, EnumMeta)]:
        vars(e).update(kind.__members__)
from pyverbs.addr import GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

# magic, version, lesson, QP number, first PSN, LID, MTU, unused, rkey, GID, address, length
INFO = struct.Struct('>IHHIIHBBI16sQQ')
DEADLINE = float(os.environ.get('DEADLINE', '6'))


class Failed(Exception):
    """What the line with FAIL says."""


def until(seconds, look, what):
    end = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > end:
            raise Failed(f'{what}: nothing within {seconds} s')
        time.sleep(0.001)
    return found


def connect(host, port):
    def dial():
        try:
            return socket.create_connection((host, port), DEADLINE)
        except ConnectionRefusedError:
            return None
    return until(DEADLINE, dial, f'connecting to {host}:{port}')


def take(sock, length, what):
    got = b''
    while len(got) < length:
        part = sock.recv(length - len(got))
        if not part:
            raise Failed(f'{what}: the peer hung up')
        got += part
    return got


def checked(message):
    magic, version, lesson, qpn, psn, _, mtu, *zeros, gid, address, length = INFO.unpack(message)
    for what, right in (('magic', magic == 0x52444d41), ('version', version == 1), ('lesson', lesson == 0),
                        ('QP number', 2 <= qpn < 1 << 24), ('PSN', psn < 1 << 24), ('MTU', 1 <= mtu <= 5),
                        ('GID', any(gid)), ('unused byte, rkey, address or length', not any((*zeros, address, length)))):
        if not right:
            raise Failed(f'QP info: its {what} is wrong')
    return qpn, psn, mtu, gid


def to_init(qp):
    attr = QPAttr(qp_state=e.IBV_QPS_INIT, port_num=1)
    attr.qp_access_flags = 0
    qp.to_init(attr)


def to_rts(qp, psn, mtu, peer):
    peer_qpn, peer_psn, peer_mtu, gid = peer
    route = GlobalRoute(dgid=GID(gid.hex(':', 2)), sgid_index=0, hop_limit=64)
    attr = QPAttr(qp_state=e.IBV_QPS_RTS, port_num=1)
    attr.path_mtu = min(mtu, peer_mtu)
    attr.dest_qp_num = peer_qpn
    attr.rq_psn = peer_psn
    attr.min_rnr_timer = 12
    attr.max_dest_rd_atomic = attr.max_rd_atomic = 0
    attr.ah_attr = AHAttr(gr=route, is_global=1, port_num=1)
    attr.sq_psn = psn
    attr.timeout = 14
    attr.retry_cnt = attr.rnr_retry = 7
    qp.to_rts(attr)


def main():
    server = sys.argv[1] == 'server'
    token = sys.stdin.readline().rstrip('\n').encode()
    context = Context(name=os.environ['DEVICE'])
    pd, cq = PD(context), CQ(context, 4)
    qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(1, 1, 1, 1)))
    out, into = MR(pd, 64, 0), MR(pd, 64, e.IBV_ACCESS_LOCAL_WRITE)
    out.write(token, len(token))
    to_init(qp)
    qp.post_recv(RecvWR(sg=[SGE(into.buf, 64, into.lkey)], num_sge=1))

    if server:
        with socket.create_server(('', int(sys.argv[2]))) as listener:
            listener.settimeout(DEADLINE)
            sock = listener.accept()[0]
    else:
        sock = connect(sys.argv[2], int(sys.argv[3]))
    sock.settimeout(DEADLINE)
    psn, mtu = secrets.randbelow(1 << 24), context.query_port(1).active_mtu
    gid = socket.inet_pton(socket.AF_INET6, context.query_gid(1, 0).gid)
    mine = INFO.pack(0x52444d41, 1, 0, qp.qp_num, psn, 0, mtu, 0, 0, gid, 0, 0)
    if not server:
        sock.sendall(mine)
    to_rts(qp, psn, mtu, checked(take(sock, INFO.size, 'QP info')))
    if server:
        sock.sendall(mine)

    qp.post_send(SendWR(num_sge=1, sg=[SGE(out.buf, len(token), out.lkey)], opcode=e.IBV_WR_SEND,
                        send_flags=e.IBV_SEND_SIGNALED))
    for _ in range(2):
        wc = until(DEADLINE, lambda: cq.poll(1)[1], 'a completion')[0]
        if wc.status != e.IBV_WC_SUCCESS:
            raise Failed(f'a completion has status {wc.status}')
        if wc.opcode == e.IBV_WC_RECV:
            print('got', into.read(wc.byte_len, 0).decode(), flush=True)
    sock.sendall(b'B')
    take(sock, 1, "the peer's B")


try:
    main()
except (Failed, OSError, PyverbsError) as wrong:
    print('FAIL', str(wrong).replace('\n', ' '), flush=True)
    sys.exit(1)
