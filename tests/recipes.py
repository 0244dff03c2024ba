#!/usr/bin/python3
"""tests/recipes.py - what docs/recipes.md says, in a form that can be tested.

usage: tests/recipes.py         its code, for the end of tests/recipes.c
       tests/recipes.py --rows  has each field of the structures a row?
"""
import re
import subprocess
import sys

DONE = "ibv_wc_status_str(wc.status));"
FAULTS = [  # in which recipe, what stands there, and what a fault puts there
    ("SEND", "length = sizeof buf", "length = 6"),
    ("RECV", "buf,\n\t.length = sizeof buf", "buf + 8,\n\t.length = sizeof buf - 8"),
    ("WRITE", "= remote_addr,", "= remote_addr + 1,"),
    ("READ", "= remote_addr,", "= remote_addr + 1,"),
    ("WRITE with immediate", "= remote_addr,", "= remote_addr + 1,"),
    ("WRITE with immediate", "htonl(7)", "7"),
    ("FETCH_AND_ADD", "compare_add = 1", "compare_add = 2"),
    ("FETCH_AND_ADD", DONE, DONE + "\nbuf++;"),
    ("COMPARE_AND_SWAP", "compare_add = 0", "compare_add = 5"),
    ("COMPARE_AND_SWAP", DONE, DONE + "\nbuf++;"),
]


def c_code(page):
    """A function for each recipe, as it stands and with each fault, and a table of them."""
    blocks = re.findall(r"^## ([^\n]*)\n(?:(?!^## ).)*?^```c\n(.*?)^```", page, re.M | re.S)
    assert len(blocks) == 1 + len({heading for heading, _, _ in FAULTS}), "another recipe?"
    recipes = dict(blocks)
    variants = [(heading, "NULL", recipe) for heading, recipe in blocks[1:]]
    for heading, right, wrong in FAULTS:
        assert right in recipes[heading], f"{heading}: no {right}"
        fault = '"' + " ".join(wrong.split()) + '"'
        variants.append((heading, fault, recipes[heading].replace(right, wrong)))
    code, table = [blocks[0][1], '#include "../tests/recipes.c"\n'], []
    for number, (heading, fault, recipe) in enumerate(variants):
        code.append(f"static void recipe_{number}(void)\n{{\n{recipe}"
                    "memcpy(here, &buf, 8);\ndone = wc;\n}\n")
        table.append(f'{{ "{heading}", {fault}, recipe_{number} }},\n')
    return "".join([*code, "const struct variant variants[] = {\n", *table, "{ 0 } };\n"])


def fields(header, structure):
    """The members of a structure, with dots: wr.rdma.rkey. From its last line to its first,
    because a member that is a structure itself has its name at its end."""
    found, inside = [], []
    body = re.search(rf"^struct {structure} {{\n(.*?)^}};", header, re.M | re.S)[1]
    for line in reversed(body.splitlines()):
        if "}" in line:
            inside.append(line.strip("\t };"))
        elif "{" in line:
            inside.pop()
        elif name := re.search(r"(\w+);", line):
            found.append(".".join(filter(None, [*inside, name[1]])))
    return found


def without_row(page, header):
    """The fields that have no row in the table below the heading of their structure."""
    missing = []
    for structure in ("ibv_sge", "ibv_recv_wr", "ibv_send_wr", "ibv_wc"):
        table = page.split(f"\n### {structure}\n")[1].split("\n### ")[0]
        rows = re.findall(r"`([\w.]+)`", " ".join(re.findall(r"^\| [^|]* \|", table, re.M)))
        missing += [f"{structure}.{name}" for name in fields(header, structure) if name not in rows]
    return missing


if __name__ == "__main__":
    with open("docs/recipes.md", encoding="utf-8") as file:
        text = file.read()
    if sys.argv[1:] == ["--rows"]:
        verbs = subprocess.run(["cc", "-E", "-P", "-"], input="#include <infiniband/verbs.h>",
                               capture_output=True, text=True, check=True).stdout
        one_less = text.replace("| `wr.atomic.rkey` |", "| |")
        assert without_row(one_less, verbs) == ["ibv_send_wr.wr.atomic.rkey"]
        assert not without_row(text, verbs), without_row(text, verbs)
    else:
        print(c_code(text), end="")
