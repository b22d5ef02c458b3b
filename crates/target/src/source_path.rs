//! Paths of sources, as debug information has them: they name files of the machine that compiled, so nothing is looked up.

/// A name in a directory; one from the root stays.
pub fn joined(directory: &str, name: &str) -> String {
    if directory.is_empty() || name.starts_with('/') {
        return name.to_owned();
    }
    format!("{}/{name}", directory.trim_end_matches('/'))
}

/// The path without `.` and `..`, as lldb shows it (`llvm::sys::path::remove_dots`).
pub fn resolved(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            _ => parts.push(part),
        }
    }
    format!("{}{}", if absolute { "/" } else { "" }, parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned() {
        for (directory, name, shown) in [
            ("/build", "src/a.c", "/build/src/a.c"),
            ("/build/", "../src/./a.c", "/src/a.c"),
            ("/build", "/src/a.c", "/src/a.c"),
            ("./misc", "../sysdeps/a.S", "sysdeps/a.S"),
            ("..", "../a.c", "../../a.c"),
            ("/", "../../a.c", "/a.c"),
            ("", "a.c", "a.c"),
        ] {
            assert_eq!(resolved(&joined(directory, name)), shown, "{directory} {name}");
        }
    }
}
