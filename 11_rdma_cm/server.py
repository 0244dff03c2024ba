#!/usr/bin/python3 -B
# SPDX-License-Identifier: MIT
"""11_rdma_cm/server.py - server.c in Python, with pyverbs: the same options, and the same lines."""
from lesson import (BYTES_MAX, COUNT_MAX, DONE, OFFER, OP_READ, OP_WRITE, RIGHT, WISH, Events, Queues, address_info, ce,
                    command_line, device_address, die, e, expected, note, number, operation_of, say, wish_fits,
                    wish_unpack)
from pyverbs.cmid import CMEventChannel, CMID, ConnParam
from pyverbs.mr import MR
from pyverbs.pyverbs_error import PyverbsError


def main():
    options = command_line("digpstonb")
    only = (operation_of(options, None), "-n" in options and number(options, "n", "", COUNT_MAX),
            "-b" in options and number(options, "b", "", BYTES_MAX))
    host = options.get("-s") or device_address(options.get("-d"), options)[0]
    # DOC: listen
    channel = CMEventChannel()
    events = Events(channel, options["wait"])
    listener = CMID(creator=channel)
    listener.bind_addr(address_info(host, None, options["port"]))
    listener.listen(4)
    note(f"listening on port {options['port']}")

    # DOC: request
    event = events.next("a client")
    events.must_be(event, ce.RDMA_CM_EVENT_CONNECT_REQUEST)
    cmid = CMID(creator=event, listen_id=listener)
    wish, why = wish_unpack(event.private_data)
    event.ack_cm_event()
    why = why or wish_fits(wish, only)
    if why:
        # DOC: reject
        cmid.reject(why.encode())
        die(f"rejected a client: {why}")
    operation, count, size = wish
    length = count * size
    say(f"a request: {count} times {'WRITE' if operation == OP_WRITE else 'READ'} of {size} bytes")

    queues = Queues(cmid, events)
    if operation == OP_READ:
        memory = MR(cmid.pd, length, e.IBV_ACCESS_REMOTE_READ)
        memory.write(expected(length), length)
    else:
        memory = MR(cmid.pd, length, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE)
    # DOC: accept
    param = ConnParam(resources=1, depth=1, rnr_retry=7, data_len=WISH.size)
    param.set_private_data(WISH.pack(b"CM11", *wish))
    cmid.accept(param)
    events.expect(ce.RDMA_CM_EVENT_ESTABLISHED)
    say(f"established: {length} bytes are open to the client")

    # DOC: session
    queues.send(OFFER, length, memory.rkey, memory.buf)
    _, _, done = queues.take(DONE, '"done"')
    if memory.read(length, 0) != expected(length):
        die("the bytes are not what they must be")
    if done != length:
        die(f"the client says it is done with {done} bytes of {length}")
    # The client may disconnect before the ACK leaves: see server.c.
    queues.post(RIGHT, length)

    # DOC: end
    if not events.gone:
        events.expect(ce.RDMA_CM_EVENT_DISCONNECTED)
    cmid.disconnect()
    flushed = queues.drain(1)
    memory.close()
    queues.close()
    listener.close()
    channel.close()
    say(f"PASS {length} bytes {'came' if operation == OP_WRITE else 'were offered'}, all right; "
        f"{flushed} receives flushed")


try:
    main()
except PyverbsError as error:
    die(str(error))
