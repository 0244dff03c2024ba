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
from .outside import (AT, DEVICES, SERVER, Local, Program, Wrong, bad_wire, bench, fails, kill_all, machine, patient,
                      sent, within)

ANSWER = 8  # seconds in which an answer comes that need not wait for others
DEATH = 1.5  # seconds in which a death is noticed
DEADLINE = 6  # what programs are told
numbers = itertools.count(random.randrange(1 << 30), 196611)


def fresh(n):
    """Numbers that no client has put yet."""
    return [next(numbers) % ((1 << 31) - 1) + 1 for _ in range(n)]


def design(key, *values):
    """What the student has declared."""
    path = os.path.join(os.path.dirname(outside.RUN), 'design')
    with contextlib.suppress(OSError), open(path) as lines:
        for line in map(str.strip, lines):
            if line in [f'{key}: {value}' for value in values]:
                return line.split()[1]
    raise Local(f'{path} must have the line ' + ' or '.join(f'"{key}: {value}"' for value in values))


class Client(Program):
    """One of yours, with what it was asked and what it answered."""
    port, server, deadline = '', None, DEADLINE

    def __init__(self, stdin=None, stdout=None):
        super().__init__([outside.RUN, 'client', SERVER, self.port], stdin, stdout, DEVICE=DEVICES['client'], DEADLINE=str(self.deadline))
        self.asked = (stdin or '').splitlines()

    def ask(self, *operations):
        self.asked += operations
        try:
            self.process.stdin.write(''.join(f'{operation}\n' for operation in operations).encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Wrong(f'{self.state("your client")}; {self.server.state("your server")}') from None
        return self

    def put(self, n=1):
        return self.ask(*(f'put {value}' for value in fresh(n)))

    def take(self, n=1):
        return self.ask(*['take'] * n)

    def stored(self):
        """What it has put, and the put that has no answer, which may be true or not."""
        said = len(self.said())
        values = [operation != 'take' and int(operation.split()[1]) for operation in self.asked[:said + 1]]
        return [value for value in values[:said] if value], [value for value in values[said:] if value]

    def got(self):
        return [int(said) for asked, said in zip(self.asked, self.said()) if asked == 'take']

    def check(self, why=''):
        said = self.said()
        for asked, answer in zip(self.asked, said):
            if not (answer.isdigit() if asked == 'take' else answer == 'ok'):
                raise Wrong(f'{why}your client was asked "{asked}", and answered "{answer[:300]}"; '
                            f'{self.server.state("your server")}')
        if len(said) > len(self.asked):
            raise Wrong(f'your client printed a line that nobody asked for: "{said[-1][:300]}"')

    def done(self):
        return len(self.said()) >= len(self.asked)

    def answered(self, why=''):
        patient(lambda: self.done() or self.status() is not None,  # it may wait for the others, or start
                lambda: (sum(len(one.said()) for one in self.all), bool(self.said()) or -self.work()), ANSWER)
        self.check(why)
        if not self.done():
            late = f': {ANSWER} s without any, or more than a minute' if self.status() is None else ''
            raise Wrong(f'{why}"{self.asked[len(self.said())]}" has no answer{late}; {self.state("your client")}; '
                        f'{self.server.state("your server")}')
        return self

    def silent(self, seconds, why):
        """Has its last operation no answer for so long?"""
        if within(seconds, self.done):
            raise Wrong(f'"{self.asked[-1]}" must wait, because {why}; it was answered "{self.last()}"')
        return self

    def leave(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        status = self.end(ANSWER)
        if status:
            raise Wrong(f'your client must end with 0 at the end of stdin, not with {status}; '
                        f'it said last: {self.last()}')


def answered(clients):
    for client in clients:
        client.answered()


def queue(capacity, n, *first, deadline=DEADLINE):
    """A new server, Client.server, and so many clients, all connected: each has put an item and taken one."""
    Client.port, Client.deadline = outside.port(), deadline
    Client.server = AT['server'].Program([*first, outside.RUN, 'server', Client.port, str(capacity)], DEVICE=DEVICES['server'], DEADLINE=str(deadline))
    if not first:  # or the clients must try again
        Client.server.wait_for_port(Client.port)
    clients = [Client().put().take() for _ in range(n)]
    answered(clients)
    compare(clients)
    return clients


def missing(clients):
    got = {value for client in clients for value in client.got()}
    return [value for client in clients for value in client.stored()[0] if value not in got]


def compare(clients, again=(), lost=(), still=0):
    """Is each item that was put taken once, and in the order of its producer? But the last item of each
    client in `again` may come twice, one item for each in `lost` not at all; `still` are in the queue."""
    taken = [client.got() for client in clients]
    puts, times = [sum(client.stored(), []) for client in clients], {}
    allowed = set(sum(puts, []))
    for value in sum(taken, []):
        if value not in allowed:
            raise Wrong(f'an item was taken that no client had put: {value}')
        times[value] = times.get(value, 0) + 1
        if times[value] > 1 + [last for client in again for last in client.got()[-1:]].count(value):
            declared = 'your design says "consumer-death: lost"; ' if lost else ''
            raise Wrong(f'{declared}item {value} was taken {times[value]} times')
    for put in puts if not again else []:
        place = {value: n for n, value in enumerate(put)}
        for values in taken:
            seen = [value for value in values if value in place]
            for a, b in zip(seen, seen[1:]):
                if place[a] > place[b]:
                    raise Wrong(f'one client put {b} before {a}, and another took {a} before {b}')
    left = missing(clients)
    if len(left) > len(lost) + still:
        raise Wrong(('after a consumer was killed: ' if again or lost else '') +
                    f'never taken, though their puts were answered "ok": {len(left)} of the items; the first is {left[0]}')


def drain(consumer, producer, clients, again=(), lost=()):
    """Takes what is left, until a take waits. Then one more item must come through."""
    while within(1.2, consumer.done) or (len(missing(clients)) > len(lost) and within(ANSWER, consumer.done)):
        consumer.check()
        consumer.take()
    producer.put().answered()
    consumer.answered()
    compare(clients, again, lost)


def one_of_each():
    design('one-sided', 'yes', 'no')
    design('consumer-death', 'lost', 'again')
    wire, tcp, spoken = outside.Wire(), os.open('/sys/class/net/lo/statistics/tx_packets', os.O_RDONLY), 0
    clients = producer, consumer = queue(1, 2, 'sh', '-c', 'sleep 2; exec "$0" "$@"', deadline=20)
    for value in [1, (1 << 31) - 1, *fresh(2)]:
        for client, operation in (producer, f'put {value}'), (consumer, 'take'):
            quiet = os.pread(tcp, 32, 0)
            time.sleep(0.02)  # the kernel counts anew after 10 ms
            quiet, before = quiet == os.pread(tcp, 32, 0) and quiet, sent()
            client.ask(operation).answered()
            spoken += bool(quiet) and quiet != os.pread(tcp, 32, 0)
            if not within(0.2, lambda b=before: sent() > b):
                raise Wrong(f'"{operation}" was answered, and no RoCE packet was sent: an item must go by RDMA')
        compare(clients)
    if spoken >= 4:
        raise Wrong(f'{spoken} of 8 operations sent something by TCP, which is for the exchange, and to learn of a death')
    if not wire.frames():
        raise Wrong('no packet crossed the wire: are your QPs on the devices that DEVICE says?')
    producer.put(2).silent(0.7, 'the queue is full: CAPACITY is 1')
    consumer.take(2)
    answered(clients)
    producer.leave()
    consumer.leave()


def order():
    producer, consumer = queue(8, 2)
    producer.put(8).answered()
    consumer.take(8).answered()
    producer.put(30)
    consumer.take(30)
    answered([producer, consumer])
    compare([producer, consumer])
    producer.ask('put 7', 'put 7').answered()
    consumer.take(2).answered()
    producer, consumer = queue(1024, 2)
    for n in [60] * 17 + [4]:
        producer.put(n).answered('CAPACITY is 1024: ')
    for n in [60] * 17 + [4]:
        consumer.take(n).answered('the queue has 1024 items: ')
    compare([producer, consumer])


def several():
    clients = queue(9, 5)
    for producer in clients[:3]:
        producer.put(3).answered()
    for n, client in enumerate(clients):
        client.put(21) if n < 3 else client.take(36)
    answered(clients)
    compare(clients)
    for n, value in enumerate(values := fresh(6)):
        clients[n % 3].ask(f'put {value}').answered()
    if clients[3].take(6).answered().got()[-6:] != values:
        raise Wrong('three clients put items, one after the other, and they were not taken in this order')


def cost(programs):
    """What is too much while nothing happens."""
    packets, since = sent(), time.monotonic()
    for role, program in programs.items():
        used = program.share(.8)
        if used > 0.25:
            return f'your {role} uses {used:.0%} of a CPU; at most 25 % are allowed'
    packets = (sent() - packets) / (time.monotonic() - since)
    return f'{packets:.0f} packets are sent in a second; at most 200 are allowed' if packets > 200 else ''


def idle(waiting, why, programs):
    for client in waiting:
        client.silent(0.7, why)
    much = cost(programs) and cost(programs) and cost(programs)  # on a busy machine packets are sent again
    if much:
        raise Wrong(f'{why}, and nothing happens, but {much}')


def full_and_empty():
    clients = a, b, c, gone = queue(4, 4)
    gone.leave()
    idle([a.take(), b.take()], 'the queue is empty', {'server': Client.server, 'client': a, 'client that was asked nothing': c})
    c.put(6)
    answered(clients)
    idle([c.put(), a.put()], 'the queue is full', {'server': Client.server, 'client': c})
    b.take().answered()
    if not within(ANSWER, lambda: a.done() + c.done() == 1):
        raise Wrong('two puts wait, because the queue is full; an item was taken, and now one of them must be answered')
    b.take(5)
    answered(clients)
    a.take(2).process.stdin.close()
    idle([a], 'the queue is empty', {'client, whose stdin has ended,': a})
    c.put(2)
    answered(clients)
    a.leave()
    compare(clients)


def nothing_lost():
    clients, most = queue(3, 8), len(Client.server.states())
    for n, client in enumerate(clients):
        client.put(60) if n < 3 else client.take(36)
    answered(clients)
    compare(clients)
    clients[0].put(3).answered()
    for client in clients:
        client.leave()
    for _ in range(3):  # they come and go, more than 16
        new = [Client().take().put() for _ in range(4)]
        answered(new)
        clients += new
        compare(clients, still=3)
        for client in new:
            client.leave()
    if not within(DEATH, lambda: sum(state not in ('RESET', 'INIT') for state in Client.server.states()) <= most - 8):
        raise Local(f'your server had {most} QPs for 8 clients; {DEATH} s after all left it has {len(Client.server.states())}')
    idle([], 'all clients have left', {'server': Client.server})
    with bad_wire('delay 10ms'):
        clients = queue(3, 8)
        clients[0].put(30)
        clients[1].put(30)
        clients[2].take(60)
        for client in clients[3:]:  # while the three are at work
            client.leave()
        answered(clients)
        compare(clients)


def bad_wires():
    for fault in 'loss 5%', 'duplicate 20%', 'delay 2ms reorder 50%':
        with bad_wire(fault):
            try:
                clients = queue(4, 2)
                clients[0].put(40)
                clients[1].take(40)
                answered(clients)
                compare(clients)
            except Wrong as wrong:
                raise Wrong(f'netem {fault}: {wrong}') from None


def cut(victims, operation, survivor):
    """Kills each at another moment of an operation; how long that takes, the survivor shows."""
    took = []  # a busy machine may hold up one
    for _ in range(3):
        since = time.monotonic()
        operation(survivor).answered()
        took.append(time.monotonic() - since)
    for n, victim in enumerate(victims):
        pids = victim.pids()
        operation(victim)
        time.sleep(min(took) * (n + 0.5) / len(victims))
        victim.kill(pids)
    time.sleep(DEATH)


def last_words(victim, operation, delay):
    """Kills it as soon as it has printed its answer: what it sent after that is lost."""
    pids, near = victim.pids(), machine('client')
    near.netem('delay', '250ms')
    within(ANSWER, operation(victim).done, 0)
    victim.kill(pids)
    near.netem()  # what it sent after its answer is still here, and lost now
    near.netem('delay', delay)
    victim.check()


def cannot_print():
    """A client whose stdout is a full pipe, and the end of it that nobody reads."""
    reads, writes = os.pipe()
    os.write(writes, b'\n' * fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096))
    blocked = Client(stdout=writes)
    os.close(writes)
    patient(lambda: 'RTS' in blocked.states(), blocked.work)  # it may connect later, too
    return blocked, reads


def producer_dies():
    clients = victim, producer, consumer = queue(2, 3)
    producer.put(2).answered()
    for client in victim, producer:
        client.put().silent(0.5, 'the queue is full')
    victim.kill()
    outside.silent_peer(Client.port).close()
    idle([producer], 'the queue is full, a producer was killed', {'server': Client.server, 'client': producer})  # DEATH is over
    drain(consumer.take(2).answered(), producer.answered('a producer that waited was killed, another waits behind it, and '), clients)
    producer.put(2).answered('a producer that waited was killed, the queue is empty, and it takes fewer than CAPACITY items: ')
    with bad_wire('delay 40ms'):
        clients = first, *victims, producer, consumer = queue(16, 8)
        last_words(first, Client.put, '40ms')
        cut(victims, Client.put, producer)
        clients.append(Client().put().answered('six of eight clients were killed, and another comes: '))
        drain(consumer.take(), producer.put().answered(), clients)
        producer.put(16).answered('producers were killed, the queue is empty, and it takes fewer than CAPACITY items: ')


def consumer_dies():
    again = design('consumer-death', 'lost', 'again') == 'again'

    def drained(victims, printed=()):
        drain(consumer, producer, clients, **{'again': victims + [*printed]} if again else {'lost': victims})

    clients = waiting, printed, producer, consumer = queue(8, 4)
    blocked, reads = cannot_print()
    for client in waiting, consumer:
        client.take().silent(0.5, 'the queue is empty')
    waiting.kill()
    time.sleep(DEATH)
    producer.put().answered()
    consumer.answered('a consumer that waited at an empty queue was killed, one item was put, and ')
    producer.put(5).answered()
    printed.take().answered()
    blocked.take(3).stuck()
    within(1, producer.put(5).done)  # now it is full, whether or not what `blocked` has counts
    blocked.kill()
    printed.kill()
    os.close(reads)
    time.sleep(DEATH)
    drained([blocked], [printed])
    values = producer.stored()[0][-10:-1]  # from that of `blocked` on
    seen = [value for value in consumer.got() if value in values]
    if seen != sorted(seen, key=values.index):
        raise Wrong(f'a consumer was killed before it could print {values[0]}, so {values[1]} must not come before it')
    if again:
        holder, reads = cannot_print()
        producer.put().answered()
        holder.take().stuck()
        consumer.take().silent(2, 'a consumer has the only item, and lives')
        holder.kill()
        os.close(reads)
        consumer.answered('a consumer was killed before it could print its item, and one that waits does not get it: ')
    producer.put(8).answered('consumers were killed, the queue is empty, and it takes fewer than CAPACITY items: ')
    producer.put().silent(0.5, 'the queue is full, after consumers were killed')
    drained([blocked], [printed])
    with bad_wire('delay 100ms'):
        clients = early, first, *victims, producer, consumer = queue(16, 7)
        producer.put(9).answered()
        last_words(first, Client.take, '100ms')
        early.take().leave()  # it is not killed, so its item is not given again
        cut(victims, Client.take, consumer)
        drained([first, *victims])


def server_stopped():
    Client.port = outside.port()
    alone = Client().put()
    (consumer,), empty = queue(1, 1), Client.server
    (producer,), full = queue(1, 1), Client.server
    waiting, since = {'the queue is empty': consumer.take(), 'the queue is full': producer.put(2)}, time.monotonic()
    clients = a, b, c = queue(8, 3)
    Client.server.signal(signal.SIGSTOP)
    fails(Client().put(), 'client', 'a client that came when your server was stopped (SIGSTOP)', DEADLINE + ANSWER)
    fails(alone, 'client', 'no server listens', ANSWER)
    for why, client in waiting.items():
        client.silent(max(0, since + DEADLINE + 1 - time.monotonic()), f'{why}, for longer than DEADLINE, too')
    empty.kill()
    full.kill()
    for why, client in waiting.items():
        fails(client, 'client', f'{why}, and your server was killed', ANSWER)
    two_sided = design('one-sided', 'yes', 'no') == 'no'
    Client.server.signal(signal.SIGCONT if two_sided else signal.SIGSTOP)
    try:
        a.put(30)
        b.take(15)
        c.take(15)
        answered(clients)
    except Wrong as wrong:
        how = 'your server was stopped, and goes on' if two_sided else 'one-sided: yes, and the server\'s program is stopped'
        raise Wrong(f'{how}: {wrong}') from None
    compare(clients)
    return 'PASS, but that clients go on was not judged: your design says "one-sided: no"' if two_sided else None


def slowest():
    """Seconds that are enough for 10 000 operations: what our bench needs for 80 000 messages, at least 20, at most 600."""
    for _ in range(3):  # on a busy machine ours may fail, too
        ours, before = bench('-m', 'latency', '-n', '1000000'), sent()
        within(ANSWER, lambda: sent() - before > 100)
        since, before = time.monotonic(), sent()
        time.sleep(0.5)
        messages = (sent() - before) / 2 / (time.monotonic() - since)
        ended, said = ours.status() is not None, ours.last()
        kill_all()
        if not ended:
            return min(max(20, 80000 / max(messages, 1)), 600)
    raise OSError(f'our bench has ended; it said last: {said}')


def ten_thousand():
    enough, answers = slowest(), -1
    queue(64, 0)
    clients = [Client('\n'.join(f'put {value}' for value in fresh(2500)) + '\n') for _ in range(2)]
    clients += [Client('take\n' * 2500) for _ in range(2)]
    patient(lambda: any(c.said() for c in clients), lambda: [p.work() for p in (Client.server, *clients)])  # the start
    began = since = time.monotonic()
    while answers < 10000:
        time.sleep(0.5)
        before, answers, now = answers, sum(len(client.said()) for client in clients), time.monotonic()
        for client in clients:
            client.check()
        since = now if answers > before else since
        if now - since > ANSWER or now - began > ANSWER + enough * answers / 10000:
            raise Wrong(f'{answers} answers of 10000 came in {now - began:.0f} s; for all of them {enough:.0f} s are allowed, '
                        f'and {ANSWER} s without an answer')
    compare(clients)


STAGES = [one_of_each, order, several, full_and_empty, nothing_lost, bad_wires, producer_dies, consumer_dies,
          server_stopped, ten_thousand]
