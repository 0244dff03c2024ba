# SPDX-License-Identifier: MIT
"""A line for each test: "ok NAME", or "not ok NAME: " and what is wrong."""
import sys
import unittest

failed = False


def test(name, faults):
    """faults: one, or several. What ends with an exception has found something, too."""
    global failed
    said = []
    try:
        said.extend([faults] if faults and isinstance(faults, str) else faults)
    except (Exception, SystemExit) as fault:
        said.append(repr(fault) if isinstance(fault, Exception) else str(fault))
    failed |= bool(said)
    print(f"not ok {name}: {'; '.join(said)}" if said else f"ok {name}", flush=True)


def cases(tests, about=""):
    """A line for each method of a unittest.TestCase: the first of what says what it is."""
    for case in unittest.defaultTestLoader.loadTestsFromTestCase(tests):
        result = case.run()
        why = [said for _, said in result.errors + result.failures]
        print(*("    " + said.replace("\n", "\n    ") + "\n" for said in why), sep="", end="")
        test(about + case.shortDescription(), [said.splitlines()[-1] for said in why])


def end():
    sys.exit(failed)
