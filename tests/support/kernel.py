"""Runs cells in a kernel of Jupyter, as a notebook does: ``kernel.py``, with a list of cells as JSON as its input.

It writes what each cell shows as JSON: the text of its streams, and its results by their types. A cell of ``%%px`` is
interrupted once it runs. Run by the Python of an environment that has ipykernel.
"""

from __future__ import annotations

import json
import queue
import sys
import time
from typing import Any, Dict, List

from jupyter_client.manager import KernelManager

#: Seconds that a cell may take, and after which a cell of all engines is interrupted.
PATIENCE, INTERRUPTED_AFTER = 120.0, 8.0


def run(client: Any, manager: Any, cell: str) -> Dict[str, Any]:
    asked = client.execute(cell)
    shown: Dict[str, Any] = {"text": "", "results": []}
    begun = time.monotonic()
    interrupts = cell.startswith("%%px")
    while time.monotonic() < begun + PATIENCE:
        if interrupts and time.monotonic() > begun + INTERRUPTED_AFTER:
            manager.interrupt_kernel()
            interrupts = False
        try:
            message = client.get_iopub_msg(timeout=0.5)
        except queue.Empty:
            continue
        if message["parent_header"].get("msg_id") != asked:
            continue
        content = message["content"]
        if content.get("execution_state") == "idle":
            return shown
        shown["text"] += content.get("text", "") + "\n".join(content.get("traceback", []))
        if "data" in content:
            shown["results"].append(content["data"])
    raise TimeoutError(f"{cell}: {shown}")


def main() -> None:
    cells: List[str] = json.load(sys.stdin)
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(PATIENCE)
        print(json.dumps([run(client, manager, cell) for cell in cells]))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


if __name__ == "__main__":
    main()
