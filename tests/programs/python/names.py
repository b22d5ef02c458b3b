"""Functions that have no plain name, and text that is no ASCII."""

import functools

from hanging import comm, rank, ready


class Löser:
    class Schritt:
        @classmethod
        def führe_aus(cls, quelle):
            ready()
            comm.Probe(source=quelle, tag=61)  # stuck: 0 MPI_Probe Löser.Schritt.führe_aus

    @staticmethod
    def later():
        return lambda source: ready() or comm.Probe(source, 62)  # stuck: 1 MPI_Probe Löser.later.<locals>.<lambda>


work = functools.partial(Löser.Schritt.führe_aus, 1) if rank == 0 else functools.partial(Löser.later(), 0)
sorted([1, 2], key=lambda value: work())
