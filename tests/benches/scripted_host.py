"""A plain host of an mqs plug-in inside gdb: Python callbacks through ctypes, each fetch one read of gdb, no cache.

It is what a script for one afternoon looks like, and what `make bench` compares the project's reader and host with.
There is no defence here: it must be used on good plug-ins and whole processes only.
"""

from __future__ import annotations

import ctypes
import time
from typing import Any, Dict, List, Tuple

C = ctypes
MQS_OK, FIRST_USER_CODE = 0, 100
Text = C.c_char_p


class Communicator(C.Structure):
    _fields_ = (
        ("unique_id", C.c_ulong),
        ("local_rank", C.c_long),
        ("size", C.c_long),
        ("name", C.c_char * 64),
    )


class Operation(C.Structure):
    _fields_ = (
        ("status", C.c_int),
        ("desired_local_rank", C.c_long),
        ("desired_global_rank", C.c_long),
        ("tag_wild", C.c_int),
        ("desired_tag", C.c_long),
        ("desired_length", C.c_long),
        ("system_buffer", C.c_int),
        ("buffer", C.c_ulong),
        ("actual_local_rank", C.c_long),
        ("actual_global_rank", C.c_long),
        ("actual_tag", C.c_long),
        ("actual_length", C.c_long),
        ("extra_text", (C.c_char * 64) * 5),
    )


Table = Dict[Tuple[str, ...], int]


def read_table(path: str) -> Table:
    """Lines "symbol NAME ADDRESS", "type NAME SIZE" and "field TYPE NAME OFFSET"."""
    with open(path) as file:
        return {tuple(words[:-1]): int(words[-1]) for words in map(str.split, file)}


class ScriptedHost:
    """Counts what a plug-in lists; ``fetches`` is how often it asked for memory."""

    def __init__(self, plugin: str, table: Table, read_memory: Any) -> None:
        self.fetches = 0
        self._library = C.CDLL(plugin)
        self._types: List[str] = sorted({key[1] for key in table if key[0] == "type"})
        self._kept: List[Any] = []
        info: Dict[str, int] = {}
        malloc = C.CDLL(None).calloc
        malloc.restype, malloc.argtypes = C.c_void_p, (C.c_size_t, C.c_size_t)
        free = C.CDLL(None).free
        free.argtypes = (C.c_void_p,)

        def find_symbol(image: int, name: bytes, out: int) -> int:
            value = table.get(("symbol", name.decode()))
            if value is None:
                return FIRST_USER_CODE
            if out:
                C.c_ulong.from_address(out).value = value
            return MQS_OK

        def find_type(image: int, name: bytes, language: int) -> int:
            key = name.decode()
            return self._types.index(key) + 1 if ("type", key) in table else 0

        def type_sizes(process: int, out: int) -> None:
            (C.c_int * 5).from_address(out)[:] = (2, 4, 8, 8, 8)

        def fetch(process: int, address: int, length: int, out: int) -> int:
            self.fetches += 1
            try:
                C.memmove(out, bytes(read_memory(address, length)), length)
            except Exception:  # noqa: BLE001 - whatever gdb raises means: not readable
                return FIRST_USER_CODE + 1
            return MQS_OK

        move = C.memmove
        pointer, number, code = C.c_void_p, C.c_int, C.c_int
        self._basic = self._callbacks(
            (pointer, (C.c_size_t,), lambda size: malloc(1, size)),
            (None, (pointer,), free),
            (None, (Text,), lambda text: None),
            (pointer, (number,), lambda value: None),
            (None, (pointer, pointer), lambda image, value: info.__setitem__("image", value)),
            (pointer, (pointer,), lambda image: info.get("image")),
            (None, (pointer, pointer), lambda process, value: info.__setitem__("process", value)),
            (pointer, (pointer,), lambda process: info.get("process")),
        )
        self._image = self._callbacks(
            (None, (pointer, pointer), type_sizes),
            (code, (pointer, Text, number, pointer), lambda image, name, language, out: find_symbol(image, name, out)),
            (code, (pointer, Text, pointer), find_symbol),
            (pointer, (pointer, Text, number), find_type),
            (code, (pointer, Text), lambda kind, name: table.get(("field", self._types[kind - 1], name.decode()), -1)),
            (code, (pointer,), lambda kind: table["type", self._types[kind - 1]]),
        )
        self._process = self._callbacks(
            (code, (pointer,), lambda process: 0),
            (pointer, (pointer,), lambda process: 1),
            (code, (pointer, C.c_ulong, number, pointer), fetch),
            (
                None,
                (pointer, pointer, pointer, number),
                lambda process, source, out, size: move(out, source, size),
            ),
        )

    def _callbacks(self, *functions: Any) -> Any:
        """A structure of function pointers, with room for the MPI-2 ones."""
        made = [C.CFUNCTYPE(result, *arguments)(function) for result, arguments, function in functions]
        self._kept += made
        pointers = [C.cast(function, C.c_void_p).value for function in made]
        return (C.c_void_p * (len(pointers) + 4))(*pointers)

    def _call(self, name: str, *arguments: Any) -> int:
        code: int = getattr(self._library, name)(*arguments)
        return code

    def count(self) -> Tuple[int, int, float]:
        """Communicators, operations of all queues, seconds."""
        started = time.perf_counter()
        image, process, message = C.c_void_p(1), C.c_void_p(2), C.c_void_p()
        self._call("mqs_setup_basic_callbacks", C.byref(self._basic))
        for name, arguments in (
            ("mqs_setup_image", (image, C.byref(self._image))),
            ("mqs_image_has_queues", (image, C.byref(message))),
            ("mqs_setup_process", (process, C.byref(self._process))),
            ("mqs_process_has_queues", (process, C.byref(message))),
            ("mqs_update_communicator_list", (process,)),
        ):
            code = self._call(name, *arguments)
            if code != MQS_OK:
                raise RuntimeError(f"{name}: {code}")
        communicators = operations = 0
        more = self._call("mqs_setup_communicator_iterator", process)
        while more == MQS_OK:
            self._call("mqs_get_communicator", process, C.byref(Communicator()))
            communicators += 1
            for queue in range(3):
                if self._call("mqs_setup_operation_iterator", process, C.c_int(queue)) != MQS_OK:
                    continue
                while self._call("mqs_next_operation", process, C.byref(Operation())) == MQS_OK:
                    operations += 1
            more = self._call("mqs_next_communicator", process)
        return communicators, operations, time.perf_counter() - started
