"""lldb's side: everything that imports ``lldb``."""
