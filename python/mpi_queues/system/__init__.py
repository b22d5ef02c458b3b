"""Files, processes and streams of this machine."""
