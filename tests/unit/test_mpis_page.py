"""docs/mpis.md says what the table of what can be known says, and measuring sees what is null."""

from __future__ import annotations

from support import known, mpis_page
from support.measured import Measured


def test_the_page_is_that_of_the_table() -> None:
    assert mpis_page.PAGE.read_text() == mpis_page.page(known.read_table()), "type: tests/measure_mpis.py"


def test_a_page_shows_what_is_not_exact() -> None:
    facts = {
        "sends.listed": "exact",
        "sends.tag": "not available",
        "sends.peer": "partial",
        "receives.listed": "exact",
        "unexpected.listed": "not available",
        "communicators.name": "exact",
        "processes.call": "exact",
    }
    text = mpis_page.page({"some": {"mpi": "MPICH", "version": "1.2", "device": "ch9", "facts": facts}})
    assert "| MPICH 1.2, ch9 (`some`) | ● | ● | ● | ○ | ◐ |\n" in text
    sends = text.partition("<summary>Sends</summary>\n")[2]
    assert "| MPI | buffer | complete | datatype | length | listed | order | peer | tag |\n" in sends
    assert "| MPICH 1.2, ch9 (`some`) | · | · | · | · | ● | · | ◐ | ○ |\n" in sends
    empty = mpis_page.page({"some": {"mpi": "M", "version": "1", "device": "", "facts": {"sends.listed": "partial"}}})
    assert "| M 1 (`some`) | ○ | ○ | ○ | ○ | ∅ |\n" in empty


def test_levels_are_what_was_seen() -> None:
    measured = Measured()
    for fact, seen in (("a", True), ("b", False), ("c", True), ("c", False), ("a", True)):
        measured.see(fact, seen)
    assert measured.levels() == {"a": "exact", "b": "not available", "c": "partial"}
