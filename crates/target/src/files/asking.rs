//! Who asks attendants: one question at a time each, for as long as `silence` says.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::attendant::{Attendant, NoWord};
use super::opening::{self, Refusal};
use super::wire::{self, Answer, MOST_DATA, Outcome, Question, What};
use super::{About, FileError, Reader, RegularFile, silence};

/// So many attendants are kept: as many as threads open files at once.
const MOST_KEPT: usize = 8;
/// Room for an answer without bytes of a file.
const SMALL: usize = wire::ROOM - MOST_DATA;

/// An attendant that several may ask, one at a time; none once it was left behind, or has ended.
type Shared = Arc<Mutex<Option<Attendant>>>;

/// Those that are there. They are of this process alone: one that is forked starts its own.
struct Pool {
    of: u32,
    kept: Vec<Shared>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { of: 0, kept: Vec::new() });

/// A file that an attendant has open. It is closed with this.
#[derive(Debug)]
pub(super) struct Held {
    shared: Shared,
    number: i32,
    path: PathBuf,
    of: u32,
}

/// Why nothing comes of a file that was open.
#[derive(Debug)]
pub(super) enum Failure {
    /// The attendant is gone, and the file with it.
    Lost,
    /// Anything else.
    Error(FileError),
}

/// Opens a regular file, for somebody.
pub(super) fn open(path: &Path, reader: Option<&Reader>) -> Result<RegularFile, FileError> {
    let path = &*whole(path);
    let reader = reader.filter(|reader| reader.takes_rights());
    if reader.is_none()
        && let Some(place) = on_root(path)
    {
        let (file, about) = opening::regular_at(&place?)?;
        return Ok(RegularFile::here(file, about));
    }
    let mut room = vec![0; SMALL];
    let told = about(What::Open, path, reader, &mut room)?;
    silence::was_opened(path);
    match told.file {
        Some(file) => Ok(RegularFile::here(file, told.answer.about)),
        None if told.answer.number >= 0 => {
            let (number, of) = (told.answer.number, std::process::id());
            let held = Held { shared: told.shared, number, path: path.to_owned(), of };
            Ok(RegularFile::there(held, told.answer.about, path.to_owned(), reader.cloned()))
        }
        // This program may have no more files open.
        None => Err(io::Error::from_raw_os_error(libc::EMFILE).into()),
    }
}

/// Looks at what a path names.
pub(super) fn look(path: &Path) -> Result<About, FileError> {
    let path = &*whole(path);
    if let Some(place) = on_root(path) {
        return Ok(opening::about(&place?)?);
    }
    about(What::Look, path, None, &mut vec![0; SMALL]).map(|told| told.answer.about)
}

/// The path without links.
pub(super) fn real(path: &Path) -> Result<PathBuf, FileError> {
    let path = &*whole(path);
    let mut room = vec![0; SMALL];
    if let Some(place) = on_root(path) {
        let length = opening::real_at(&place?, &mut room)?;
        room.truncate(length);
        return Ok(PathBuf::from(OsString::from_vec(room)));
    }
    let told = about(What::Real, path, None, &mut room)?;
    Ok(PathBuf::from(OsString::from_vec(told.data.to_vec())))
}

/// The path from the root: an attendant stays where this program was when it was forked. One that is empty stays so.
fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The place of a path, where the way there leaves the file system of the root nowhere and that is this machine's own: most
/// files are there, and to ask an attendant takes many times as long.
fn on_root(path: &Path) -> Option<Result<OwnedFd, Refusal>> {
    static IS_LOCAL: OnceLock<bool> = OnceLock::new();
    let is_local =
        || about(What::Look, Path::new("/"), None, &mut vec![0; SMALL]).is_ok_and(|root| root.answer.about.is_local);
    if !*IS_LOCAL.get_or_init(is_local) {
        return None;
    }
    opening::on_root(&CString::new(path.as_os_str().as_bytes()).ok()?)
}

struct Told<'a> {
    answer: Answer,
    data: &'a [u8],
    file: Option<OwnedFd>,
    shared: Shared,
}

fn about<'a>(what: What, path: &Path, reader: Option<&Reader>, room: &'a mut [u8]) -> Result<Told<'a>, FileError> {
    let Some(question) = wire::about_path(what, path, reader) else {
        return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG).into());
    };
    let limit = silence::patience();
    silence::may_ask(path, limit)?;
    // One that was idle for long ends at any moment.
    for _ in 0..3 {
        let shared = idle().map_err(FileError::Io)?;
        let mut attendant = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(asked) = attendant.as_ref() else { continue };
        match asked.ask(&question, limit, &mut *room) {
            Ok((answer, data, file)) => {
                let length = data.len();
                drop(attendant);
                if let (Outcome::Refused(libc::EACCES), Some(reader)) = (answer.outcome, reader) {
                    return Err(FileError::Forbidden(reader.uid));
                }
                done(answer.outcome)?;
                let data = room.get(wire::HEAD..wire::HEAD + length).unwrap_or_default();
                return Ok(Told { answer, data, file, shared });
            }
            Err(NoWord::Late) => return Err(silence::fell_silent(path, limit, attendant.take()).into()),
            Err(NoWord::Ended) => drop(attendant.take()),
        }
    }
    Err(FileError::Io(io::ErrorKind::ConnectionAborted.into()))
}

/// One whom nobody asks now.
fn idle() -> io::Result<Shared> {
    let own = std::process::id();
    let is_idle = |one: &Shared| one.try_lock().is_ok_and(|attendant| attendant.is_some());
    // A process that was forked while somebody had the list never gets it.
    if let Ok(mut pool) = POOL.try_lock() {
        if pool.of != own {
            *pool = Pool { of: own, kept: Vec::new() };
        }
        pool.kept.retain(|one| one.try_lock().map_or(true, |attendant| attendant.is_some()));
        if let Some(found) = pool.kept.iter().find(|one| is_idle(one)) {
            return Ok(Arc::clone(found));
        }
    }
    let started = Arc::new(Mutex::new(Some(Attendant::start()?)));
    if let Ok(mut pool) = POOL.try_lock()
        && pool.kept.len() < MOST_KEPT
    {
        pool.kept.push(Arc::clone(&started));
    }
    Ok(started)
}

fn done(outcome: Outcome) -> Result<(), FileError> {
    match outcome {
        Outcome::Done => Ok(()),
        Outcome::Refused(number) => Err(io::Error::from_raw_os_error(number).into()),
        Outcome::Irregular(kind) => Err(FileError::Irregular(kind)),
    }
}

/// Reads of an open file; how many bytes.
pub(super) fn read(held: &Held, to: &mut [u8], offset: u64) -> Result<usize, Failure> {
    let length = to.len().min(MOST_DATA);
    let mut room = vec![0; wire::HEAD + length];
    let question = Question { offset, length, ..Question::of(What::Read, held.number) };
    let (_, data) = held.ask(&question, &mut room)?;
    let to = to.get_mut(..data.len()).ok_or(Failure::Lost)?;
    to.copy_from_slice(data);
    Ok(data.len())
}

/// Looks at an open file.
pub(super) fn looked_again(held: &Held) -> Result<About, Failure> {
    let mut room = vec![0; wire::HEAD];
    held.ask(&Question::of(What::LookAgain, held.number), &mut room).map(|(answer, _)| answer.about)
}

impl Held {
    fn ask<'a>(&self, question: &Question<'_>, room: &'a mut [u8]) -> Result<(Answer, &'a [u8]), Failure> {
        if self.of != std::process::id() {
            return Err(Failure::Lost);
        }
        let limit = silence::patience();
        let mut attendant = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        silence::may_ask(&self.path, limit).map_err(|error| Failure::Error(error.into()))?;
        let asked = attendant.as_ref().ok_or(Failure::Lost)?;
        match asked.ask(&wire::question(question), limit, room) {
            Ok((answer, data, _)) => {
                done(answer.outcome).map_err(Failure::Error)?;
                Ok((answer, data))
            }
            Err(NoWord::Late) => {
                let error = silence::fell_silent(&self.path, limit, attendant.take());
                Err(Failure::Error(error.into()))
            }
            Err(NoWord::Ended) => {
                attendant.take();
                Err(Failure::Lost)
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Its file system may be asked when it is closed (FUSE_FLUSH), and not answer.
        let _ = self.ask(&Question::of(What::Close, self.number), &mut [0; wire::HEAD]);
    }
}
