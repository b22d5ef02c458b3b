"""What can be read, a file a kind. ``asking`` is the one way to ask them all."""
