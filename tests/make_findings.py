"""Runs the programs of docs/findings.md and writes that page: ``tests/make_findings.py [KIND...]`` (or all).

What is written is to be looked at before it is committed: a finding that told more before is a defect.
"""

from __future__ import annotations

import sys
from typing import Sequence

from support import findings_page as findings


def main(arguments: Sequence[str]) -> int:
    outputs = findings.written() if findings.PAGE.exists() else {}
    for example in findings.EXAMPLES:
        if arguments and example.kind not in arguments:
            continue
        last = ""
        for said in findings.told(example):
            found = findings.part(example, said)
            # The same twice: nobody is on the way any more.
            if found and found == last:
                break
            last = found
        else:
            print(f"not found: {example.kind}", file=sys.stderr)
            return 1
        outputs[example.kind] = found
        print(f"{example.kind}: {found.splitlines()[0]}", flush=True)
    findings.PAGE.write_text(findings.page(outputs, source=findings.source))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
