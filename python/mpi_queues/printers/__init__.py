"""What debuggers' printers of MPI handles share: which types are which kind, and the words around a summary."""
