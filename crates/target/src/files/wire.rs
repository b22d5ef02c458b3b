//! What is asked of an attendant, and what it answers: messages between two processes of one program.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{About, Irregular, Reader};

/// So many bytes of a file go into one answer.
pub(super) const MOST_DATA: usize = 1 << 16;
/// A path that is longer the kernel does not take (PATH_MAX).
const MOST_PATH: usize = 4096;
/// More groups are asked for nobody (`NGROUPS_MAX` is 65,536).
const MOST_GROUPS: usize = 4096;

const QUESTION: usize = 8;
const ANSWER: usize = 12;

/// So long is an answer without the bytes that follow it.
pub(super) const HEAD: usize = 8 * ANSWER;

/// Room for any message.
pub(super) const ROOM: usize = HEAD + MOST_DATA + MOST_PATH + 4 * MOST_GROUPS;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Open a regular file. One whose file system is this machine's own comes with the answer, others stay with the
    /// attendant, under a number.
    Open = 1,
    /// Look at what a path names.
    Look = 2,
    /// Tell the path without links.
    Real = 3,
    /// Read of a file that is open.
    Read = 4,
    /// Look at a file that is open.
    LookAgain = 5,
    /// Close it.
    Close = 6,
}

impl What {
    fn of(number: u64) -> Option<Self> {
        [Self::Open, Self::Look, Self::Real, Self::Read, Self::LookAgain, Self::Close]
            .into_iter()
            .find(|what| *what as u64 == number)
    }
}

/// One question.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) what: What,
    /// Of a file that is open.
    pub(super) number: i32,
    pub(super) offset: u64,
    pub(super) length: usize,
    /// For whom: user, group, and the other groups as the kernel has them.
    pub(super) reader: Option<(u32, u32, &'a [u8])>,
    /// It ends with a zero; empty for what is open.
    pub(super) path: &'a [u8],
}

impl Question<'_> {
    /// About what is open.
    pub(super) fn of(what: What, number: i32) -> Self {
        Self { what, number, offset: 0, length: 0, reader: None, path: &[] }
    }
}

/// The bytes of a question about a path; `None` where the kernel takes no such path, or nobody has so many groups.
pub(super) fn about_path(what: What, path: &Path, reader: Option<&Reader>) -> Option<Vec<u8>> {
    let bytes = path.as_os_str().as_bytes();
    let groups = reader.map_or(&[][..], |reader| &reader.groups);
    if bytes.is_empty() || bytes.contains(&0) || bytes.len() >= MOST_PATH || groups.len() > MOST_GROUPS {
        return None;
    }
    let groups: Vec<u8> = groups.iter().flat_map(|group| group.to_ne_bytes()).collect();
    let path = [bytes, &[0]].concat();
    let reader = reader.map(|reader| (reader.uid, reader.gid, groups.as_slice()));
    Some(question(&Question { what, number: 0, offset: 0, length: 0, reader, path: &path }))
}

/// The bytes of a question.
pub(super) fn question(of: &Question<'_>) -> Vec<u8> {
    let (uid, gid, groups) = of.reader.unwrap_or_default();
    let words = [
        of.what as u64,
        u64::from(of.number.cast_unsigned()),
        of.offset,
        of.length as u64,
        u64::from(of.reader.is_some()),
        u64::from(uid),
        u64::from(gid),
        groups.len() as u64,
    ];
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    bytes.extend_from_slice(groups);
    bytes.extend_from_slice(of.path);
    bytes
}

/// The question in these bytes. Nothing is allocated.
pub(super) fn asked(bytes: &[u8]) -> Option<Question<'_>> {
    let (words, rest) = words::<QUESTION>(bytes)?;
    let [what, number, offset, length, has_reader, uid, gid, groups] = words;
    let (groups, path) = rest.split_at_checked(usize::try_from(groups).ok()?)?;
    if path.last().is_some_and(|last| *last != 0) {
        return None;
    }
    let small = |word: u64| u32::try_from(word).ok();
    let reader = if has_reader == 0 { None } else { Some((small(uid)?, small(gid)?, groups)) };
    let length = usize::try_from(length).ok()?.min(MOST_DATA);
    Some(Question { what: What::of(what)?, number: small(number)?.cast_signed(), offset, length, reader, path })
}

/// What becomes of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was done.
    Done,
    /// The kernel's number of an error.
    Refused(i32),
    /// What the path names is no regular file.
    Irregular(Irregular),
}

/// One answer, but for the bytes that follow it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    pub(super) outcome: Outcome,
    /// Under which number the file stays open there; -1 where it does not.
    pub(super) number: i32,
    pub(super) about: About,
}

/// Writes an answer in front of the bytes that belong to it; how long both are. Nothing is allocated.
pub(super) fn answer(of: &Answer, data: usize, into: &mut [u8]) -> usize {
    let (outcome, why) = match of.outcome {
        Outcome::Done => (0, 0),
        Outcome::Refused(number) => (1, u64::from(number.cast_unsigned())),
        Outcome::Irregular(kind) => (2, kind as u64),
    };
    let about = &of.about;
    let words = [
        outcome,
        why,
        u64::from(of.number.cast_unsigned()),
        about.device,
        about.inode,
        about.size,
        about.modified.0.cast_unsigned(),
        about.modified.1.cast_unsigned(),
        u64::from(about.mode),
        u64::from(about.owner),
        u64::from(about.group),
        u64::from(about.is_local),
    ];
    for (word, to) in words.iter().zip(into.chunks_exact_mut(8)) {
        to.copy_from_slice(&word.to_ne_bytes());
    }
    HEAD + data
}

/// Where the bytes go that belong to an answer.
pub(super) fn data_of(message: &mut [u8]) -> &mut [u8] {
    message.get_mut(HEAD..).unwrap_or_default()
}

/// The answer in these bytes, and what follows it.
pub(super) fn answered(bytes: &[u8]) -> Option<(Answer, &[u8])> {
    let (words, data) = words::<ANSWER>(bytes)?;
    let [outcome, why, number, device, inode, size, seconds, nanoseconds, mode, owner, group, is_local] = words;
    let small = |word: u64| u32::try_from(word).ok();
    let outcome = match outcome {
        0 => Outcome::Done,
        1 => Outcome::Refused(small(why)?.cast_signed()),
        _ => Outcome::Irregular(Irregular::of(why)),
    };
    let about = About {
        device,
        inode,
        size,
        modified: (seconds.cast_signed(), nanoseconds.cast_signed()),
        mode: small(mode)?,
        owner: small(owner)?,
        group: small(group)?,
        is_local: is_local != 0,
    };
    Some((Answer { outcome, number: small(number)?.cast_signed(), about }, data))
}

fn words<const COUNT: usize>(bytes: &[u8]) -> Option<([u64; COUNT], &[u8])> {
    let (head, rest) = bytes.split_at_checked(8 * COUNT)?;
    let mut words = [0; COUNT];
    for (word, bytes) in words.iter_mut().zip(head.chunks_exact(8)) {
        *word = u64::from_ne_bytes(bytes.try_into().ok()?);
    }
    Some((words, rest))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn questions_and_answers_come_as_they_went() {
        let reader = Reader { uid: 7, gid: 8, groups: vec![9, 10] };
        let bytes = about_path(What::Open, Path::new("/a b"), Some(&reader)).unwrap();
        let asked = asked(&bytes).unwrap();
        assert_eq!((asked.what, asked.path), (What::Open, b"/a b\0".as_slice()));
        let (uid, gid, groups) = asked.reader.unwrap();
        assert_eq!((uid, gid, groups.len()), (7, 8, 8));
        let about =
            About { device: 1, inode: 2, size: 3, modified: (-4, 5), mode: 0o644, owner: 6, group: 7, is_local: true };
        let told = Answer { outcome: Outcome::Irregular(Irregular::Socket), number: -1, about };
        let mut message = vec![0; ROOM];
        data_of(&mut message)[..2].copy_from_slice(b"ab");
        let length = answer(&told, 2, &mut message);
        let (heard, data) = answered(&message[..length]).unwrap();
        assert_eq!((heard.outcome, heard.number, heard.about, data), (told.outcome, -1, about, b"ab".as_slice()));
    }

    #[test]
    fn what_is_no_question_is_none() {
        assert!(about_path(What::Look, Path::new(""), None).is_none());
        assert!(about_path(What::Look, Path::new(&"x".repeat(5000)), None).is_none());
        assert!(asked(&[0; 10]).is_none() && asked(&[0; 64]).is_none() && answered(&[0; 10]).is_none());
        let mut cut = about_path(What::Look, Path::new("/a"), None).unwrap();
        cut.pop();
        assert!(asked(&cut).is_none(), "a path without its end");
    }
}
