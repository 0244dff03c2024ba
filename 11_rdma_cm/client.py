#!/usr/bin/python3 -B
# SPDX-License-Identifier: MIT
"""11_rdma_cm/client.py - client.c in Python, with pyverbs: the same options, and the same lines."""
import time

from lesson import (BYTES_MAX, COUNT_MAX, DATA_MAX, DONE, OFFER, OP_READ, OP_WRITE, RIGHT, WISH, Events, Queues,
                    address_info, ce, command_line, device_address, die, e, expected, number, operation_of, say,
                    server_address)
from pyverbs.cmid import CMEventChannel, CMID, ConnParam
from pyverbs.mr import MR
from pyverbs.pyverbs_error import PyverbsError


def connect_once(channel, events, address, wish):
    """Queues that are connected, or None: nobody listens there, or not yet."""
    # DOC: resolve
    cmid = CMID(creator=channel)
    cmid.resolve_addr(address, events.wait * 500)
    events.expect(ce.RDMA_CM_EVENT_ADDR_RESOLVED)
    cmid.resolve_route(events.wait * 500)
    events.expect(ce.RDMA_CM_EVENT_ROUTE_RESOLVED)
    queues = Queues(cmid, events)
    # DOC: connect
    param = ConnParam(resources=1, depth=1, retry=6, rnr_retry=7, data_len=WISH.size)
    param.set_private_data(wish)
    cmid.connect(param)
    event = events.next("an answer")
    # An event's status is not to be had; a server that rejects says why, in its private data.
    nobody = event.event_type == ce.RDMA_CM_EVENT_REJECTED and not event.private_data.strip(b"\0")
    if not nobody:
        events.must_be(event, ce.RDMA_CM_EVENT_ESTABLISHED)
        if not event.private_data.startswith(wish):
            die("connected, but not to a server of lesson 11")
    event.ack_cm_event()
    if nobody:
        queues.close()
        return None
    return queues


def main():
    options = command_line("digpstonb")
    op = operation_of(options, "write")
    count, size = number(options, "n", "4", COUNT_MAX), number(options, "b", "1024", BYTES_MAX)
    length = count * size
    if length > DATA_MAX:
        die(f"-n times -b is {length}, more than {DATA_MAX} bytes")
    source, scope = device_address(options["-d"], options) if "-d" in options else (None, "")
    address = address_info(source, server_address(options, scope), options["port"])
    wish = WISH.pack(b"CM11", OP_WRITE if op == "write" else OP_READ, count, size)
    channel = CMEventChannel()
    events = Events(channel, options["wait"])
    end = time.monotonic() + options["wait"]
    while not (queues := connect_once(channel, events, address, wish)):
        if time.monotonic() > end:
            die("RDMA_CM_EVENT_REJECTED: nobody listens on this port")
        time.sleep(0.1)

    # DOC: session
    rkey, remote, offered = queues.take(OFFER, "an offer")
    if offered != length:
        die(f"the server offers {offered} bytes, and not {length}")
    say(f"established: the server offers {length} bytes")
    cmid, pattern = queues.cmid, expected(length)
    piece = MR(cmid.pd, size, e.IBV_ACCESS_LOCAL_WRITE)
    for at in range(0, length, size):
        if op == "write":
            piece.write(pattern[at:at + size], size)
            cmid.post_write(piece, size, remote + at, rkey, e.IBV_SEND_SIGNALED)
        else:
            cmid.post_read(piece, size, remote + at, rkey, e.IBV_SEND_SIGNALED)
        queues.completion(f"RDMA_{op.upper()}")
        if piece.read(size, 0) != pattern[at:at + size]:
            die(f"the bytes from {at} on are not what they must be")
    say(f"{count} times {op.upper()} of {size} bytes")
    queues.send(DONE, length)
    _, _, right = queues.take(RIGHT, '"right"')
    if right != length:
        die(f"the server says that {right} bytes are right, of {length}")

    # DOC: end
    cmid.disconnect()
    if not events.gone:
        events.expect(ce.RDMA_CM_EVENT_DISCONNECTED)
    flushed = queues.drain(0)
    for made in piece, queues, channel:
        made.close()
    say(f"PASS {length} bytes {'written' if op == 'write' else 'read'}, all right; "
        f"{flushed} receive{'s' if flushed > 1 else ''} flushed")


try:
    main()
except PyverbsError as error:
    die(str(error))
