#!/usr/bin/python3
"""tests/recipes.py - the code of docs/recipes.md in a form that can be run: the end of tests/recipes.c."""
import re

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


with open("docs/recipes.md", encoding="utf-8") as page:
    print(c_code(page.read()), end="")
