# SPDX-License-Identifier: MIT
"""Each check finds what it is there for."""
import contextlib
import io
import runpy
import tempfile
import unittest
from pathlib import Path

from . import docs, lessons, tables

RIGHT_ROW = ('| right | run | break 1a, [01](../01_send_recv/README.md) prints "PASS", '
             '[unit](../tests/unit.c) tests "exchange" |')
WRONG_ROWS = """
| a file is no run | run | [client](../01_send_recv/client.c) `IBV_WR_SEND` |
| no such line | run | [01](../01_send_recv/README.md) prints "I was here" |
| not behind the link to a lesson | run | prints "PASS", [01](../01_send_recv/README.md) |
| not a test of both kernels | run | [arm64](../tests/arm64) tests "lesson" |
| not in that file | run | break 1a, [client](../01_send_recv/client.c) `IBV_WR_RDMA_READ` |
| no such break | run | break 1z |
| neither run nor told | seen | break 1a |
| nowhere | told | told |"""
PATCH = """Break 1a - nothing is posted
key: old
rule: post
class: silence client
client: FAIL SEND: an error or another error
client: PASS 3
server: PASS 4
server: FAIL act 1: a|b
why: so
why.zh: so
--- 01_x/server.c
ask: not in the header
"""
EXERCISE = "/*\n * Exercise 1.2 - extend: half a list   ** 25 minutes\n */ /* TODO 1.2 */\n"
README = """**Time:** 30 minutes for one part, 60 minutes for the other
<!-- changes: made by make tables -->
<!-- end -->
<!-- outcomes: made by make tables -->
<!-- end -->
<!-- exercises: made by make tables, but for the last column -->
| 1.2 | Some are refused. |
<!-- end -->
"""


@contextlib.contextmanager
def course(files):
    with tempfile.TemporaryDirectory() as top, contextlib.chdir(top):
        for name, text in files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, encoding="utf-8")
        yield


class Checks(unittest.TestCase):
    def finds(self, faults, *wanted):
        """One fault for each of these, and no other."""
        faults = list(faults)
        self.assertEqual(len(faults), len(wanted), faults)
        for fault, text in zip(faults, wanted):
            self.assertIn(text, fault)

    def test_verdict(self):
        """what finds something, or ends with an exception, is not ok, and so is the end"""
        class Case(unittest.TestCase):
            def test(self):
                """x"""
                self.fail("a")

        for found, said in (((), "ok x"), ("a", "not ok x: a"), (["a", "b"], "not ok x: a; b"),
                            ((1 // n for n in [0]), "not ok x: ZeroDivision"),
                            (Case, "not ok x: AssertionError: a")):
            verdict = runpy.run_path("tests/checks/verdict.py")
            with contextlib.redirect_stdout(io.StringIO()) as out, self.assertRaises(SystemExit) as end:
                verdict["cases"](Case) if found is Case else verdict["test"]("x", found)
                verdict["end"]()
            self.assertIn("\n" + said, "\n" + out.getvalue())
            self.assertEqual(bool(end.exception.code), said != "ok x")

    def test_rows(self):
        """rows that are wrong do not pass"""
        def faults(row):
            page = f"1 rows in 1 groups\n## 1 rows\n|--|\n{row}\n"
            return [*docs.points("docs/rows.md", page, True), *docs.claims(page, ["run", "told"])]
        self.finds(faults(RIGHT_ROW))
        for row in WRONG_ROWS.strip().splitlines():
            self.assertTrue(faults(row), row)
        self.finds(docs.claims(f"2 rows in 1 groups\n## 2 rows\n|--|\n{RIGHT_ROW}\n", ["run"]), "has 1", "it has 1")

    def test_points(self):
        """what points at nothing does not pass"""
        page = ("# A *new* [page](p.md)\n## two\n## two\n[1](#a-new-page) [2](#two-1) [3](#two-2) [4](no.md)\n"
                "ex 1.2, exercise 1.9, breaks 1a, 1z\n[c](../01_x/a.c) `DOC: here` `DOC: nothing` `WRITE`\n"
                "```\n[5](no.md)\n```\n")
        with course({"docs/p.md": page, "01_x/a.c": "DOC: here", "01_x/breaks/a_b.patch": PATCH,
                     "01_x/exercises/2_y.c": EXERCISE}):
            self.finds(docs.points("docs/p.md", page, False), "#two-2", "no.md", "1.9", "1z", "DOC: nothing")
        self.finds(lessons.names("01_send_recv/README.md", "DOC: nothing"), "DOC: nothing")
        self.finds(lessons.no_target("`make run-01`, `make run-11`, make sure, `make hint-NN.K`", {"run-01"}), "run-11")

    def test_words(self):
        """words that the glossary lacks, and rows that symptoms and attributes lack, are found"""
        glossary = "| term | x |\n|---|---|\n| QP, queue pair | x |\n| CQ | x |\n| CQ | x |\n"
        lesson = "| word | x |\n|---|---|\n| post | x |\nQP EINVAL `CODE` SRQ\n"
        self.finds(docs.glossary(glossary, {"1/README.md": lesson}), "twice: cq", '"post"', '"SRQ"')
        self.finds(docs.symptoms("| `old: ...` `byte ..., not 'B'` |", '''die("byte %d," " not 'B'", f("x"));
            die_err(f(1), "old"); must(g((1)), "a new %s"); conn_lose(s, w, "x%d"); say("FAIL y"); say("PASS z");'''),
                   "a new ...: ...", "x......", "y")
        self.finds(docs.named("IBV_QP_PORT", ["IBV_QP", "IBV_QP_PORT"]), "IBV_QP")
        self.finds(docs.values("| `b` | 1 |\n| `a` | 12 |", "static struct ep open_end(\n\t\t.a = 1,\n\t\t.b = 1,\n\t};"),
                   "a is 1")

    def test_lesson(self):
        """the tables are those of the headers, and headers that lack something do not pass"""
        with course({"01_x/breaks/a_b.patch": PATCH, "01_x/exercises/2_y.c": EXERCISE, "01_x/README.md": README,
                     "judges/01_x/2_y.c": f"/*\n * before: FAIL\n * hint1: a\n * hint1.zh: {37 * '甲'}\n"
                                          " * hint2:\n */\n",
                     "judges/01_x/2_y.solution.c": "", "judges/01_x/3_z.wrong": "",
                     "judges/01_x/2_y.wrong": "== a\nverdict: a\n== b\n== c\nverdict: c\n"}):
            self.finds(lessons.made("01_x/README.md"), "make tables")
            page = tables.made("01_x/README.md")
            for row in ("| 1a | nothing is posted |",
                        r"| 1a | SEND: an error or another error, or on some NICs PASS | PASS, or act 1: a\|b |",
                        r"| 1.2 | [Half a list](exercises/2_y.c) | extend | \*\* | 25 | Some are refused. |"):
                self.assertIn(row + "\n", page)
            Path("01_x/README.md").write_text(page, encoding="utf-8")
            self.finds(lessons.made("01_x/README.md"))
            self.assertIn("01 | [x](01_x/README.md) | 90 + 25 | ?", tables.minutes("README.md", {}))
            self.finds(lessons.breaks("01_x", {"old"}), "no ask", "no Chinese ask", "no Chinese why",
                       "class silence, and no line")
            for k in "bc":
                Path(f"01_x/breaks/{k}_.patch").write_text(f"Break 1{k} - x\nkey: {k}\n", encoding="utf-8")
            self.assertIn("more than two", list(lessons.breaks("01_x", {"old", "b", "c"}))[-1])
            Path("01_x/breaks/b_.patch").unlink()
            Path("01_x/breaks/c_.patch").unlink()
            self.finds(lessons.exercises("01_x", False), "no hint2", "73 columns", "no Chinese hint2",
                       'one "verdict: ', "2 wrong answers", "3_z.wrong is of no")
            Path("judges/01_x/2_y.c").write_text("/*\n * gives away: Nothing  Is\n * gives away: all of it\n */\n", encoding="utf-8")
            self.finds(lessons.gives_away("judges/01_x/2_y.c", "It is\nall."))
            self.finds(lessons.gives_away("judges/01_x/2_y.c", "here nothing\nis lost"), 'says "Nothing  Is"')
            Path("judges/01_x/2_y.c").write_text("/*\n * gives away: all\n */\n", encoding="utf-8")
            self.finds(lessons.gives_away("judges/01_x/2_y.c", "It is\nall."), "not two phrases", 'says "all"')
            Path("01_x/exercises/2_y.c").write_text("\n" * 101, encoding="utf-8")
            self.finds(list(lessons.exercises("01_x", False))[:3], "no title", "no TODO", "100 lines")
            Path("01_x/README.md").write_text(page.replace("outcomes", ""), encoding="utf-8")
            self.assertRaisesRegex(SystemExit, "no .* outcomes: made", tables.made, "01_x/README.md")
