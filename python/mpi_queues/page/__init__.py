"""Reports to look at: one HTML file, or the wait-for graph alone. They are views of a diagnosis."""
