"""The debuggers: what the core asks of one (``base``), and the adapters that answer."""
