"""What notebooks show of a diagnosis and of a queue, in the pieces of reports; and reports from Python."""

from __future__ import annotations

from typing import List, Optional, Union

from .._native import Diagnosis, Operation, Queue, Snapshot
from ..report.words import counted, shorten, size
from . import cause, writing
from .document import style_of
from .drawing import drawing, legend
from .elements import Element, element, row, table, text_of
from .graph import graph_of

#: Operations of a queue that are shown.
_MOST = 50


def report(of: Union[Snapshot, Diagnosis], path: writing.Path, source: bool) -> None:
    """``Snapshot.report`` and ``Diagnosis.report``."""
    diagnosis = of if isinstance(of, Diagnosis) else of.diagnosis or of.diagnose()
    writing.write(diagnosis, path, source=source)


def diagnosis_html(diagnosis: Diagnosis) -> str:
    """The cause, the graph and the findings. No source lines: a notebook is kept with what it shows."""
    graph = graph_of(diagnosis)
    parts: List[Optional[Element]] = [
        style_of("colours.css", "graph.css", "notebook.css"),
        *cause.cause(diagnosis, source=False, text=False),
        element("div", drawing(graph, title="Who waits for whom"), class_="scroll") if graph.nodes else None,
        legend() if graph.nodes else None,
        cause.findings_table(diagnosis),
    ]
    return text_of(element("div", parts, class_="mpi-queues"))


def queue_html(queue: Queue) -> str:
    """The operations, a row each; of a queue that is not whole, why, and what was read of it."""
    parts: List[Optional[Element]] = [style_of("notebook.css")]
    if queue.state != "ok":
        told = f": {shorten(queue.detail, 1000)}" if queue.detail else ""
        parts.append(element("p", f"{'no information' if queue.state == 'no_information' else 'not read'}{told}"))
    if queue.state == "ok" or len(queue):
        heads = ("Call", "Peer", "Tag", "Size", "Data", "State")
        shown = list(queue)[:_MOST]
        rows = [row(*_cells(one)) for one in shown]
        more = len(queue) - len(rows)
        left = f"; {more:,} more are not shown" if more > 0 else ""
        parts.append(table("Operations in the order in which MPI matches them", heads, rows))
        own = ", MPI's own included" if any(one.internal for one in shown) else ""
        parts.append(
            element("p", f"{counted(len(queue), 'operation')}{own}, in the order in which MPI matches them{left}")
        )
    return text_of(element("div", parts, class_="mpi-queues"))


def _cells(operation: Operation) -> List[str]:
    peer = operation.actual_local_rank if operation.actual_local_rank is not None else operation.desired_local_rank
    tag = operation.actual_tag if operation.actual_tag is not None else operation.desired_tag
    length = operation.actual_length if operation.actual_length is not None else operation.desired_length
    data = shorten(operation.datatype or "", 60)
    return [
        shorten(operation.call or "", 60) + (" (MPI's own)" if operation.internal else ""),
        "any" if operation.any_source and peer is None else "?" if peer is None else str(peer),
        "any" if operation.tag_wild and tag is None else "?" if tag is None else str(tag),
        size(length),
        f"{operation.count:,} {data}" if operation.count is not None else data,
        operation.status.replace("_", " "),
    ]
