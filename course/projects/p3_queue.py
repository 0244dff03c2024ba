# SPDX-License-Identifier: MIT
"""The stages of project 3."""
import contextlib
import fcntl
import itertools
import os
import random
import signal
import time

from . import outside
from .outside import DEVICES, Program, Wrong, sent, within, wires

ANSWER = 8  # seconds in which an answer comes that need not wait for others
DEATH = 1.5  # seconds in which a death is noticed
numbers = itertools.count(random.randrange(1 << 30), 196611)


def fresh(n):
    """Numbers that no client has put yet."""
    return [next(numbers) % ((1 << 31) - 1) + 1 for _ in range(n)]


def design(key, *values):
    """What the student has declared."""
    path = os.path.join(os.path.dirname(outside.RUN), 'design')
    with contextlib.suppress(OSError), open(path) as lines:
        for line in lines:
            name, _, value = line.strip().partition(': ')
            if name == key and value in values:
                return value
    raise Wrong(f'{path} must have the line "{key}: {" or ".join(values)}"')


class Client(Program):
    """One of yours, with what it was asked and what it answered."""

    def __init__(self, at, *operations, stdin=None, stdout=None):
        super().__init__([outside.RUN, 'client', '127.0.0.1', at], stdin, stdout, DEVICE=DEVICES['client'],
                         DEADLINE='6')
        self.asked = (stdin or '').splitlines()
        self.ask(*operations)

    def ask(self, *operations):
        self.asked += operations
        if not operations:
            return
        try:
            for operation in operations:
                self.process.stdin.write(f'{operation}\n'.encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Wrong(f'your client has ended; it said last: {self.last()}') from None

    def put(self, *values):
        self.ask(*(f'put {value}' for value in values))
        return self

    def take(self, n=1):
        self.ask(*['take'] * n)
        return self

    def pairs(self):
        return list(zip(self.asked, self.said()))

    def stored(self):
        return [int(asked.split()[1]) for asked, _ in self.pairs() if asked != 'take']

    def doubtful(self):
        """A put without an answer: the item may be in the queue or not."""
        rest = self.asked[len(self.said()):]
        return [int(rest[0].split()[1])] if rest and rest[0] != 'take' else []

    def got(self):
        return [int(said) for asked, said in self.pairs() if asked == 'take']

    def check(self):
        for asked, said in self.pairs():
            if not (said.isdigit() if asked == 'take' else said == 'ok'):
                raise Wrong(f'your client was asked "{asked[:40]}", and answered "{said}"')
        if len(self.said()) > len(self.asked):
            raise Wrong(f'your client printed a line that nobody asked for: "{self.last()}"')

    def answered(self, seconds=ANSWER, all_but=0):
        n = len(self.asked) - all_but
        came = within(seconds, lambda: len(self.said()) >= n or self.process.poll() is not None)
        self.check()
        if not came or len(self.said()) < n:
            first = self.asked[len(self.said())]
            raise Wrong(f'"{first}" has no answer within {seconds} s; your client said last: {self.last()}')
        return self

    def silent(self, seconds, why):
        """Has its last operation no answer for so long?"""
        if within(seconds, lambda: len(self.said()) >= len(self.asked)):
            raise Wrong(f'"{self.asked[-1]}" must wait, because {why}; it was answered "{self.last()}"')

    def leave(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        status = self.end(ANSWER)
        if status:
            raise Wrong(f'your client must end with 0 at the end of stdin, not with {status}; '
                        f'it said last: {self.last()}')


def queue(capacity):
    """A new server; returns it, and its port."""
    at = outside.port()
    return Program([outside.RUN, 'server', at, str(capacity)], DEVICE=DEVICES['server'], DEADLINE='6'), at


def clients(at, n):
    """So many, all connected: each has put an item and taken one."""
    started = [Client(at).put(value).take() for value in fresh(n)]
    for client in started:
        client.answered()
    compare(started)
    return started


def compare(all_clients, again=(), lost=(), still=0):
    """Is each item that was put taken once? But the last item of those in `again` may come
    twice, and one item for each in `lost` not at all; `still` are in the queue."""
    got = [value for client in all_clients for value in client.got()]
    stored = {value for client in all_clients for value in client.stored()}
    doubtful = {value for client in all_clients for value in client.doubtful()}
    twice = {value for value in got if got.count(value) > 1} if len(set(got)) < len(got) else set()
    for value in got:
        if value not in stored | doubtful:
            raise Wrong(f'an item was taken that no client had put: {value}')
    for value in twice - {value for client in again for value in client.got()[-1:]}:
        raise Wrong(f'item {value} was taken {got.count(value)} times')
    if any(got.count(value) > 2 for value in twice):
        raise Wrong('an item was taken three times')
    missing = [value for value in sorted(stored) if value not in set(got)]
    if len(missing) > len(lost) + still:
        raise Wrong(f'{len(missing)} items whose put was answered "ok" were never taken, such as {missing[0]}')


def in_order(producers, consumers):
    """Does each consumer see the items of each producer in their order?"""
    for producer in producers:
        place = {value: n for n, value in enumerate(producer.stored() + producer.doubtful())}
        for consumer in consumers:
            seen = [value for value in consumer.got() if value in place]
            for a, b in zip(seen, seen[1:]):
                if place[a] > place[b]:
                    raise Wrong(f'one client put {b} before {a}, and another took {a} before {b}')


def drain(consumer, producer, everybody, again=(), lost=()):
    """Takes what is left, until a take waits. Then one more item must come through."""
    while within(1.2, lambda: len(consumer.said()) == len(consumer.asked)):
        consumer.check()
        consumer.take()
    producer.put(*fresh(1)).answered()
    consumer.answered()
    compare(everybody, again, lost)


def one_of_each():
    design('one-sided', 'yes', 'no')
    design('consumer-death', 'lost', 'again')
    _, at = queue(4)
    producer, consumer = Client(at), Client(at)
    for value in [1, (1 << 31) - 1, *fresh(2)]:
        for client, operation in (producer, f'put {value}'), (consumer, 'take'):
            time.sleep(0.02)  # the kernel counts anew after 10 ms
            before = sent()
            client.ask(operation)
            client.answered()
            if not within(0.2, lambda b=before: sent() > b):
                raise Wrong(f'"{operation}" was answered, and no RoCE packet was sent: an item must go by RDMA')
        compare([producer, consumer])
    producer.leave()
    consumer.leave()


def order():
    _, at = queue(8)
    producer = Client(at).put(*fresh(8)).answered()
    consumer = Client(at).take(8).answered()
    producer.put(*fresh(30))
    consumer.take(30).answered()
    producer.answered()
    compare([producer, consumer])
    in_order([producer], [consumer])


def several():
    _, at = queue(9)
    everybody = clients(at, 5)
    producers, consumers = everybody[:3], everybody[3:]
    for producer in producers:
        producer.put(*fresh(3)).answered()
    for client in everybody:
        client.put(*fresh(21)) if client in producers else client.take(36)
    for client in everybody:
        client.answered()
    compare(everybody)
    in_order(producers, consumers)


def idle(server, waiting, why):
    """They wait: what does it cost?"""
    for client in waiting:
        client.silent(0.7, why)
    programs = {'server': server, 'client': waiting[0]}
    since, packets, cpu = time.monotonic(), sent(), {role: p.cpu() for role, p in programs.items()}
    time.sleep(1.5)
    seconds, packets = time.monotonic() - since, sent() - packets
    for role, program in programs.items():
        used = (program.cpu() - cpu[role]) / seconds
        if used > 0.25:
            raise Wrong(f'{why}, and nothing happens, but your {role} uses {used:.0%} of a CPU; at most 25 % are allowed')
    if packets / seconds > 200:
        raise Wrong(f'{why}, and nothing happens, but {packets / seconds:.0f} packets are sent in a second; '
                    f'at most 200 are allowed')
    for client in waiting:
        client.silent(0, why)


def full_and_empty():
    server, at = queue(4)
    everybody = a, b, c = clients(at, 3)
    idle(server, [a.take(), b.take()], 'the queue is empty')
    c.put(*fresh(2)).answered()
    a.answered()
    b.answered()
    c.put(*fresh(4)).answered()
    idle(server, [c.put(*fresh(1)), a.put(*fresh(1))], 'the queue is full')
    b.take().answered()
    if not within(ANSWER, lambda: {len(p.said()) == len(p.asked) for p in (a, c)} == {True, False}):
        raise Wrong('two puts wait, because the queue is full; an item was taken, and now one of them must be answered')
    b.take(5).answered()
    a.answered()
    c.answered()
    compare(everybody)


def nothing_lost():
    _, at = queue(3)
    everybody = clients(at, 6)
    for n, client in enumerate(everybody):
        client.put(*fresh(60)) if n < 3 else client.take(60)
    for client in everybody:
        client.answered()
    compare(everybody)
    everybody[0].put(*fresh(3)).answered()
    for client in everybody:
        client.leave()
    for _ in range(2):  # they come and go
        new = [Client(at).take().put(*fresh(1)) for _ in range(4)]
        for client in new:
            client.answered()
        everybody += new
        compare(everybody, still=3)
        for client in new:
            client.leave()


def bad_wires():
    for fault in 'loss 5%', 'duplicate 20%', 'delay 2ms reorder 50%':
        with wires(fault):
            _, at = queue(4)
            try:
                a, b = everybody = clients(at, 2)
                a.put(*fresh(20))
                b.take(20).answered()
                a.answered()
                compare(everybody)
                in_order([a], [b])
            except Wrong as wrong:
                raise Wrong(f'netem {fault}: {wrong}') from None


def cut(victims, operations, survivor):
    """Kills each at another moment of an operation; how long that takes, the survivor shows."""
    since = time.monotonic()
    survivor.ask(operations.pop())
    survivor.answered()
    whole = time.monotonic() - since
    for n, victim in enumerate(victims):
        pids = victim.pids()
        victim.ask(operations.pop())
        time.sleep(whole * (n + 0.5) / len(victims))
        strike(victim, pids)
    time.sleep(DEATH)


def strike(victim, pids):
    """As kill(), but at once."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    victim.kill()


def producer_dies():
    _, at = queue(2)
    victim, producer, consumer = everybody = clients(at, 3)
    producer.put(*fresh(2)).answered()
    victim.put(*fresh(1)).silent(0.5, 'the queue is full')
    victim.kill()
    time.sleep(DEATH)
    consumer.take(2).answered()
    drain(consumer, producer, everybody)
    with wires('delay 40ms'):
        _, at = queue(16)
        *victims, producer, consumer = everybody = clients(at, 7)
        cut(victims, [f'put {value}' for value in fresh(6)], producer)
        producer.put(*fresh(1)).answered()
        drain(consumer.take(), producer, everybody)


def stuck(at):
    """A client that waits as soon as it prints something."""
    reads, writes = os.pipe()
    os.write(writes, b'\n' * fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096))
    client = Client(at, stdout=writes)
    os.close(writes)
    client.reads = reads  # open until the client is dead
    if not within(ANSWER, lambda: 'RTS' in client.states()):
        raise Wrong(f'the QP of your client does not reach RTS; it said last: {client.last()}')
    return client


def consumer_dies():
    again = design('consumer-death', 'lost', 'again') == 'again'

    def drained(victims):
        drain(consumer, producer, everybody, **{'again' if again else 'lost': victims})

    _, at = queue(8)
    waiting, printed, producer, consumer = everybody = clients(at, 4)
    blocked = stuck(at)
    waiting.take().silent(0.5, 'the queue is empty')
    waiting.kill()
    time.sleep(DEATH)
    producer.put(*fresh(1)).answered()
    consumer.take().answered()
    producer.put(*fresh(5)).answered()
    printed.take().answered()
    blocked.take()
    time.sleep(1)
    blocked.kill()
    printed.kill()
    os.close(blocked.reads)
    time.sleep(DEATH)
    drained([blocked, printed])
    with wires('delay 40ms'):
        _, at = queue(16)
        first, *victims, producer, consumer = everybody = clients(at, 7)
        producer.put(*fresh(9)).answered()
        pids = first.pids()
        first.take().answered()
        strike(first, pids)  # what it sends after its answer is still on the wire
        cut(victims, ['take'] * 5, consumer)
        drained([first, *victims])


def server_stopped():
    if design('one-sided', 'yes', 'no') == 'no':
        return 'not judged, because your design says "one-sided: no"'
    server, at = queue(8)
    a, b, c = everybody = clients(at, 3)
    server.signal(signal.SIGSTOP)
    try:
        a.put(*fresh(30))
        b.take(15)
        c.take(15).answered()
        b.answered()
        a.answered()
    except Wrong as wrong:
        raise Wrong(f'your design says "one-sided: yes", and the server\'s program is stopped: {wrong}') from None
    compare(everybody)
    in_order([a], [b, c])
    return None


def ten_thousand():
    _, at = queue(64)
    everybody = [Client(at, stdin=''.join(f'put {value}\n' for value in fresh(2500))) for _ in range(2)]
    everybody += [Client(at, stdin='take\n' * 2500) for _ in range(2)]
    end = time.monotonic() + 18
    for client in everybody:
        within(end - time.monotonic(), lambda c=client: c.process.poll() is not None)
        client.answered(0)
    compare(everybody)
    in_order(everybody[:2], everybody[2:])


STAGES = [one_of_each, order, several, full_and_empty, nothing_lost, bad_wires, producer_dies, consumer_dies,
          server_stopped, ten_thousand]
