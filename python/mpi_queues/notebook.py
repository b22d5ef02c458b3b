"""The extension of IPython: ``%load_ext mpi_queues`` makes the magic ``%mpi_diagnose``.

IPython is not imported: it hands us its shell.
"""

from __future__ import annotations

import html
import os
import shlex
import sys
from typing import TYPE_CHECKING, Any, List, Optional

from .errors import UsageError, UserError, as_user_error

if TYPE_CHECKING:
    from ._native import Diagnosis

#: What the engines of a cluster of ipyparallel run (ipython/ipyparallel 9: ipyparallel/cluster/launcher.py).
_ENGINE = "ipyparallel.engine"

#: Seconds in which the ranks are found, and between the two looks at them.
_FOUND, _BETWEEN = 60.0, 0.5


def load(shell: Any) -> None:
    """Makes the magic known to a shell of IPython."""
    shell.register_magic_function(mpi_diagnose, "line", "mpi_diagnose")


class Answer:
    """A diagnosis as IPython shows it: text in a terminal, and the report below the text in a notebook."""

    def __init__(self, diagnosis: Diagnosis) -> None:
        #: The diagnosis itself.
        self.diagnosis = diagnosis

    def __repr__(self) -> str:
        return str(self.diagnosis)

    def _repr_html_(self) -> str:
        """The report is in a frame that may run its own script and nothing else: it cannot reach the notebook."""
        from .page import report

        page = html.escape(report.html(self.diagnosis, source=False), quote=True)
        frame = 'sandbox="allow-scripts" title="Why the job is stuck" style="width: 100%; height: 40em; border: 0"'
        return f'<pre>{html.escape(str(self.diagnosis))}</pre>\n<iframe {frame} srcdoc="{page}"></iframe>'


def mpi_diagnose(line: str) -> Optional[Answer]:
    """Says why an MPI job is stuck.

    Without a word the job of the engines of ipyparallel's cluster is meant, or else the only job of this machine. A
    word names another one, as for ``mpi-queues diagnose``: a launcher's name or process id, ``slurm:1234``, or a
    recording or report.

        %mpi_diagnose
        %mpi_diagnose mpirun
        answer = %mpi_diagnose hang.mpirec
    """
    from ._native import NativeError
    from .watching.looks import Nothing

    try:
        return Answer(_diagnosis(shlex.split(line)))
    except ValueError as error:
        problem: Exception = UsageError(f"%mpi_diagnose {line}: {error}")
    except (UserError, NativeError, Nothing, OSError) as error:
        problem = as_user_error(error)
    print(f"mpi-queues: {problem}", file=sys.stderr)
    return None


def _diagnosis(words: List[str]) -> Diagnosis:
    from . import api
    from .nodes.engines import AUTO
    from .request import Request
    from .watching.looks import Looks, finder, of_launcher
    from .watching.watcher import looked

    if len(words) > 1:
        raise UsageError("%mpi_diagnose takes one job at most", help="such as: %mpi_diagnose mpirun")
    if words and os.path.isfile(words[0]):
        return api.load(words[0]).diagnose()
    find = finder(words[0], _FOUND, AUTO)[0] if words else of_launcher(_of_cluster(), _FOUND)
    return looked(Looks(find, Request()), _BETWEEN)


def _of_cluster() -> int:
    """The launcher of the engines; of several clusters that which this process has started.

    Raises:
        UserError: where there is no job, or where it is not known which one is meant.
    """
    from .launchers import finding
    from .launchers.tree import ProcessTree
    from .targets import jobs

    tree = ProcessTree()
    engines = [pid for pid in finding.launchers(tree) if _has_engines(tree, pid)]
    mine = [pid for pid in engines if os.getpid() in tree.ancestors(pid)]
    for found in (mine, engines):
        if len(found) == 1:
            return found[0]
    return jobs.found_job(None, _FOUND).pid


def _has_engines(tree: Any, launcher: int) -> bool:
    from .launchers import finding

    return any(_ENGINE in tree.command(pid) for pid in finding.below(tree, launcher))
