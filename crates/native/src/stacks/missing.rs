//! What is told of files that cannot be had: which ones they are, and what to do.

use crate::images::Missing;

const GUESS: &str = "its functions and their callers are a guess";

/// A sentence about one. `of_core`: whether its process is one of a core file.
pub(super) fn sentence(missing: &Missing, of_core: bool) -> String {
    let Missing { path, in_memory, build_id, other } = missing;
    let named = named(path, build_id.as_deref());
    if !of_core {
        return format!("the file of {named} no longer exists (it was replaced or deleted): {GUESS}");
    }
    let remedy = match build_id {
        Some(_) => "install or copy the one with that build-id to that path, and its debug information",
        None => "copy the one of the machine that dumped the core to that path, and its debug information",
    };
    match other {
        Some(_) if !in_memory => format!(
            "the core file does not hold the beginning of {named}, so it is not known whether the file here is the \
             same: {GUESS}; dump the next one with: echo 0x7f > /proc/PID/coredump_filter"
        ),
        Some(other) => {
            let there = if other.path == *path { "the file there" } else { &other.path };
            let there = self::named(there, other.build_id.as_deref());
            format!("the core file names {named}, and {there} is another one: {GUESS}; {remedy}")
        }
        None => format!("the core file names {named}, which is not here: {GUESS}; {remedy}"),
    }
}

fn named(path: &str, build_id: Option<&str>) -> String {
    build_id.map_or_else(|| path.to_owned(), |build_id| format!("{path} (build-id {build_id})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::images::Other;

    fn told(in_memory: bool, build_id: Option<&str>, other: Option<Option<&str>>, of_core: bool) -> String {
        let other =
            other.map(|build_id| Other { path: "/lib/libx.so".to_owned(), build_id: build_id.map(str::to_owned) });
        let build_id = build_id.map(str::to_owned);
        sentence(&Missing { path: "/lib/libx.so".to_owned(), in_memory, build_id, other }, of_core)
    }

    #[test]
    fn path_and_build_id_are_told() {
        let gone = told(true, Some("12ab"), None, true);
        assert!(gone.starts_with("the core file names /lib/libx.so (build-id 12ab), which is not here: "), "{gone}");
        assert!(gone.ends_with("install or copy the one with that build-id to that path, and its debug information"));
        let other = told(true, Some("12ab"), Some(Some("34cd")), true);
        assert!(other.contains("(build-id 12ab), and the file there (build-id 34cd) is another one"), "{other}");
        assert!(told(true, None, None, true).contains("/lib/libx.so, which is not here"));
        assert!(told(false, None, Some(None), true).contains("coredump_filter"));
        let live = told(true, Some("12ab"), Some(None), false);
        assert!(live.starts_with("the file of /lib/libx.so (build-id 12ab) no longer exists"), "{live}");
    }
}
