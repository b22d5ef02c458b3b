"""A watch over a running job: whether anything of it moves, and what is written where nothing does."""
