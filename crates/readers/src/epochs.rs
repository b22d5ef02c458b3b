//! Open epochs of a window in words.

/// The words of open epochs (`fence`, `lock`, `lock_all`, `start`, `post`) with a plus between; `none` where none is open.
pub fn word(open: &[&str]) -> String {
    if open.is_empty() { "none".to_owned() } else { open.join("+") }
}
