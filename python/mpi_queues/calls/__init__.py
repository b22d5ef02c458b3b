"""What the application gives MPI functions, as its source says it: signatures, calls, constants. Knows no debugger."""
