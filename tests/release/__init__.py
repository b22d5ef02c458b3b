"""What a release is made of, tried in fresh roots: wheels, source distribution, tree (``make release-check``)."""
