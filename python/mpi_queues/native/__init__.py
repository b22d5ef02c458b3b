"""Processes and core files that are read without a debugger."""
