"""Process acquisition: from a launcher to all ranks of its job."""
