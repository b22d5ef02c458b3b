"""Stands for an engine and the agents of many nodes: ``made_up_nodes.py PROTOCOL NODE...``.

Each line of its input is a question for all of them; what each node does is said by its name, ``good7``, ``silent3``.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import zlib
from typing import Any, Dict, List

PIECE = 648

#: What a node says to have recorded into, below the directory that it was asked for.
OTHER_FILES = ("../.bashrc", "a.mpirec/../../.bashrc", ".mpirec", "-rf.mpirec", "a b.mpirec", "sub/a.mpirec")


def say(node: str, line: bytes) -> None:
    sys.stdout.buffer.write(node.encode() + b": " + line + b"\n")


def digest(snapshot: Dict[str, Any]) -> str:
    """As ``crates/model/src/digest`` has it: hosts are texts, and texts and processes are parts."""
    parts: List[str] = []
    numbers = []
    for process in snapshot.get("processes", []):
        parts += [json.dumps(process["host"]), json.dumps({**process, "host": len(parts)})]
        numbers.append(len(parts) - 1)
    head = json.dumps({"digest": 2, "known": 0, "parts": len(parts)})
    return "\n".join([head, *parts, json.dumps({**snapshot, "processes": numbers})])


def frames(kind: str, look: int, body: Any) -> List[bytes]:
    text = body if isinstance(body, str) else digest(body) if kind == "digest" else json.dumps(body)
    packed = zlib.compress(text.encode())
    pieces = [packed[at : at + PIECE] for at in range(0, len(packed), PIECE)]
    return [
        b"mq1 %s %d %d %d %08x %s"
        % (kind.encode(), look, number, len(pieces), zlib.crc32(piece), base64.b64encode(piece))
        for number, piece in enumerate(pieces, 1)
    ]


def hello(node: str, protocol: int, **more: Any) -> None:
    content = {"agent": "0.1.0", "protocol": protocol, "host": node, "node": None, "pid": 1, **more}
    for line in frames("hello", 0, content):
        say(node, line)


def process(rank: int, size: int, node: str) -> Dict[str, Any]:
    return {"rank": rank, "world_size": size, "pid": 1000 + rank % 4, "host": node, "problems": []}


def answer(node: str, look: int, ranks: List[int], size: int, problem: str = "") -> List[bytes]:
    snapshot: Dict[str, Any] = {
        "schema": "mpi-queues/1",
        "captured_at": None,
        "processes": [process(rank, size, node) for rank in ranks],
        "problems": [],
    }
    told = {"asked_at": 1.0, "seconds": 0.1, "ranks": len(ranks), "moving": [], "hungry": [], "denied": 0}
    if problem:
        snapshot["processes"][0]["problems"] = [problem]
    return frames("told", look, told) + frames("digest", look, snapshot)


def main() -> int:
    protocol, nodes = int(sys.argv[1]), sys.argv[2:]
    kinds = {node: re.sub(r"\d+$", "", node) for node in nodes}
    size = 2 * len(nodes)
    for node, kind in kinds.items():
        if kind in (
            "good",
            "records",
            "bomb",
            "garbage",
            "damaged",
            "slow",
            "dies",
            "stranger",
            "nonsense",
            "escape",
            "once",
        ):
            hello(node, protocol)
        elif kind == "old":
            hello(node, protocol - 1, agent="0.0.9")
        elif kind == "refused":
            say(node, b"\x1b[31mPermission denied (publickey).\x1b]0;owned\x07")
    sys.stdout.flush()
    if "unreachable" in kinds.values():
        sys.stderr.write("engine: error: one node cannot be reached\n")
        return 9
    for line in sys.stdin:
        if not line.strip():
            continue
        question = json.loads(line)
        look = question["look"]
        wanted = question["ranks"]
        for index, (node, kind) in enumerate(kinds.items()):
            own = [2 * index, 2 * index + 1]
            lines = answer(node, look, own if wanted is None else [one for one in own if str(one) in wanted], size)
            if kind == "garbage":
                for _ in range(100):
                    say(node, b"\xff\x00mq1 " + bytes(range(1, 10)) * 50 + b"\x1b[2J")
                say(node, b"mq1 digest 1 1 1 zz zz")
            elif kind == "damaged":
                say(node, lines[0])
                say(node, lines[1][:-8] + b"AAAAAAA=")
            elif kind == "nonsense":
                for one in frames("told", look, [1, 2]) + frames("digest", look, {"schema": "another/1"}):
                    say(node, one)
            elif kind == "stranger":
                for one in answer(node, look + 5, [0, 1], size):
                    say(node, one)
            elif kind == "dies":
                return 1
            elif kind == "escape":
                for one in answer(node, look, [2 * index, 2 * index + 1], size, "\x1b[2Jgone\nmpi-queues: all is well"):
                    say(node, one)
            elif kind == "records":
                # As an agent does, and as one would who wants another file of whoever fetches it to be written.
                asked = question["action"]["record"]["directory"]
                path = f"{asked}/{node}.mpirec" if index == 0 else f"{asked}/{OTHER_FILES[index % len(OTHER_FILES)]}"
                told = {"ranks": 2, "denied": 0, "file": {"path": path, "bytes": 7, "processes": 2}}
                for one in frames("told", look, told) + lines[1:]:
                    say(node, one)
            elif kind == "bomb":
                told = {"ranks": 2, "denied": 0}
                text = digest({"processes": [process(0, size, node)], "schema": "mpi-queues/1", "captured_at": None})
                often = ",".join(["1"] * (9 << 20))
                for one in frames("told", look, told) + frames("digest", look, text.replace("[1]", f"[{often}]")):
                    say(node, one)
            elif kind == "good" or (kind == "once" and look == 1):
                for one in lines:
                    say(node, one)
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
