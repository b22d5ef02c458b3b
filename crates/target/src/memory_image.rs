//! A file made of what memory has of one that is not to be had (deleted, replaced): code, the functions that it exports, and how its
//! stack is unwound. Debug information is in no memory.
//!
//! Section headers are in no memory either. They are made from the segments and from the table of the dynamic linker (System V ABI,
//! chapters 4 and 5; Linux Standard Base, "Exception Frames"). Only files of 64 bits in little endian are made.

use super::zeroed;

/// A larger one is not copied (bytes).
const MAX_IMAGE: u64 = 256 << 20;
const PIECE: u64 = 1 << 20;
const MAX_SEGMENTS: usize = 1024;
const MAX_DYNAMIC: u64 = 1024;

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const SECTION_HEADER: usize = 64;
const SYMBOL: usize = 24;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_NOTE: u32 = 4;
const PT_EH_FRAME: u32 = 0x6474_e550;
/// Segments that only say how the dynamic linker goes about it: dynamic section, thread-local memory, PT_GNU_RELRO.
const PT_OF_LINKER: [u32; 3] = [PT_DYNAMIC, 7, 0x6474_e552];
const PF_X: u32 = 1;
const PF_W: u32 = 2;

const DT_HASH: u64 = 4;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_STRSZ: u64 = 10;
const DT_GNU_HASH: u64 = 0x6fff_fef5;

const PROGBITS: u32 = 1;
const STRTAB: u32 = 3;
const NOTE: u32 = 7;
const NOBITS: u32 = 8;
const DYNSYM: u32 = 11;
const WRITE: u64 = 1;
const ALLOC: u64 = 2;
const EXECINSTR: u64 = 4;
/// SHN_LORESERVE: numbers from here on are no sections.
const RESERVED: u16 = 0xff00;

/// The first bytes of `.eh_frame_hdr` as linkers write it: version 1, `.eh_frame` by a distance of four bytes from itself.
const EH_FRAME_BY_DISTANCE: [u8; 2] = [1, 0x1b];

struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    held: u64,
    size: u64,
}

impl Segment {
    fn is_constant(&self) -> bool {
        self.kind == PT_LOAD && self.held > 0 && self.flags & PF_W == 0
    }
}

struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    address: u64,
    offset: u64,
    size: u64,
    entry: u64,
}

/// Reads memory at a distance from where the file's first byte lies; whether it could be read.
pub type Read<'r> = dyn Fn(u64, &mut [u8]) -> bool + 'r;

/// The file whose first byte lies at `start`; `None` where no ELF file lies there, or one that is too large.
pub fn memory_image(read: &Read<'_>, start: u64) -> Option<Vec<u8>> {
    let image = Image::read(read)?;
    let end = |one: &Segment| one.offset.checked_add(one.held);
    let constant = || image.segments.iter().filter(|one| one.is_constant());
    let length = constant().map(end).try_fold(0, |most, end| Some(most.max(end?)))?;
    if length == 0 || length > MAX_IMAGE {
        return None;
    }
    let mut content = zeroed(usize::try_from(length).ok()?).ok()?;
    for segment in constant() {
        for at in (0..segment.held).step_by(PIECE as usize) {
            let place = usize::try_from(segment.offset + at).ok()?;
            let piece = content.get_mut(place..)?;
            let piece = piece.get_mut(..usize::try_from(PIECE.min(segment.held - at)).ok()?)?;
            // What cannot be read stays zeros.
            read(segment.address.wrapping_sub(image.base).wrapping_add(at), piece);
        }
    }
    let mut sections = image.loaded();
    sections.extend(image.symbols(read, &content, start.wrapping_sub(image.base)).into_iter().flatten());
    sections.extend(image.frames(&content).into_iter().flatten());
    renumber_symbols(&sections, &mut content);
    image.write_headers(&mut content, &sections)?;
    Some(content)
}

struct Image {
    segments: Vec<Segment>,
    /// Where the program headers lie in the file.
    headers: u64,
    /// The address in the file of its first byte.
    base: u64,
}

impl Image {
    fn read(read: &Read<'_>) -> Option<Self> {
        let mut header = [0; HEADER];
        if !read(0, &mut header) || !header.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        let (headers, size, count) = (word(&header, 32)?, half(&header, 54)?, usize::from(half(&header, 56)?));
        if usize::from(size) != PROGRAM_HEADER || count > MAX_SEGMENTS {
            return None;
        }
        let mut table = zeroed(count * PROGRAM_HEADER).ok()?;
        if !read(headers, &mut table) {
            return None;
        }
        let segment = |bytes: &[u8]| {
            Some(Segment {
                kind: short(bytes, 0)?,
                flags: short(bytes, 4)?,
                offset: word(bytes, 8)?,
                address: word(bytes, 16)?,
                held: word(bytes, 32)?,
                size: word(bytes, 40)?,
            })
        };
        let segments: Vec<Segment> = table.chunks_exact(PROGRAM_HEADER).map(segment).collect::<Option<_>>()?;
        let first = segments.iter().find(|one| one.kind == PT_LOAD && one.held > 0);
        let base = first.map_or(0, |first| first.address.wrapping_sub(first.offset));
        Some(Self { segments, headers, base })
    }

    /// Where so many bytes at an address of the file lie in it, of what is constant.
    fn offset(&self, address: u64, length: u64) -> Option<u64> {
        self.segments.iter().filter(|one| one.is_constant()).find_map(|one| {
            let within = address.checked_sub(one.address)?;
            (within.checked_add(length)? <= one.held).then(|| one.offset + within)
        })
    }

    fn loaded(&self) -> Vec<Section> {
        let section = |one: &Segment| {
            let (name, kind, flags, size) = match one.kind {
                PT_NOTE => (".note.gnu.build-id", NOTE, ALLOC, one.held),
                PT_LOAD if one.flags & PF_X != 0 && one.held > 0 => (".text", PROGBITS, ALLOC | EXECINSTR, one.held),
                PT_LOAD if one.flags & PF_W != 0 => (".data", NOBITS, ALLOC | WRITE, one.size),
                _ => return None,
            };
            let there = kind != NOTE || self.offset(one.address, one.held).is_some();
            there.then_some(Section { name, kind, flags, address: one.address, offset: one.offset, size, entry: 0 })
        };
        self.segments.iter().filter_map(section).collect()
    }

    /// The strings and symbols of the dynamic linker's table.
    fn symbols(&self, read: &Read<'_>, content: &[u8], bias: u64) -> Option<[Section; 2]> {
        let dynamic = self.segments.iter().find(|one| one.kind == PT_DYNAMIC)?;
        let mut table = zeroed(usize::try_from(dynamic.size.min(16 * MAX_DYNAMIC)).ok()?).ok()?;
        if !read(dynamic.address.wrapping_sub(self.base), &mut table) {
            return None;
        }
        let pairs = table.chunks_exact(16).map(|pair| (word(pair, 0), word(pair, 8)));
        let pairs: Vec<_> = pairs.take_while(|(tag, _)| *tag != Some(0)).collect();
        let value = |wanted: u64| pairs.iter().find(|(tag, _)| *tag == Some(wanted))?.1;
        // glibc adds the bias to addresses, other C libraries do not.
        let place = |wanted: u64| value(wanted).map(|value| value.checked_sub(bias).unwrap_or(value));
        let (strings, symbols, size) = (place(DT_STRTAB)?, place(DT_SYMTAB)?, value(DT_STRSZ)?);
        let count = match (place(DT_GNU_HASH), place(DT_HASH)) {
            (Some(hashes), _) => count_by_gnu_hash(content, usize::try_from(self.offset(hashes, 16)?).ok()?)?,
            // Its second word is their number.
            (None, Some(hashes)) => u64::from(short(content, usize::try_from(self.offset(hashes, 8)?).ok()? + 4)?),
            (None, None) => return None,
        };
        let bytes = count.checked_mul(SYMBOL as u64).filter(|bytes| *bytes > 0)?;
        let section = |name, kind, address, size, entry| {
            let offset = self.offset(address, size)?;
            Some(Section { name, kind, flags: ALLOC, address, offset, size, entry })
        };
        Some([
            section(".dynstr", STRTAB, strings, size, 0)?,
            section(".dynsym", DYNSYM, symbols, bytes, SYMBOL as u64)?,
        ])
    }

    /// `.eh_frame`, whose end is a record of no length, and the table of its functions.
    fn frames(&self, content: &[u8]) -> Option<[Section; 2]> {
        let table = self.segments.iter().find(|one| one.kind == PT_EH_FRAME)?;
        let at = usize::try_from(self.offset(table.address, table.held.max(8))?).ok()?;
        if content.get(at..at + 2)? != EH_FRAME_BY_DISTANCE {
            return None;
        }
        let distance = short(content, at + 4)?.cast_signed();
        let address = table.address.wrapping_add(4).wrapping_add_signed(i64::from(distance));
        let offset = self.offset(address, 4)?;
        let mut end = offset;
        loop {
            let length = short(content, usize::try_from(end).ok()?)?;
            end += 4 + u64::from(length);
            match length {
                0 => break,
                // A record of 64 bits.
                u32::MAX => return None,
                _ => {}
            }
        }
        let section = |name, address, offset, size| Section {
            name,
            kind: PROGBITS,
            flags: ALLOC,
            address,
            offset,
            size,
            entry: 0,
        };
        Some([
            section(".eh_frame_hdr", table.address, at as u64, table.held),
            section(".eh_frame", address, offset, end - offset),
        ])
    }

    /// Appends the sections' names and headers, and has the file's own headers say what is in this one.
    fn write_headers(&self, content: &mut Vec<u8>, sections: &[Section]) -> Option<()> {
        let mut names = b"\0".to_vec();
        let mut headers = vec![0; SECTION_HEADER];
        let strings = sections.iter().position(|one| one.name == ".dynstr").map_or(0, |place| place as u32 + 1);
        let own = Section {
            name: ".shstrtab",
            kind: STRTAB,
            flags: 0,
            address: 0,
            offset: content.len() as u64,
            size: sections.iter().map(|one| one.name.len() as u64 + 1).sum::<u64>() + 1 + ".shstrtab".len() as u64 + 1,
            entry: 0,
        };
        for one in sections.iter().chain([&own]) {
            let is_symbols = one.kind == DYNSYM;
            headers.extend((names.len() as u32).to_le_bytes());
            headers.extend(one.kind.to_le_bytes());
            for field in [one.flags, one.address, one.offset, one.size] {
                headers.extend(field.to_le_bytes());
            }
            headers.extend(if is_symbols { strings } else { 0 }.to_le_bytes());
            // Of the symbols only the first is local.
            headers.extend(u32::from(is_symbols).to_le_bytes());
            headers.extend(1_u64.to_le_bytes());
            headers.extend(one.entry.to_le_bytes());
            names.extend(one.name.bytes().chain([0]));
        }
        content.extend(names);
        content.resize(content.len().next_multiple_of(16), 0);
        let (table, count) = (content.len() as u64, sections.len() as u16 + 2);
        content.extend(headers);
        content.get_mut(40..48)?.copy_from_slice(&table.to_le_bytes());
        let numbers = [SECTION_HEADER as u16, count, count - 1];
        for (at, number) in (58..).step_by(2).zip(numbers) {
            content.get_mut(at..at + 2)?.copy_from_slice(&number.to_le_bytes());
        }
        for (number, one) in self.segments.iter().enumerate() {
            let at = usize::try_from(self.headers).ok()? + number * PROGRAM_HEADER;
            let header = content.get_mut(at..at + PROGRAM_HEADER)?;
            if PT_OF_LINKER.contains(&one.kind) {
                header.fill(0);
            } else if one.kind == PT_LOAD && one.flags & PF_W != 0 {
                // What is not in the copy is in none of its segments.
                header[32..40].fill(0);
            }
        }
        Some(())
    }
}

/// The number of symbols by a table of hashes (DT_GNU_HASH, as glibc reads it: elf/dl-lookup.c).
fn count_by_gnu_hash(content: &[u8], at: usize) -> Option<u64> {
    let number = |at: usize| short(content, at);
    let (buckets, first, bloom) = (number(at)?, number(at + 4)?, number(at + 8)?);
    let at = at.checked_add(16)?.checked_add(usize::try_from(bloom).ok()?.checked_mul(8)?)?;
    let buckets = usize::try_from(buckets).ok()?;
    let table = content.get(at..)?.get(..buckets.checked_mul(4)?)?;
    let mut last = table.chunks_exact(4).filter_map(|bucket| short(bucket, 0)).max().unwrap_or(0);
    if last < first {
        return Some(u64::from(first));
    }
    let chains = at + table.len();
    // The last of a chain has its lowest bit set.
    while number(chains.checked_add(4 * usize::try_from(last - first).ok()?)?)? & 1 == 0 {
        last = last.checked_add(1)?;
    }
    Some(u64::from(last) + 1)
}

/// Symbols name their sections by number; these have new ones.
fn renumber_symbols(sections: &[Section], content: &mut [u8]) {
    let Some(table) = sections.iter().find(|one| one.kind == DYNSYM) else { return };
    let holders: Vec<(u16, &Section)> =
        (1..).zip(sections).filter(|(_, one)| [".text", ".data"].contains(&one.name)).collect();
    let range = usize::try_from(table.offset).ok().zip(usize::try_from(table.size).ok());
    let symbols = range.and_then(|(offset, size)| content.get_mut(offset..)?.get_mut(..size));
    for symbol in symbols.into_iter().flat_map(|symbols| symbols.chunks_exact_mut(SYMBOL)) {
        let (Some(index), Some(value)) = (half(symbol, 6), word(symbol, 8)) else { continue };
        if index == 0 || index >= RESERVED {
            continue;
        }
        let holds = |one: &Section| value.checked_sub(one.address).is_some_and(|within| within < one.size);
        // What is constant belongs to no section of ours: any of them has the same distance to its addresses.
        let holder = holders.iter().find(|(_, one)| holds(one)).or(holders.first());
        symbol[6..8].copy_from_slice(&holder.map_or(0, |(number, _)| *number).to_le_bytes());
    }
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn short(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}
