# SPDX-License-Identifier: MIT
"""What can be said of the Makefile, lessons, breaks and exercises without running them."""
import functools
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from unicodedata import east_asian_width

from . import repo, tables


@functools.cache
def targets(top="."):
    """All that make has a rule for, without those for any name."""
    said = subprocess.run(["make", "-C", top, "-npq", "help"], capture_output=True, text=True).stdout
    return {t for line in re.findall(r"^([^#%=\t\n:][^%=\n:]*):(?!=)", said, re.M) for t in line.split()}


def names(readme, page):
    """The "DOC:" anchors that a README names exist."""
    sources = repo.files(f"{Path(readme).parent}/*.[ch]", "common/*.[ch]")
    for anchor in re.findall(r"DOC: ([a-z0-9-]*)", page):
        if not any(re.search(rf"DOC: {anchor}(?![\w-])", repo.read(source)) for source in sources):
            yield f'no anchor "DOC: {anchor}"'


def no_target(page, known):
    named = re.findall(r"(?:^    |[`$&;] ?)make ([a-z][a-z0-9-]*(?:\.[a-z0-9]+)?)(?![\w.*/-])", page, re.M)
    yield from (f"no target {target}" for target in sorted(set(named) - known - {"break-03.h"}))  # CONTRIBUTING.md: how to add one


def named(places, others):
    for path in repo.files(places):
        for line in repo.read(path).splitlines():
            if re.search(rf"(?<![\w-])({others})/\w", re.sub(r"(^|\s)(#|//|/?\*).*|\bbuild/\S*", "", line)):
                yield f"{path}: {line.strip()}"


# The classes of what a break may do (course/break asks for one), and what shows each in the
# header's lines of client and server.
CLASSES = {
    "post": r"EINVAL|ENOMEM|ETIMEDOUT",
    "client": r"client: FAIL .*([eE]rror|exceeded)",
    "server": r"(server: FAIL|note: client \d loses) .*[eE]rror",
    "success": r": PASS|act \d: |other bytes|chunk \d",
    "silence": r"nothing within|took too long",
    "event": r"RDMA_CM_EVENT_|hung up",
}


def breaks(lesson, before=()):
    """before: the keys of the rules that earlier lessons break."""
    again = set()
    names = [one.name for one in (*repo.breaks(lesson), *repo.exercises(lesson))]
    yield from (f"{name} is there twice" for name in sorted(set(names)) if names.count(name) > 1)
    if not repo.files(f"{lesson}/Makefile") or f"LESSON = {int(lesson[:2])}," not in repo.read(f"{lesson}/lesson.h"):
        yield "a lesson has a Makefile, and its number in lesson.h"
    for b in repo.breaks(lesson):
        if not b.change:
            yield f'{b.path} does not begin with "Break {b.name} - "'
        yield from without(b.path, "key", "rule", "class", "ask", "client", "server", "why")
        yield from chinese(b.path, "ask", "why")
        yield from (f'{b.path}: no key is named "{key}"' for key in b.header if not re.fullmatch(
            r"Break .*|key|rule|class|hosts|client|server|note|(ask|why)(\.zh)?", key))
        again |= {key for key in b.header.get("key", ()) if key in before}
        shown = "\n".join(f"{role}: {line}" for role in ("client", "server", "note")
                          for line in b.header.get(role, ()))
        for kind in " ".join(b.header.get("class", ())).split():
            if not re.search(CLASSES.get(kind, "$^"), shown):
                yield f"{b.path}: class {kind}, and no line of client, server or note has {CLASSES.get(kind, 'it: no such class')}"
    if len(again) > 2:
        yield f"more than two rules of earlier lessons: {', '.join(sorted(again))}"


def without(path, *keys):
    yield from (f"{path}: no {key}" for key in keys if not any(repo.header(path).get(key, [])))


def chinese(path, *keys):
    """Each also in Chinese, in lines that are shown as they are (course/lib.sh, tell)."""
    for key in keys:
        lines = repo.header(path).get(f"{key}.zh", [])
        if not re.search("[\u4e00-\u9fff]", "".join(lines)):
            yield f"{path}: no Chinese {key}.zh"
        for line in lines:
            if len("why: ") + sum(1 + (east_asian_width(c) in "WF") for c in line) > 78:
                yield f"{path}: more than 73 columns: {line}"


def gives_away(judge, page):
    """A prediction is none if the page says what comes: the judge has phrases that would."""
    phrases = repo.header(judge).get("gives away", [])
    if len(phrases) < 2:
        yield f'{judge}: not two lines "gives away: PHRASE", which the page must not have'
    page = " ".join(page.lower().split())
    yield from (f'{judge}: the page says "{phrase}"' for phrase in phrases
                if " ".join(phrase.lower().split()) in page)


def exercises(lesson, handout):
    """What a student has changed is not looked at, and a course handed out has no answers."""
    for e in repo.exercises(lesson):
        text = repo.read(e.path)
        if repo.ours(e.path) not in ("", text):
            continue
        if not e.kind:
            yield f'{e.path}: no title "Exercise {e.name} - predict|repair|extend|choose: TITLE  ** 25 minutes"'
        if f"TODO {e.name}" not in text:
            yield f"{e.path}: no TODO {e.name}"
        if text.count("\n") > 100:
            yield f"{e.path}: more than 100 lines"
        yield from without(f"{e.judge}.c", "before", "hint1", "hint2")
        yield from chinese(f"{e.judge}.c", "hint1", "hint2")
        if not handout:
            if e.kind == "predict":
                yield from gives_away(f"{e.judge}.c", repo.read(f"{lesson}/README.md"))
            if "TODO" in repo.read(f"{e.judge}.solution.c"):
                yield f"{e.judge}.solution.c: has a TODO"
            wrong = repo.read(f"{e.judge}.wrong")
            if not re.fullmatch("(== (verdict: )+)*", "".join(re.findall("^(verdict: |== )", wrong, re.M))):
                yield f'{e.judge}.wrong: below each "== NAME" a "verdict: "'
            for text in re.findall(r'\b(?:wrong|blame)\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', code := repo.read(f"{e.judge}.c")):
                says = re.split(r"%[-+.*\d]*[hlz]*\w?", re.sub(r'\\(.)|"\s*', r"\1", text))
                if not re.search("(verdict|before): .*" + ".*".join(map(re.escape, says)), code + wrong):
                    yield f"{e.judge}.c: no wrong answer gets \"{'...'.join(says)}\""
    for path in repo.files(f"judges/{lesson}/*.c", f"judges/{lesson}/*.wrong"):
        if not repo.files(f"{lesson}/exercises/{Path(path).name.split('.')[0]}.c"):
            yield f"{path} is of no exercise"


def made(page):
    text = tables.made(page)
    if text != repo.read(page):
        yield "type make tables, and look at what it changed"
    if "| ? |" in text:
        yield "a cell that is written by hand is still ?"


def picture(lesson):
    drawn = subprocess.run(["course/packets/picture.py", f"{lesson}/README.md"], capture_output=True, text=True)
    if drawn.returncode:
        yield drawn.stderr.strip()
    elif [drawn.stdout] != [*map(repo.read, repo.files(f"{lesson}/wire.svg"))]:
        yield "type make pictures, and look at it"


def lesson_99():
    """A copy of lesson 03 has all that 03 has, by being there; controls are written by hand."""
    with tempfile.TemporaryDirectory() as top:
        shutil.copytree(".", top, ignore=shutil.ignore_patterns("build", ".git"), dirs_exist_ok=True)
        shutil.copytree("03_read", f"{top}/99_new")
        shutil.copytree("judges/03_read", f"{top}/judges/99_new")
        known = targets(top)
        wanted = {t.replace("-03", "-99") for t in known if re.search(r"-03(\.|$)", t)}
        wanted |= {"run-99", "check-99", "trace-99", "check-trace-99", "break-99", "break-99.a",
                   "trace-99.a", "ex-99.1", "hint-99.1", "reset-99.1"}
        yield from (f"no target {target}" for target in sorted(wanted - known))

        def said(*command):
            return subprocess.run(command, cwd=top, capture_output=True, text=True).stdout.split()
        built = said("make", "-s", "names")
        for name in built:
            if "03_read/" in name and "controls/" not in name and name.replace("03_read", "99_new") not in built:
                yield f"nothing builds {name} of 99"
        if said("bash", "-c", '. tests/lib.sh; echo "${parts[@]}"').count("99_new") != 1:
            yield "it is not in one of the parts in tests/lib.sh"
