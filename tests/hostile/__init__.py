"""Damage and hostile input, repeated with seeds: ``python tests/hostile/run.py memory --seeds 0-1000 --mpi mpich``.

A sub-command is one file of this folder that has

- a docstring, whose first line is its help;
- ``SHORT`` and ``LONG``: the seeds of ``make test`` and of ``make test-all``;
- ``MPIS``: names that ``--mpi`` may have, such as ``("openmpi", "mpich")``; empty where it needs none;
- ``runs(seeds, mpi)``: an iterator of ``guarded.Run``, one or more a seed. The same seed does the same.

``guarded.guarded`` runs a function in a process of its own with a limit on time and memory.
"""
