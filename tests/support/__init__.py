"""Helpers of the tests: MPI builds, jobs that reach a known state, and the comparison with what they posted."""
