//! Users of this machine, by the files that name them: a static program has no other names.

use std::path::Path;

use target::files::{Reader, is_root, read_regular};
use target::printable;

/// These files are not larger (bytes).
const MOST: u64 = 16 << 20;

/// The group of everybody who has no other.
const NOBODY: u32 = 65534;

/// A user for messages.
pub fn named(uid: u32) -> String {
    login(uid).map_or_else(|| format!("uid {uid}"), |login| format!("{login} (uid {uid})"))
}

/// A user for `sudo -u`.
pub fn for_sudo(uid: u32) -> String {
    login(uid).unwrap_or_else(|| format!("#{uid}"))
}

fn login(uid: u32) -> Option<String> {
    Some(user(uid)?.0)
}

/// For whom files are read that a user's core file names; `None`: for whoever runs this, who is not root.
pub fn reader_of(uid: u32) -> Option<Reader> {
    if !is_root() {
        return None;
    }
    let Some((login, gid)) = user(uid) else { return Some(Reader { uid, gid: NOBODY, groups: Vec::new() }) };
    let mut groups = vec![gid];
    for fields in lines("/etc/group") {
        // group(5): name, password, number, members.
        let member = fields.get(3).is_some_and(|members| members.split(',').any(|member| member == login));
        groups.extend(fields.get(2).and_then(|id| id.parse::<u32>().ok()).filter(|id| member && *id != gid));
    }
    Some(Reader { uid, gid, groups })
}

/// The name and the group of a user (passwd(5): name, password, number, group).
fn user(uid: u32) -> Option<(String, u32)> {
    let found =
        lines("/etc/passwd").into_iter().find(|fields| fields.get(2).is_some_and(|id| id.parse() == Ok(uid)))?;
    Some((found.first()?.clone(), found.get(3)?.parse().ok()?))
}

fn lines(path: &str) -> Vec<Vec<String>> {
    let bytes = read_regular(Path::new(path), MOST).unwrap_or_default();
    let fields = |line: &[u8]| line.split(|byte| *byte == b':').map(printable).collect();
    bytes.split(|byte| *byte == b'\n').map(fields).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_has_a_name_and_others_have_numbers() {
        assert_eq!(named(0), "root (uid 0)");
        assert_eq!((named(61_234), for_sudo(61_234)), ("uid 61234".to_owned(), "#61234".to_owned()));
        if is_root() {
            let nobody = Reader { uid: 61_234, gid: NOBODY, groups: Vec::new() };
            assert_eq!(reader_of(61_234), Some(nobody));
            assert_eq!(reader_of(0).map(|reader| reader.gid), Some(0));
        }
    }
}
