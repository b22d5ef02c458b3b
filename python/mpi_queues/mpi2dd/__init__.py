"""The MPI2DD interface (draft of January 2007), which no MPI is known to have: docs/drafts.md."""
