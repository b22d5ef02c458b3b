//! Opens a recording: finds its processes, and what is damaged.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::RecordingError;
use super::described::{FileEnd, ProcessDescription};
use super::frame::{Frame, HEADER, Kind, MAGIC, MAX_RAW, VERSION};
use super::limits::{self, MAX_FRAMES, MAX_PROCESSES, Unpacked};
use target::files::{FileError, RegularFile, open_named};

/// The first line is not longer than this.
const MAX_FIRST_LINE: u64 = 64;

/// The frames of one process.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// All frames but the one that begins it, in order.
    pub frames: Vec<Frame>,
    /// The frame that begins it.
    pub process: Option<Frame>,
    /// The frame that ends it; `None` where the file is damaged before.
    pub end: Option<Frame>,
    /// Whether one of its frames is damaged.
    pub damaged: bool,
}

impl Section {
    /// Whether everything of the process is there.
    pub fn is_whole(&self) -> bool {
        self.process.is_some() && self.end.is_some() && !self.damaged
    }
}

/// A recording whose frames have been checked.
#[derive(Debug)]
pub struct RecordingFile {
    /// The file.
    pub path: PathBuf,
    /// Version of its format.
    pub version: u32,
    /// The text of its information frame, JSON.
    pub info: Option<String>,
    /// The processes, whole ones and damaged ones.
    pub sections: Vec<Section>,
    /// What is wrong with the file, in sentences.
    pub problems: Vec<String>,
    /// Its length in bytes.
    pub len: u64,
    /// How much of it has been unpacked.
    pub(super) unpacked: Unpacked,
}

impl RecordingFile {
    /// Opens and checks a file, in one pass and bounded memory.
    ///
    /// # Errors
    /// Where it cannot be read, is no recording, or one of a later version.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let failed = |error: io::Error| RecordingError::File { path: path.to_owned(), reason: error.to_string() };
        let refused = |error: FileError| RecordingError::File { path: path.to_owned(), reason: error.to_string() };
        let file = open_named(path).map_err(refused)?;
        let len = file.len();
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let version = first_line(&mut reader).map_err(failed)?;
        let version = version.ok_or_else(|| RecordingError::NotARecording { path: path.to_owned() })?;
        if version > VERSION {
            return Err(RecordingError::TooNew { path: path.to_owned(), version });
        }
        let mut recording = Self {
            path: path.to_owned(),
            version,
            info: None,
            sections: Vec::new(),
            problems: Vec::new(),
            len,
            unpacked: Unpacked::default(),
        };
        recording.scan(&mut reader).map_err(failed)?;
        Ok(recording)
    }

    fn scan(&mut self, reader: &mut BufReader<RegularFile>) -> io::Result<()> {
        let mut at = reader.stream_position()?;
        // Of these one each belongs into a file: of more the first and the last counts, and only these are unpacked.
        let (mut info, mut end, mut ends) = (None, None, 0);
        let (mut frames, mut open) = (0, false);
        while at < self.len {
            let mut header = [0; HEADER];
            let Some(frame) = read_header(reader, &mut header, at)? else {
                self.problems.push(format!("damaged at byte {at}: what follows is lost"));
                break;
            };
            if frame.body_at.checked_add(frame.body_len).is_none_or(|end| end > self.len) {
                self.problems
                    .push(format!("cut off at byte {}: the part that began at byte {at} is not whole", self.len));
                break;
            }
            let most = frame.kind.map_or(MAX_RAW, limits::most);
            let intact = frame.raw_len <= MAX_RAW && body_crc(reader, frame.body_len)? == frame.body_crc;
            if intact && frame.raw_len > most {
                self.problems.push(format!(
                    "the part at byte {at} unpacks to {} bytes; a part of its kind has at most {most}",
                    frame.raw_len
                ));
            }
            let usable = intact && frame.raw_len <= most;
            if !intact {
                self.problems.push(format!("damaged at byte {at}: one part is lost"));
                reader.seek(SeekFrom::Start(frame.body_at + frame.body_len))?;
            }
            frames += 1;
            if frames > MAX_FRAMES {
                self.problems.push(format!("more than {MAX_FRAMES} parts: the others were not looked at"));
                break;
            }
            let full = self.sections.len() >= MAX_PROCESSES;
            match (frame.kind, self.sections.last_mut()) {
                (Some(Kind::Info), _) if usable => _ = info.get_or_insert(frame),
                (Some(Kind::FileEnd), _) if usable => (end, ends) = (Some(frame), ends + 1),
                (Some(Kind::Info | Kind::FileEnd), _) => {}
                (Some(Kind::Process), _) if full => {
                    self.problems.push(format!("more than {MAX_PROCESSES} processes: the others are not read"));
                    break;
                }
                (Some(Kind::Process), _) => {
                    self.sections.push(Section {
                        process: usable.then_some(frame),
                        damaged: !usable,
                        ..Section::default()
                    });
                    open = true;
                }
                (Some(Kind::ProcessEnd), Some(section)) if open => {
                    section.end = usable.then_some(frame);
                    section.damaged |= !usable;
                    open = false;
                }
                (Some(_), Some(section)) if open => {
                    section.damaged |= !usable;
                    section.frames.push(frame);
                }
                (Some(_), _) => self.problems.push(format!("the part at byte {at} belongs to no process")),
                // A kind of a later version with the same number: nothing that this one needs.
                (None, _) => {}
            }
            if self.problems.len() > 20 {
                self.problems.push("there is more damage, which is not listed".to_owned());
                break;
            }
            at = frame.body_at + frame.body_len;
        }
        let text = |frame: Frame| text_of(&self.path, &frame).ok();
        self.info = info.and_then(text);
        let end = end.and_then(text);
        if ends > 1 {
            self.problems
                .push(format!("it says {ends} times that it is whole, where the last part of a recording does once"));
        }
        self.say_what_is_missing(end.as_deref());
        Ok(())
    }

    /// What the process with number `index` says of itself, also where the rest of it is damaged.
    pub fn description(&self, index: usize) -> Option<ProcessDescription> {
        let frame = self.sections.get(index)?.process.as_ref()?;
        self.unpacked.text(frame.raw_len, self.len).ok()?;
        serde_json::from_slice(&self.raw(frame).ok()?).ok()
    }

    fn say_what_is_missing(&mut self, end: Option<&str>) {
        let broken = self.sections.iter().filter(|section| !section.is_whole()).count();
        if broken > 0 {
            let whole = self.sections.len() - broken;
            self.problems.push(format!("{broken} of its processes cannot be used, {whole} are whole"));
        }
        let end = end.and_then(|text| serde_json::from_str::<FileEnd>(text).ok());
        match end {
            Some(end) if end.processes != self.sections.len() as u64 => {
                let (found, said) = (self.sections.len(), end.processes);
                self.problems.push(format!("it has {found} processes where it says that it has {said}"));
            }
            Some(_) => {}
            None if self.problems.is_empty() => self.problems.push("its end is missing".to_owned()),
            None => {}
        }
    }

    /// The decompressed body of a frame; who asks counts it.
    ///
    /// # Errors
    /// Where the file changed since it was opened, or the frame is damaged.
    pub fn raw(&self, frame: &Frame) -> io::Result<Vec<u8>> {
        raw_of(&self.path, frame)
    }
}

fn raw_of(path: &Path, frame: &Frame) -> io::Result<Vec<u8>> {
    let mut file = open_named(path)?;
    file.seek(SeekFrom::Start(frame.body_at))?;
    let mut body = Vec::new();
    // Not more than is there, whatever the header says.
    file.take(frame.body_len).read_to_end(&mut body)?;
    frame.decompress(&body)
}

fn text_of(path: &Path, frame: &Frame) -> io::Result<String> {
    String::from_utf8(raw_of(path, frame)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The version in the first line, `None` where it is not that of a recording.
fn first_line(reader: &mut BufReader<RegularFile>) -> io::Result<Option<u32>> {
    let mut line = Vec::new();
    for byte in reader.by_ref().take(MAX_FIRST_LINE).bytes() {
        match byte? {
            b'\n' => {
                let text = String::from_utf8(line).unwrap_or_default();
                return Ok(text.strip_prefix(MAGIC).and_then(|version| version.parse().ok()));
            }
            byte => line.push(byte),
        }
    }
    Ok(None)
}

/// The next header; `None` where it is cut off or damaged.
fn read_header(reader: &mut BufReader<RegularFile>, header: &mut [u8; HEADER], at: u64) -> io::Result<Option<Frame>> {
    match reader.read_exact(header) {
        Ok(()) => Ok(Frame::parse(header, at + HEADER as u64)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn body_crc(reader: &mut BufReader<RegularFile>, len: u64) -> io::Result<u32> {
    let mut crc = flate2::Crc::new();
    let mut buffer = [0; 1 << 16];
    let mut left = len;
    while left > 0 {
        let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let got = reader.read(&mut buffer[..most])?;
        if got == 0 {
            break;
        }
        crc.update(&buffer[..got]);
        left -= got as u64;
    }
    Ok(crc.sum())
}
