# SPDX-License-Identifier: MIT
"""What pages point at exists, and the tables of docs/ have the rows that they must have.

What runs is named so: break 1b; exercise 1.2, or ex 1.2; behind a link to a lesson's
README: prints "TEXT"; behind a link to tests/on-rxe or tests/unit.c: tests "TEXT"."""
import collections
import functools
import os
import re

from . import repo

EVIDENCE = re.compile(r'\b(break|ex|exercise) \d+|\b(prints|tests) "')
POINTERS = re.compile(r'\]\((?P<link>[^) ]*)\)|`(?P<code>[^`]+)`|\b(?:ex|exercise) (?P<ex>\d+\.\d+)'
                      r'|\bbreaks? (?P<breaks>\d+[a-z]\b(?:(?:, | and )\d+[a-z]\b)*)'
                      r'|\b(?P<quote>(?:prints|tests) "[^"]*")')


@functools.cache
def anchors(path):
    """In order, those that GitHub makes of headings: the second of the same name gets -1."""
    seen, names = collections.Counter(), []
    for line in repo.prose(repo.read(path)):
        if heading := re.match(r"#+ +(.*)", line):
            text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            name = re.sub(r"[^\w -]", "", text).replace(" ", "-")
            names.append(f"{name}-{seen[name]}" if seen[name] else name)
            seen[name] += 1
    return names + re.findall(r'^<a id="([^"]+)"></a>', repo.read(path), re.M)


def has_word(text, word):
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)


def quoted(quote, target):
    """Only these run on both kernels, or need none: transcripts, on-rxe, unit.c."""
    if re.search(r"/(on-rxe|unit\.c)$", target) and quote.startswith("tests"):
        text = repo.read(target)
    elif re.search(r"/\d\d_\w+/README.md$", target) and quote.startswith("prints"):
        block = re.search(r"^```console$(.*?)^```", repo.read(target), re.M | re.S)
        text = "\n".join(re.findall(r"^(?:server|client): .*", block[1], re.M))
    else:
        return False
    return quote.split('"')[1] in text


def numbered(room, lesson, k):
    return repo.files(f"{int(lesson):02}_*/{room}/{k}_*")


def points(page, text, rows):
    """All that a text points at. With rows also what they say that runs; and what stands in
    backquotes behind a link is in the file linked. Elsewhere that goes for "DOC:" only."""
    for line in repo.prose(text):
        target = None
        for found in POINTERS.finditer(line):
            if found["link"] is not None:
                path, _, anchor = found["link"].partition("#")
                target = os.path.join(os.path.dirname(page) or ".", path) if path else page
                if not os.path.exists(target):
                    if not path.startswith(("http:", "https:")):
                        yield f"no file {path}"
                    target = None
                elif anchor and anchor not in anchors(target):
                    yield f"no heading {found['link']}"
            elif found["code"] and target and (rows or found["code"].startswith("DOC:")):
                if not os.path.isfile(target) or not has_word(repo.read(target), found["code"]):
                    yield f'no "{found["code"]}" in {target}'
            elif found["quote"] and rows and not quoted(found["quote"], target or ""):
                yield f'no {found["quote"]} behind "{target}"'
            elif found["ex"]:
                if not numbered("exercises", *found["ex"].split(".")):
                    yield f"no exercise {found['ex']}"
            elif found["breaks"]:
                yield from (f"no break {lesson}{k}"
                            for lesson, k in re.findall(r"(\d+)([a-z])\b", found["breaks"])
                            if not numbered("breaks", lesson, k))


def claims(page, words):
    """As many rows as its headings say, each with one of these words in its second column and
    a place in its last. Unless it says "told", as its word or in front of its place, it names
    what runs."""
    found, groups = [], re.split(r"^## ", page, flags=re.M)[1:]
    for group in groups:
        rows = [repo.cells(row) for table in re.findall(r"^\|--.*\n((?:\|.*\n?)*)", group, re.M)
                for row in table.splitlines()]
        found += rows
        title = re.match(r".*?(\d+) rows$", group, re.M)
        if title and int(title[1]) != len(rows):
            yield f"{title[0]} has {len(rows)}"
    for what, word, *_, place in found:
        runs = EVIDENCE.search(place)
        if not runs and "](" not in place:
            yield f"no place for {what}"
        if word not in words:
            yield f"not one of its words: {word}"
        if not runs and word != "told" and not place.startswith("told: "):
            yield f"nothing that runs for {what}"
    if not re.search(rf"^{len(found)} rows in {len(groups)} groups", page, re.M):
        yield f"it has {len(found)} rows in {len(groups)} groups"


# Abbreviations that are no terms of RDMA: of computers in general; errors; names of drivers,
# programs, conferences, files; what our programs print, and letters of our pictures.
NO_TERMS = """CPU GPU API TCP UDP IP VM KVM QEMU MB SCSI NFS MIT GCC WSL2 IA HPC AI
E[A-Z]{4,} EFA NCCL UCX HERD RFP NVIDIA USENIX ATC NSDI SIGCOMM SIGMOD OOPSLA TOPLAS JPDC RFC RDMAP TSO
README SECURITY COVERAGE CONTRIBUTING CHANGELOG LICENSE NOTES
PASS FAIL MISSING OK VA VB CMID ONLY LAST DEVICE ACTIVE HEAD BODY TAIL HTML PDF RDS
ARP AWS CUDA MPI OFED DPDK NVSHMEM CANNOT WORD SPDK"""


def glossary(text, pages):
    """It has every word that a lesson explains, once, and every abbreviation."""
    terms = collections.Counter(repo.first_column(text, "term"))
    yield from (f"twice: {term}" for term, n in terms.items() if n > 1)
    column = "\n".join(re.findall(r"^\| ([^|]*)", text, re.M))
    known = re.compile(NO_TERMS.replace(" ", "|").replace("\n", "|"))
    words = set()
    for path, page in pages.items():
        if path.endswith("README.md"):
            yield from (f'no "{term}" of {path}' for term in repo.first_column(page, "word")
                        if term not in terms)
        for line in repo.prose(page):
            if not line.startswith("    "):
                line = re.sub(r'`[^`]*`|\]\([^)]*\)|"[^"]*"', " ", line)
                words.update(re.findall(r"\b[A-Z][A-Z0-9]*[A-Z][A-Z0-9]*\b", line))
    for word in sorted(words):
        if not re.search(rf"\b{word}\b", column, re.I) and not known.fullmatch(word):
            yield f'no "{word}"'


STRING = r'"(?:\\.|[^"\\])*"'
CALL = re.compile(rf'\b(die_err|die|must|conn_lose|say)\s*\((?=[^;"]*((?:{STRING}\s*)*))')


def symptoms(page, programs):
    """Each text of die(), die_err(), must() and conn_lose(), and each say("FAIL ..."), with "..."
    for each %d, has a row with such a line."""
    lines = [code.replace(r"\|", "|") for row in re.findall(r"^\|.*", page, re.M)
             for code in re.findall(r"`([^`]+)`", row)]
    for call, strings in CALL.findall(programs):
        line = "".join(s[1:-1] for s in re.findall(STRING, strings))
        line = re.sub(r"%[-+ #0-9.*]*[lhz]*[a-zA-Z]", "...", line.replace(r"\"", '"'))
        if call == "say":
            line = line.removeprefix("FAIL ") if line.startswith("FAIL ") else ""
        if not re.search("[a-z]", line):
            continue
        line += {"die_err": ": ...", "must": ": ...", "conn_lose": "..."}.get(call, "")
        like = re.compile(".*".join(map(re.escape, re.split(r"(?:\.{3})+", line))))
        if not any(map(like.fullmatch, lines)):
            yield f'no row for "{line}"'


def named(page, names):
    """Each of these has a row."""
    yield from (f"no row for {name}" for name in sorted(set(names)) if not has_word(page, name))


def values(page, qp):
    """docs/attributes.md has the values that all lessons begin with."""
    for name, value in re.findall(r"(?:\.|int (?=depth))([a-z_]+) = (\d+)[,;]", qp):  # depth: of both directions
        if not re.search(rf"^\| `(grh\.)?{name.replace('depth', 'max_rd_atomic')}` [^|]*\| {value}\b", page, re.M):
            yield f"{name} is {value}"
