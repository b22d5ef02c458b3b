"""Jobs of many nodes: an agent on each, started by the cluster's own engine, and what they answer."""
