"""Dataclasses as JSON and back. What is read is checked against the types of the fields, so that these stand nowhere
else."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any, Dict, Literal, Type, TypeVar, Union, get_args, get_origin, get_type_hints

from ..errors import UserError

_T = TypeVar("_T")


def count_values(text: Union[str, bytes]) -> int:
    """At most so many values JSON has, each of which becomes an object of Python: those in its texts count as well."""
    # Each value but the first of a list or an object has a comma before it.
    if isinstance(text, str):
        return sum(map(text.count, ",[{"))
    return sum(map(text.count, (b",", b"[", b"{")))


def written(content: Any) -> bytes:
    """A dataclass as one line of JSON."""
    return json.dumps(dataclasses.asdict(content)).encode()


def read(type_: Type[_T], content: bytes, what: str) -> _T:
    """What :func:`written` wrote. Fields may be booleans, numbers, texts, words of a ``Literal``, and tuples and
    dataclasses of these; each may be optional.

    Raises:
        UserError: where a field is not of its type, is missing, or is none of the class, with ``what`` and its name
            (kind ``request``).
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{what} cannot be read: {error}", kind="request") from None
    found: _T = _checked(type_, value, what)
    return found


def _checked(type_: Any, value: Any, what: str) -> Any:
    origin, inner = get_origin(type_), get_args(type_)
    if origin is Union:
        # Of the unions only Optional is known.
        return None if value is None else _checked(inner[0], value, what)
    if origin is tuple and isinstance(value, list):
        types = [inner[0]] * len(value) if inner[-1] is Ellipsis else list(inner)
        if len(types) == len(value):
            return tuple(_checked(one, item, f"{what}[{at}]") for at, (one, item) in enumerate(zip(types, value)))
    elif origin is Literal and isinstance(value, str) and value in inner:
        return value
    elif dataclasses.is_dataclass(type_) and isinstance(value, dict):
        return _object(type_, value, what)
    elif type_ is float and type(value) in (int, float) and math.isfinite(value):
        return float(value)
    elif type_ in (bool, int, str) and type(value) is type_:
        return value
    raise UserError(f"{what}: {json.dumps(value)[:80]} is none of its values", kind="request")


def _object(type_: Any, value: Dict[str, Any], what: str) -> Any:
    types = get_type_hints(type_)
    names = [field.name for field in dataclasses.fields(type_)]
    for name in value:
        if name not in names:
            raise UserError(f"{what}: it has no {name[:80]!r}", kind="request")
    missing = next((name for name in names if name not in value), None)
    if missing is not None:
        raise UserError(f"{what}: its {missing!r} is missing", kind="request")
    return type_(**{name: _checked(types[name], value[name], f"{what}: {name}") for name in names})
