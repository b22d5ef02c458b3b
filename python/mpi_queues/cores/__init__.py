"""Core files: their segments, their program and libraries."""
