//! Which sends and receives belong together, by the rules of the standard.
