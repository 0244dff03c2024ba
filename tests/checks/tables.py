# SPDX-License-Identifier: MIT
"""The tables that READMEs have between two marks, made from headers (make tables)."""
import re
import sys

from . import repo

# Of the table of all lessons on a page: its head and its last row.
MINUTES = {"README.md": ("no. | lesson | minutes | the question", "all | | {:.1f} + {:.1f} hours | "),
           "README.zh.md": ("编号 | 课 | 分钟 | 问题", "合计 | | {:.1f} + {:.1f} 小时 | ")}


def said(header, role):
    """What a role may say at its end. A PASS behind a FAIL is what only a NIC says."""
    ends = header.get(role, ["?"])
    nic = "" if ends[0].startswith("PASS") else "on some NICs "
    ends = [f"{nic}PASS" if end.startswith("PASS") else end.removeprefix("FAIL ") for end in ends]
    return ", or ".join(ends).replace("|", r"\|")


def changes(lesson, _):
    return ["break | what is changed"] + [f"{b.name} | {b.change}" for b in repo.breaks(lesson)]


def outcomes(lesson, _):
    """What both sides say. A long cell is written out once in its column."""
    table, first = ["break | client | server"], {}
    for b in repo.breaks(lesson):
        row = b.name
        for role in ("client", "server"):
            end = said(b.header, role)
            other = first.setdefault((role, end), b.name)
            row += " | " + (end if len(end) < 120 or other == b.name else f"as in {other}")
        table.append(row)
    return table


def exercises(lesson, about):
    return ["exercise | task | kind | stars | minutes | what it is about"] + [
        f"{e.name} | [{e.title}]({e.path.removeprefix(lesson + '/')}) | {e.kind} | "
        + e.stars.replace("*", r"\*") + f" | {e.minutes} | {about.get(e.name, '?')}"
        for e in repo.exercises(lesson)]


def minutes(page, question):
    table, all_reading, all_doing = [MINUTES[page][0]], 0, 0
    for lesson in repo.lessons():
        time = re.search(r"^\*\*Time:\*\*.*", repo.read(f"{lesson}/README.md"), re.M) or sys.exit(
            f"{lesson}/README.md: no line that begins with **Time:**, with the minutes for reading")
        reading = sum(map(int, re.findall(r"(\d+) minutes", time[0])))
        doing = sum(e.minutes for e in repo.exercises(lesson))
        n, name = lesson.split("_", 1)
        table.append(f"{n} | [{name}]({lesson}/{page}) | {reading} + {doing} | "
                     + question.get(n, "?"))
        all_reading, all_doing = all_reading + reading, all_doing + doing
    return table + [MINUTES[page][1].format(all_reading / 60, all_doing / 60)]


def made(page):
    """The page as it should be. What is written by hand, the last cells, it keeps."""
    text, lesson = repo.read(page), page.split("/")[0]
    for make in (minutes,) if page in MINUTES else (changes, outcomes, exercises):
        mark = rf"(<!-- {make.__name__}: made by make tables[^>]*-->\n)(.*?)(<!-- end -->\n)"
        found = re.search(mark, text, re.S)
        if not found:
            sys.exit(f'{page}: no "<!-- {make.__name__}: made by make tables -->", and below "<!-- end -->"')
        begin, old, end = found.groups()
        rows = [repo.cells(row) for row in re.findall(r"^\|.*", old, re.M)]
        head, *lines = [f"| {line} |\n" for line in make(lesson, {row[0]: row[-1] for row in rows})]
        new = [begin, "\n", head, re.sub(r"[^|\n]+", "---", head), *lines, "\n", end]
        text = text.replace(begin + old + end, "".join(new))
    return text
