"""Fuzz targets of what reads in Python what strangers wrote; those in Rust are in ``crates/fuzz``.

``tests/hostile`` changes their seeds, ``make fuzz`` lets atheris search (``with_atheris.py``).
"""
