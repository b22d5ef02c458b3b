"""What people read: text of snapshots and of facts. Knows no debugger."""
