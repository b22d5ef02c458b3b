"""Whether a diagnosis of a job that runs scripts is true, by what the rules of MPI say of these."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from .mpi_rules import Operation
from .script_ends import Truth
from .scripts import EXCHANGES, NAMES, OUTSIDE, RECEIVES, ROOTED, SENDS, SYNCHRONISING, WAITS, Step

Json = Dict[str, Any]

#: Names of arguments whose values are compared, and which number of a step they are.
ARGUMENTS = {"dest": 1, "source": 1, "tag": 2, "sendtag": 2, "count": 3, "sendcount": 3}

#: Findings that no script can give reason for: all receives have room, all datatypes fit, nobody waits for a lock.
NEVER = (
    "truncation", "count mismatch", "datatype mismatch", "one-sided epochs", "unexpected flood", "stuck outside MPI",
)  # fmt: skip

_NEAR = re.compile(
    r"rank (\d+) (?:sends|sent) tag (\d+)(?: to rank (\d+))?.*, "
    r"rank (\d+) waits for (?:tag (\d+)|any tag)(?: from (?:rank (\d+)|any rank))?"
)

_NOT_STARTED = re.compile(
    r"((?:rank|ranks) [\d, and-]+) (?:has|have) not started (the non-blocking collective|MPI_\w+)"
    r'( on (?:"\w+"|MPI_COMM_WORLD)) for which ((?:rank|ranks) [\d, and-]+) waits?'
)

#: Functions and lines that started requests, by the places of these in the table.
Starts = Mapping[int, Tuple[str, int]]


class Check:
    """One diagnosis against the truth; ``said`` is the JSON of ``diagnose``."""

    def __init__(self, truth: Truth, said: Json, lines: Sequence[Tuple[str, int]], starts: Sequence[Starts]) -> None:
        self.truth, self.said = truth, said
        #: By rank: the function in which it says that it is, and the line.
        self.lines = lines
        #: By rank: what it says of who started its requests.
        self.starts = starts
        self.wrong: List[str] = []

    def untrue(self) -> List[str]:
        """What is claimed and is not so, in sentences."""
        state = self.said["verdict"]["state"]
        if state == "deadlock" and not self.truth.perhaps:
            self.wrong.append(f"the verdict is {state}")
        for finding in self.said["diagnosis"]:
            before = len(self.wrong)
            self._finding(finding)
            self.wrong[before:] = [
                f"{finding['kind']} ({'certain' if finding['certain'] else 'possible'}): {finding['summary']}: {why}"
                for why in self.wrong[before:]
            ]
        for process in self.said["processes"]:
            self._calls(process)
        return self.wrong

    def missing(self) -> List[str]:
        """What is so and is not claimed, in sentences."""
        truth, state, out = self.truth, self.said["verdict"]["state"], []
        findings = [one for one in self.said["diagnosis"] if one["certain"]]
        told = {rank for one in findings for rank in one["ranks"]}
        if truth.surely and state != "deadlock":
            out.append(f"the verdict is {state}, though {sorted(truth.surely)} are stuck")
        if not truth.perhaps and not truth.polling and state != "waiting":
            out.append(f"the verdict is {state}, though nobody is stuck and somebody waits")
        words = " ".join(text for one in findings for text in one["evidence"])
        for rank in truth.surely:
            if rank not in told and not re.search(rf"\b{rank}\b", words):
                out.append(f"rank {rank} is stuck and not told")
            need = truth.needs[rank]
            # In a collective it may wait for another that waits for the one that has finished.
            if not isinstance(need, int) or truth.name(rank) in SYNCHRONISING + ROOTED:
                continue
            told_so = [one for one in findings if one["kind"] == "finished rank" and {rank, need} <= set(one["ranks"])]
            if need in truth.finished and not told_so:
                out.append(f"rank {rank} waits for rank {need}, which has finished: not told")
        for rank in set(truth.needs) - truth.perhaps:
            need = truth.needs[rank]
            slow = [one for one in findings if one["kind"] == "slow rank" and need in one["ranks"]]
            if isinstance(need, int) and need in truth.outside and not slow:
                out.append(f"rank {rank} waits for rank {need}, which is outside MPI: not told")
        return out

    def _expect(self, is_so: bool, why: str) -> None:
        if not is_so:
            self.wrong.append(why)

    def _finding(self, finding: Json) -> None:
        kind, ranks = finding["kind"], set(finding["ranks"])
        truth = self.truth
        held = truth.perhaps | truth.finished
        if kind in NEVER:
            self.wrong.append("nothing of the kind is there")
        elif kind == "deadlock":
            self._expect(ranks <= truth.perhaps, f"stuck are {sorted(truth.perhaps)}")
        elif kind == "finished rank":
            self._expect(bool(ranks & truth.finished), f"finished are {sorted(truth.finished)}")
            self._expect(ranks <= held, f"stuck are {sorted(truth.perhaps)}, finished {sorted(truth.finished)}")
        elif kind == "slow rank":
            self._expect(ranks <= truth.outside | truth.polling, f"outside are {sorted(truth.outside)}")
        elif kind == "polling":
            self._expect(ranks <= truth.polling, f"{sorted(truth.polling)} poll")
        elif kind in ("tag mismatch", "communicator mismatch", "rank mismatch"):
            self._near(finding)
        elif kind in ("unmatched send", "unmatched receive"):
            self._lonely(finding)
        elif kind == "never started":
            made = {rank for rank in ranks if truth.end.persistent[rank]}
            self._expect(bool(made), "nobody has persistent requests")
        elif kind == "never completed":
            left = {rank for rank in truth.finished if truth.end.requests[rank]}
            self._expect(ranks <= left, f"only {sorted(left)} have finished with requests")
        elif kind in ("collective mismatch", "missing in collective", "root mismatch"):
            self._collective(finding)
        else:
            self.wrong.append("a kind that is not known")

    def _comm(self, words: str) -> List[int]:
        found = re.findall(r'on (?:"(\w+)"|(MPI_COMM_WORLD))', words)
        return [NAMES.index(one or world) for one, world in found]

    def _near(self, finding: Json) -> None:
        """``rank 1 sent tag 18 [to rank 0] on C, rank 0 waits for tag 17 [from rank 1 on C]``."""
        text = finding["summary"]
        match = _NEAR.match(text)
        if match is None:
            self.wrong.append("these words are not known")
            return
        sender, tag, to, receiver, wanted, source = (None if part is None else int(part) for part in match.groups())
        comms = self._comm(text)
        messages = [
            one
            for one in self.truth.messages()
            if (one.rank, one.tag) == (sender, tag)
            and one.comm[0] == comms[0]
            and one.peer == (receiver if to is None else to)
        ]
        self._expect(bool(messages), "no message like this is left")
        waiting = [
            one
            for one in self.truth.waiting()
            if (one.rank, one.tag) == (receiver, wanted) and one.comm[0] == comms[-1]
        ]
        if to is not None:
            waiting = [one for one in waiting if one.peer == source]
        self._expect(bool(waiting), "nobody waits like this")
        self._expect(receiver in self.truth.perhaps | self.truth.polling, "the receiver is not stuck")

    def _lonely(self, finding: Json) -> None:
        text, comms = finding["summary"], self._comm(finding["summary"])
        match = re.match(r"rank (\d+) (?:sends|sent) tag (\d+) to rank (\d+)", text)
        if match is not None:
            want = tuple(map(int, match.groups()))
            found: List[Operation] = [m for m in self.truth.messages() if (m.rank, m.tag, m.peer) == want]
        else:
            match = re.match(
                r"rank (\d+) has a receive pending for (?:tag (\d+)|any tag) from (?:rank (\d+)|any rank)", text
            )
            if match is None:
                self.wrong.append("these words are not known")
                return
            wanted = tuple(None if part is None else int(part) for part in match.groups())
            found = [w for w in self.truth.waiting() if (w.rank, w.tag, w.peer) == wanted]
        self._expect(any(one.comm[0] == comms[0] for one in found), "there is none like this")

    def _collective(self, finding: Json) -> None:
        text, truth = finding["summary"], self.truth
        groups = re.findall(
            r'((?:rank|ranks) [\d, and-]+) (?:is|are) (not )?in MPI_(\w+)( on (?:"\w+"|MPI_COMM_WORLD))?', text
        )
        for words, absent, function, on in groups:
            # All are on one communicator that stands at the end, or each on its own.
            comm = self._comm(on or text)[-1]
            for rank in ranks_in(words):
                here = truth.end.step(rank)
                there = self.lines[rank][0] == f"MPI_{function}" and here is not None and here.numbers[0] == comm
                self._expect(there != bool(absent), f"rank {rank} is in {here}")
                self._expect(rank in truth.perhaps | truth.finished, f"rank {rank} is not stuck")
        self._not_started(text)
        for call in finding["calls"]:
            if call["function"]:
                self._expect(self.lines[call["rank"]][0] == call["function"], f"rank {call['rank']} is elsewhere")

    def _not_started(self, text: str) -> None:
        """``ranks 0 and 1 have not started MPI_Ibcast on C for which rank 2 waits``."""
        match = _NOT_STARTED.match(text)
        if match is None:
            return
        missing, function, on, waiting = match.groups()
        comm = self._comm(on)[0]
        for rank in ranks_in(waiting):
            pending = [one for one in self.truth.pending(rank) if one.comm[0] == comm]
            absent = [set().union(*self.truth.end.absent(one)) for one in pending if named(one, function)]
            is_so = any(set(ranks_in(missing)) <= ranks for ranks in absent)
            self._expect(is_so, f"rank {rank} waits for {[(one.internal, one.comm) for one in pending]}")

    def _calls(self, process: Json) -> None:
        rank = process["rank"]
        function, line = self.lines[rank]
        here = self.truth.end.step(rank)
        if rank in self.truth.polling:
            return
        calls = [(call["function"], call["line"]) for call in process["calls"]]
        if here is not None and here.name in OUTSIDE:
            self._expect(not calls, f"rank {rank} is outside MPI, and in {calls} as is said")
            at = {(thread["line"]) for thread in process["outside"]}
            self._expect(here.name == "compute" or line in at, f"rank {rank} is at {line}, not at {at}")
        else:
            self._expect(calls == [(function, line)], f"rank {rank} is in {function} at {line}, not in {calls}")
        if calls and here is not None:
            self._arguments(rank, here, process["calls"][0])
            if here.name in WAITS:
                self._started(rank, here, process["calls"][0])

    def _started(self, rank: int, here: Step, call: Json) -> None:
        for request in call.get("requests", []):
            told = [(one["function"], one["line"]) for one in request.get("started_by", [])]
            if not told:
                continue
            right = self.starts[rank].get(here.numbers[request["index"]])
            words = f"rank {rank}: request {request['index']} of {here} was started by {right}, not {told}"
            self._expect(right in told, words)
            certain = any(one["certain"] for one in request["started_by"])
            self._expect(not certain or told == [right], f"{words}, for certain")

    def _arguments(self, rank: int, here: Step, call: Json) -> None:
        for argument in call.get("arguments", []):
            name = argument["name"]
            if here.name in (*SENDS, *RECEIVES, *EXCHANGES) and name in ARGUMENTS:
                if here.name in EXCHANGES and name == "source":
                    want = here.numbers[4]
                elif here.name in EXCHANGES and name == "tag":
                    continue
                else:
                    want = here.numbers[ARGUMENTS[name]]
                right = argument["value"] == want if want >= 0 else str(argument.get("meaning")).startswith("MPI_ANY")
                if name == "count" and here.name in RECEIVES:
                    right = argument["value"] == 1 << 20
                self._expect(right, f"rank {rank}: {name} is {want}, not {argument}")
            elif name == "root":
                self._expect(argument["value"] == here.numbers[1], f"rank {rank}: root is {here}, not {argument}")
            elif name == "comm" and here.name not in WAITS:
                comm = str(argument.get("meaning") or "").strip('"')
                self._expect(comm in (NAMES[here.numbers[0]], ""), f"rank {rank}: {here}, not {argument}")


def named(operation: Operation, function: str) -> bool:
    """Whether a finding's word for a non-blocking collective, which may be a general one, is that of an operation."""
    return not function.startswith("MPI_") or function[len("MPI_") :].lower() == operation.internal


def ranks_in(words: str) -> List[int]:
    """``ranks 0 and 2``, ``ranks 0-2``."""
    out: List[int] = []
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", words):
        out.extend(range(int(first), int(last or first) + 1))
    return out
