# SPDX-License-Identifier: MIT
"""How a judge starts programs, looks at them from outside, and ends them."""
import json
import os
import signal
import socket
import subprocess
import tempfile
import time

DEVICES = {'server': os.environ.get('DEV_SERVER', ''), 'client': os.environ.get('DEV_CLIENT', '')}


RUN = ''  # the student's script, set by course/judge


class Wrong(Exception):
    """What is said of a stage that fails."""


class Program:
    """A program in a session of its own, so that all it started can be found and killed."""
    all = []

    def __init__(self, args, stdin='', **env):
        self.files = [tempfile.TemporaryFile() for _ in range(2)]
        given = tempfile.TemporaryFile()
        given.write(stdin.encode())
        given.seek(0)
        self.process = subprocess.Popen(args, stdin=given, stdout=self.files[0], stderr=self.files[1],
                                        start_new_session=True, env={**os.environ, **env})
        self.all.append(self)

    def said(self, i=0):
        return os.pread(self.files[i].fileno(), 100000, 0).decode(errors='replace').splitlines()

    def last(self):
        return (self.said()[-1:] or self.said(1)[-1:] or ['nothing'])[0]

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

    def kill(self):
        for pid in self.pids():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()

    def end(self, seconds):
        """Its status, once it has ended and left nothing."""
        if not within(seconds, lambda: self.process.poll() is not None):
            raise Wrong(f'your program still runs after {seconds} s; it said last: {self.last()}')
        if not within(1, lambda: not self.pids()):
            raise Wrong('your program has ended, and left a process behind: what did it start, and who waits for it?')
        return self.process.returncode

    def states(self):
        """The states of its QPs, as the kernel sees them."""
        shown = subprocess.run(['rdma', '-j', 'res', 'show', 'qp'], capture_output=True, text=True, timeout=10).stdout
        pids = self.pids()
        return [qp['state'] for qp in json.loads(shown or '[]') if qp.get('pid') in pids]


def within(seconds, look):
    end = time.monotonic() + seconds
    while not look():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return str(s.getsockname()[1])


def other(role):
    return 'client' if role == 'server' else 'server'


def host(role):
    return ['127.0.0.1'] if role == 'client' else []


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
