"""Random Python programs that stop at a place which they write down themselves.

Threads, generators, coroutines, and all else that puts frames onto a stack in a way of its own.
"""

from __future__ import annotations

import random
import textwrap
from typing import Callable, Dict, List, Tuple

#: Each ends by calling NEXT(), and is called as NAME(); both are replaced.
_LINKS: Dict[str, str] = {
    "function": """
        def NAME(first=1, *rest, key=None):
            value = first
            NEXT()
            return value
    """,
    "lines": """
        def NAME():
            return dict(
                one=1,
                two=NEXT(
                ),
                three=3,
            )
    """,
    "method": """
        class C_NAME:
            def go(self):
                return NEXT()
        def NAME():
            C_NAME().go()
    """,
    "kinds_of_methods": """
        class C_NAME:
            @staticmethod
            def still():
                NEXT()
            @classmethod
            def made(cls):
                cls.still()
            @property
            def value(self):
                self.made()
        def NAME():
            return C_NAME().value
    """,
    "special_methods": """
        class C_NAME:
            def __init__(self, inner):
                self.inner = inner
            def __add__(self, other):
                return self[other]
            def __getitem__(self, key):
                return getattr(self, "no_such_thing")
            def __getattr__(self, name):
                return self.inner()
        def NAME():
            C_NAME(NEXT) + 3
    """,
    "inherited": """
        class B_NAME:
            def __init__(self):
                NEXT()
        class C_NAME(B_NAME):
            def __init__(self):
                super().__init__()
        def NAME():
            C_NAME()
    """,
    "class_body": """
        def NAME():
            class Inner:
                x = 1
                y = NEXT()
    """,
    "metaclass": """
        class M_NAME(type):
            def __call__(cls, *args):
                return NEXT()
        class C_NAME(metaclass=M_NAME):
            pass
        def NAME():
            C_NAME()
    """,
    "lambda": """
        def NAME():
            call = lambda: (1,
                            NEXT())
            call()
    """,
    "closure": """
        def NAME():
            count = 0
            def inner(depth):
                nonlocal count
                count += depth
                if depth:
                    inner(depth - 1)
                else:
                    NEXT()
            inner(DEPTH)
    """,
    "decorated": """
        def D_NAME(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                return function(*args, **kwargs)
            return wrapper
        @D_NAME
        @D_NAME
        def NAME():
            NEXT()
    """,
    "cached": """
        @functools.lru_cache(maxsize=None)
        def NAME(value=3):
            return NEXT()
    """,
    "partial": """
        def P_NAME(one, two):
            NEXT()
        def NAME():
            functools.partial(P_NAME, 1)(two=2)
    """,
    "generator": """
        def G_NAME():
            yield 1
            yield NEXT()
        def NAME():
            for value in G_NAME():
                value += 1
    """,
    "delegation": """
        def G_NAME():
            yield 1
            NEXT()
            yield 2
        def H_NAME():
            yield 0
            yield from G_NAME()
        def NAME():
            return list(H_NAME())
    """,
    "sent": """
        def G_NAME():
            value = yield
            if value:
                NEXT()
            yield
        def NAME():
            generator = G_NAME()
            next(generator)
            generator.send(True)
    """,
    "thrown": """
        def G_NAME():
            try:
                yield
            except KeyError:
                NEXT()
            yield
        def NAME():
            generator = G_NAME()
            next(generator)
            generator.throw(KeyError("no"))
    """,
    "list_comprehension": """
        def NAME():
            return [
                NEXT() if value == 2 else value
                for value in range(4)
            ]
    """,
    "other_comprehensions": """
        def NAME():
            names = {word for word in ("a", "b")}
            return {key: NEXT() for key in sorted(names)}
    """,
    "generator_expression": """
        def NAME():
            return any(NEXT() for _ in range(2))
    """,
    "context_manager": """
        class C_NAME:
            def __enter__(self):
                return self
            def __exit__(self, *args):
                NEXT()
        def NAME():
            with C_NAME() as one, C_NAME():
                one.x = 1
    """,
    "contextlib": """
        @contextlib.contextmanager
        def M_NAME():
            yield 1
            NEXT()
        def NAME():
            with M_NAME():
                pass
    """,
    "within": """
        def NAME():
            with contextlib.suppress(KeyError), contextlib.ExitStack() as stack:
                stack.callback(NEXT)
    """,
    "handler": """
        def R_NAME():
            raise ValueError(3)
        def NAME():
            try:
                R_NAME()
            except (KeyError, ValueError) as error:
                kept = error
                NEXT()
            else:
                kept = None
    """,
    "finally": """
        def NAME():
            try:
                try:
                    return 1 / 0
                finally:
                    NEXT()
            except ZeroDivisionError:
                pass
    """,
    "otherwise": """
        def NAME():
            for value in range(3):
                try:
                    value += 1
                except ValueError:
                    break
                else:
                    continue
            else:
                NEXT()
    """,
    "recursion": """
        def NAME(depth=DEPTH):
            if depth:
                return NAME(depth - 1)
            return NEXT()
    """,
    "mutual": """
        def NAME(depth=DEPTH):
            return O_NAME(depth)
        def O_NAME(depth):
            if depth > 0:
                return NAME(depth - 2)
            return NEXT()
    """,
    "key_of_sort": """
        def NAME():
            sorted([2, 1], key=lambda value: NEXT() or value)
    """,
    "mapped": """
        def F_NAME(value):
            return NEXT()
        def NAME():
            return list(map(F_NAME, filter(None, [1])))
    """,
    "substitution": """
        def NAME():
            re.sub("b", lambda match: NEXT() or "", "abc")
    """,
    "executed": """
        def NAME():
            exec(compile("x = 1\\n\\ndef inner():\\n  go()\\ninner()\\n", "made up NAME", "exec"), {"go": NEXT})
    """,
    "evaluated": """
        def NAME():
            eval("(1,\\n go())", {"go": NEXT})
    """,
    "iterated": """
        class C_NAME:
            def __iter__(self):
                return self
            def __next__(self):
                NEXT()
                raise StopIteration
        def NAME():
            first, *rest = C_NAME()
    """,
    "collected": """
        class C_NAME:
            def __del__(self):
                NEXT()
        def NAME():
            one = C_NAME()
            del one
    """,
    "formatted": """
        class C_NAME:
            def __format__(self, how):
                return str(self)
            def __repr__(self):
                NEXT()
        def NAME():
            return f"{1}: {C_NAME():>3}"
    """,
    "coroutine": """
        async def A_NAME():
            await asyncio.sleep(0)
            NEXT()
        async def B_NAME():
            return await A_NAME()
        def NAME():
            loop = asyncio.new_event_loop()
            loop.run_until_complete(B_NAME())
    """,
    "tasks": """
        async def A_NAME(which):
            async with L_NAME():
                await asyncio.sleep(0)
                if which == 1:
                    NEXT()
        class L_NAME:
            async def __aenter__(self):
                return self
            async def __aexit__(self, *args):
                pass
        async def B_NAME():
            await asyncio.gather(*(A_NAME(which) for which in range(3)))
        def NAME():
            asyncio.new_event_loop().run_until_complete(B_NAME())
    """,
    "async_generator": """
        async def G_NAME():
            yield 1
            yield NEXT()
        async def B_NAME():
            return [value async for value in G_NAME()]
        def NAME():
            asyncio.new_event_loop().run_until_complete(B_NAME())
    """,
    "by_hand": """
        async def A_NAME():
            NEXT()
        def NAME():
            try:
                A_NAME().send(None)
            except StopIteration:
                pass
    """,
    "long_jump": "\n        def NAME():\n" + "            x = 1\n" + 140 * "\n" + "            return NEXT()\n",
    "many_instructions": (
        "\n        def NAME():\n"
        + 90 * "            x = [y for y in ()], {1: 2}.get(3)\n"
        + "            return NEXT()\n"
    ),
    "names": """
        def größe_NAME(値=1):
            return NEXT()
        def NAME():
            größe_NAME()
    """,
}
#: These start a loop, and one runs in a thread at a time.
_LOOPS = {"coroutine", "tasks", "async_generator"}

_HEAD = '''
"""Made with seed {seed}."""
import asyncio
import contextlib
import functools
import json
import os
import re
import sys
import threading

sys.setrecursionlimit(10000)
pipe, _ = os.pipe()
folder = sys.argv[1]


def told(frame):
    """The frames of this thread from there on, innermost first."""
    found = []
    while frame is not None:
        code = frame.f_code
        found.append([getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno])
        frame = frame.f_back
    kind, _, traceback = sys.exc_info()
    raised = None
    while traceback is not None:
        # The program's own code before that of libraries.
        code = traceback.tb_frame.f_code
        if raised is None or code.co_filename in (__file__, "made up"):
            raised = [kind.__name__, getattr(code, "co_qualname", code.co_name), traceback.tb_lineno]
        traceback = traceback.tb_next
    own = threading.get_native_id()
    with open(os.path.join(folder, "new.%d" % own), "w") as file:
        json.dump({{"thread": own, "pipe": pipe, "frames": found, "raised": raised}}, file)
    os.rename(os.path.join(folder, "new.%d" % own), os.path.join(folder, "thread.%d.json" % own))


def stop():
    # What is told and where it stands are one line.
    told(sys._getframe()), os.read(pipe, 1)

'''


def program(seed: int) -> Tuple[str, int]:
    """The text of a program, and how many threads of it stop."""
    chance = random.Random(seed)
    parts = [_HEAD.format(seed=seed)]
    threads = chance.choice((1, 1, 2, 3))
    entries = []
    # Every link is the first of some program.
    names = sorted(_LINKS)
    for thread in range(threads):
        count = chance.randint(2, 9)
        kinds = [names[seed % len(names)]] if thread == 0 else []
        while len(kinds) < count:
            kind = chance.choice(names)
            if kind not in _LOOPS or not _LOOPS.intersection(kinds):
                kinds.append(kind)
        chance.shuffle(kinds)
        follow = "stop"
        made: List[str] = []
        for place, kind in reversed(list(enumerate(kinds))):
            name = f"t{thread}_{place}_{kind}"
            text = textwrap.dedent(_LINKS[kind]).replace("DEPTH", str(chance.choice((0, 1, 5, 60))))
            made.append(text.replace("NAME", name).replace("NEXT", follow))
            follow = name
        # Defined in any order.
        chance.shuffle(made)
        parts += made
        entries.append(follow)
    for entry in entries[1:]:
        parts.append(f"threading.Thread(target={entry}, daemon=True).start()\n")
    parts.append(_START[seed % len(_START)](entries[0]))
    return "".join(parts), threads


#: How the main thread begins.
_START: List[Callable[[str], str]] = [
    lambda entry: f"{entry}()\n",
    lambda entry: f'if __name__ == "__main__":\n    sys.exit(\n        {entry}()\n    )\n',
    lambda entry: f"values = [{entry}() for _ in range(1)]\n",
]
