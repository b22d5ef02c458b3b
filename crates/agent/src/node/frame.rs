//! What an agent writes: lines that a front finds among whatever else comes through the cluster's engine.
//!
//! A line is `mq1 KIND LOOK PART PARTS CRC TEXT`: which of how many parts of one message it is, the CRC-32 of what `TEXT`
//! stands for (hexadecimal), and a piece of the message, compressed by zlib, in base64. Engines label lines and cut long
//! ones (Slurm at 1024 bytes: SchedMD/slurm, src/common/io_hdr.h, `SLURM_IO_MAX_MSG_LEN`), so no line has more than 960.

use std::io::{self, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;

/// Bytes of a message in one line, before base64.
const PIECE: usize = 648;

/// Writes one message.
///
/// # Errors
/// Where standard output is closed.
pub fn write(kind: &str, look: u64, message: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in lines(kind, look, message)? {
        out.write_all(line.as_bytes())?;
    }
    out.flush()
}

fn lines(kind: &str, look: u64, message: &[u8]) -> io::Result<Vec<String>> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
    packer.write_all(message)?;
    let packed = packer.finish()?;
    let parts = packed.len().div_ceil(PIECE);
    let line = |(part, piece): (usize, &[u8])| {
        let (crc, text) = (crc32fast::hash(piece), STANDARD.encode(piece));
        format!("mq1 {kind} {look} {part} {parts} {crc:08x} {text}\n")
    };
    Ok((1..).zip(packed.chunks(PIECE)).map(line).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn a_message_comes_whole_in_short_lines() {
        // What does not compress.
        let message: Vec<u8> = (0..10_000_u32).flat_map(|one| one.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let lines = lines("digest", u64::MAX, &message).unwrap();
        let mut packed = Vec::new();
        for (part, line) in (1..).zip(&lines) {
            assert!(line.len() <= 960 && line.ends_with('\n'), "{}", line.len());
            let words: Vec<&str> = line.split_whitespace().collect();
            let piece = STANDARD.decode(words[6]).unwrap();
            assert_eq!(words[..3], ["mq1", "digest", &u64::MAX.to_string()]);
            assert_eq!([words[3], words[4]].map(|word| word.parse()), [Ok(part), Ok(lines.len())]);
            assert_eq!(words[5], format!("{:08x}", crc32fast::hash(&piece)));
            packed.extend(piece);
        }
        let mut read = Vec::new();
        flate2::read::ZlibDecoder::new(packed.as_slice()).read_to_end(&mut read).unwrap();
        assert!(read == message);
        assert_eq!(super::lines("hello", 0, b"").unwrap().len(), 1);
    }
}
