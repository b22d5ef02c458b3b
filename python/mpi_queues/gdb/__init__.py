"""gdb's side: everything that imports ``gdb``."""
