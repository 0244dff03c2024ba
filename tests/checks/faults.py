# SPDX-License-Identifier: MIT
"""Each check finds what it is there for: all these faults are planted in one copy of the course.

A row is FILE <COMMAND> SAID || SAID ..., in one line or two: sed changes FILE by COMMAND ("$a TEXT" adds TEXT
at its end), and then a line "not ok" of tests/static has each SAID. A new check needs a row; its SAID is what
no other row brings about. tests/packets.py is run, too, because its tests are the methods of a class."""
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

FAULTS = r"""
# Rows: docs.claims, and what docs.points looks at in rows only
tests/COVERAGE.md <s/^\(## 1.*: \)[0-9]*/\199/> 1. Requests: 99 rows has
tests/COVERAGE.md <$a | a file | run | [02](../02_write/client.c) `IBV_WR_RDMA_READ` |>
    nothing that runs for a file || no "IBV_WR_RDMA_READ" in
tests/COVERAGE.md <$a | half a word | run | break 1a, [02](../02_write/client.c) `RDMA_WRIT` |> no "RDMA_WRIT" in
tests/COVERAGE.md <$a | no such line | run | [01](../01_send_recv/README.md) prints "I was here" |> no prints "I was here"
tests/COVERAGE.md <$a | link behind | run | prints "PASS s", [01](../01_send_recv/README.md) |>
    no prints "PASS s" behind "None"
tests/COVERAGE.md <$a | not on both kernels | run | [arm64](arm64) tests "lesson" |> no tests "lesson" behind
tests/COVERAGE.md <$a | of the wrong kind | run | [unit](unit.c) prints "exchange", [01](../01_send_recv/README.md) tests "PASS" |>
    no prints "exchange" || no tests "PASS"
tests/COVERAGE.md <$a | no run | seen | break 1y |> no break 1y || not one of its words: seen
tests/COVERAGE.md <$a | nowhere | told | told |> no place for nowhere
docs/claims.md <0,/| wrong |/s//| maybe |/; s/ rows in / rows of /> not one of its words: maybe; it has
# What pages point at: docs.points, lessons.names, lessons.no_target
docs/lab.md <$a ## A *new* [page](lab.md)\n## Two machines\n[](#a-new-page) [](#two-machines-1) [](#two-machines-2)>
    exists: no heading #two-machines-2
docs/lab.md <$a exercise 1.9, ex 1.8, breaks 1a and 1z, [c](../common/qp.c) `DOC: gi` `WRITE`>
    no exercise 1.9; no exercise 1.8; no break 1z; no "DOC: gi"
README.md <$a [](zorb1) `make run-71` $ make run-72; make run-73, make sure>
    no file zorb1 || exist: no target run-71; no target run-72; no target run-73
01_send_recv/README.md <$a [](zorb2) DOC: zorb2\n\n    make run-74>
    no file zorb2 || no anchor "DOC: zorb2" || no target run-74
docs/lab.md <$a [](zorb3) `make hint-NN.K` `make run-75`> no file zorb3 || exist: no target run-75
tests/COVERAGE.md <$a [](zorb4)> no file zorb4
projects/1_hello/README.md <$a [](zorb5) `make run-76`> no file zorb5 || no target run-76
CONTRIBUTING.md <$a `make run-77`> no target run-77
README.zh.md <$a `make run-78`> no target run-78
docs/zh/lab.md <$a `make run-79`> no target run-79
01_send_recv/README.zh.md <$a `make run-80`> no target run-80
tests/model.c <$a DOC: meet-> no anchor "DOC: meet-"
# Words and rows: docs.glossary, docs.symptoms, docs.named, docs.values
docs/glossary.md <s/^| CQ, /| CQ, cq, /> twice: cq
01_send_recv/README.md <$a SRQA\n\n| word | x |\n|---|---|\n| zorb | x |> no "zorb" of 01_send_recv || no "SRQA"
README.md <$a SRQB> no "SRQB"
docs/lab.md <$a SRQC> no "SRQC"
common/tcp.c <$a f() { die("zorb %d" " b", f("x")); die_err(f(1), "zorc"); must(g((1)), "zord"); }>
    "zorb ... b" || "zorc: ..." || "zord: ..."
01_send_recv/client.c <$a f() { conn_lose(s, w, "zore%d"); say("FAIL zorf"); }> "zore......" || "zorf"
README.md <$a IBV_WC_A_ERR> no row for IBV_WC_A_ERR
docs/lab.md <$a IBV_WC_B_ERR> no row for IBV_WC_B_ERR
common/qp.c <$a IBV_WC_C_ERR IBV_QP_POR> no row for IBV_WC_C_ERR || no row for IBV_QP_POR
judges/judge.h <$a IBV_WC_D_ERR> no row for IBV_WC_D_ERR
01_send_recv/lesson.h <$a IBV_WC_E_ERR> no row for IBV_WC_E_ERR
docs/attributes.md <s/^\(| `min_rnr_timer` [^|]*| [0-9]*\)/\19/> min_rnr_timer is
# Breaks: lessons.breaks
01_send_recv/breaks/a_no_receive.patch </^[a-z]*: /d>
    h: no key || h: no rule || h: no class || h: no ask || h: no client || h: no server || h: no why
03_read/breaks/a_first_gate.patch <1s/3a/3b/; /^ask.zh:/d; s/^why.zh:.*/why.zh: so/>
    not begin with "Break 3a - " || no Chinese ask.zh || no Chinese why.zh
03_read/breaks/c_local_write.patch <s/^key:/key: rkey\nkeys: x\nkey:/; s/^class:/class: silence/>
    more than two rules || class silence, and no line || no key is named "keys"
04_write_imm/breaks/b_one_receive.patch <s/^why:/&  /; w 04_write_imm/breaks/a_again.patch> 4a is there twice
10_key_value/exercises/4_rescue.c <s/TODO/todo/; w 10_key_value/exercises/4_other.c> 10.4 is there twice
04_write_imm/lesson.h <s/LESSON = 4/LESSON = 5/> number in lesson.h
# Exercises: lessons.exercises, lessons.chinese, lessons.gives_away
02_write/exercises/2_gather.c <1{:a; s/^/\n/; /^\n\{100\}/!ba}; 2,$d> c: no title || no TODO 2.2 || more than 100 lines
judges/02_write/2_gather.wrong <s/nothing says when/nobody says when/> 2_gather.c: no wrong answer gets "nothing says when all is done"
judges/02_write/3_full_queue.c </^ \* \(before\|hint.*\):/d>
    c: no before || c: no hint1 || c: no hint2 || no Chinese hint1.zh || no Chinese hint2.zh
judges/02_write/3_full_queue.solution.c <$a TODO> solution.c: has a TODO
judges/02_write/4_inline.c <s/\(hint1.zh:\).*/\1 甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲/> more than 73 columns
judges/02_write/4_inline.wrong <0,/^verdict:/s//verdikt:/; w judges/02_write/9_gone.wrong>
    a "verdict: " || 9_gone.wrong is of no exercise
judges/02_write/5_window.c <s/hint/Hint/; w judges/02_write/8_gone.c> 8_gone.c is of no exercise
judges/03_read/1_how_much.c </gives away:/d> not two lines "gives
judges/03_read/2_freeze.c <0,/gives away:/s//&  Fetch  MEMORY from\n * &/> the page says "Fetch  MEMORY from"
# Tables and pictures: lessons.made, tables.made, lessons.picture
03_read/README.md <s/^| 3a | /&x/> 03_read/README.md: its tables are those of the headers: type make tables
04_write_imm/README.md <s/outcomes: made/outcomes/> no "<!-- outcomes: made
05_fence/README.md <s/^\(| 5.1 |.*| \).* |$/\1 ? |/; s/make trace-05/make trail-05/>
    a cell that is written by hand is still ? || no console block of make trace-NN
06_atomics/wire.svg <s/svg/svgg/> type make pictures
07_versioning/README.md <s/^\*\*Time/**time/> README.md: no line that begins with **Time:**
# What is where: tests/static, lessons.named, lessons.lesson_99
tests/controls/07_versioning.patches <d> none, or one begins
08_double_buffer/lesson.h <$a #include "../09_block_store/lesson.h"> by its path: 08_double_buffer/lesson.h
common/post.h <$a #include "../lab/x.h"> ; common/post.h
judges/08_double_buffer/2_two_reads.h <$a #include "../judge.h"> ; judges/08_double_buffer/2_two_reads.h
lab/rxe <$a common/a\njudges/b\ncourse/c\nbench/d\ntests/e>
    lab/rxe: common/a || e: judges/b || e: course/c || e: bench/d || e: tests/e
course/packets/nvme.py <$a bench/a\ntests/b> nvme.py: bench/a || nvme.py: tests/b
bench/lib.sh <$a judges/a\ntests/b> lib.sh: judges/a || lib.sh: tests/b
Makefile </^JUDGED\|^LESSONS\|^EXERCISES/s/0-9/0-8/> no target run-99 || no target ex-99.2
tests/tests.mk </^WRONG/s/0-9/0-8/> nothing builds build/judges/03_read/
tests/lib.sh </^for lesson/s/0-9/0-8/> it is not in one of the parts
# What a check that ends with an exception has found: verdict.test; methods: verdict.cases
11_rdma_cm/exercises/5_choose.c <s/TODO/todo/; w 11_rdma_cm/exercises/9_new.c> judges/11_rdma_cm/9_new.c is missing
bench/run <$s/^/\xff/> ; UnicodeDecodeError(
tests/packets.py <s/codes = {0:/self.fail("zorp"); &/; s/send, nak, ack = /&1 \/ 0, />
    AssertionError: zorp || ZeroDivisionError: division
"""


def faults():
    with tempfile.TemporaryDirectory() as top:
        shutil.copytree(".", top, ignore=shutil.ignore_patterns("build", ".git"), dirs_exist_ok=True)
        rows = [re.fullmatch(r"(\S+) <(.*)> +(.*)", row).groups()
                for row in FAULTS.replace(">\n", "> ").strip().splitlines() if row[0] != "#"]
        for name, command, _ in rows:
            file = Path(top, name)
            run = subprocess.run(["sed", command, name], cwd=top, capture_output=True)
            if run.returncode or run.stdout == file.read_bytes():
                yield f"{name}: <{command}> changes nothing {run.stderr.decode().strip()}"
            else:
                file.write_bytes(run.stdout)
        said = ""
        for script in ["tests/static", "--once"], ["tests/packets.py"]:
            run = subprocess.run(script, cwd=top, capture_output=True, text=True)
            said += run.stdout
            if run.returncode != 1:
                yield f"{script[0]}: status {run.returncode}, not 1: {run.stderr}"
        wrong = "\n".join(re.findall("^not ok .*", said, re.M))
        yield from (f'{name}: <{command}>, and nothing says "{text}"'
                    for name, command, texts in rows for text in texts.split(" || ") if text not in wrong)
