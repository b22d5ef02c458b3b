//! Where the functions themselves are: in the library after this one, wherever and whenever it was loaded.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::wrapper::{WRAPPERS, Wrapper};

/// The function of each wrapper; null before it was looked for.
static FUNCTIONS: [AtomicPtr<c_void>; WRAPPERS.len()] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; WRAPPERS.len()];

/// The function behind a wrapper.
#[inline(always)]
pub fn function(index: u32) -> *mut c_void {
    // SAFETY: a wrapper's number is below that of the wrappers.
    let found = unsafe { FUNCTIONS.get_unchecked(index as usize) }.load(Ordering::Relaxed);
    if found.is_null() { look(index) } else { found }
}

#[cold]
fn look(index: u32) -> *mut c_void {
    let wrapper = &WRAPPERS[index as usize];
    let found = find(wrapper.symbol());
    if found.is_null() {
        missing(wrapper);
    }
    FUNCTIONS[index as usize].store(found, Ordering::Relaxed);
    found
}

/// The program calls what no library has: without the recorder it would have ended as well.
fn missing(wrapper: &Wrapper) -> ! {
    let name = wrapper.symbol();
    say(&[b"no library of this process has ", &name[..name.len() - 1]]);
    // SAFETY: it ends the process.
    unsafe { libc::abort() }
}

/// One line on standard error.
pub fn say(parts: &[&[u8]]) {
    let write = |text: &[u8]| {
        // SAFETY: the text is there. Where nobody reads, nothing can be done.
        let _ = unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
    };
    write(b"mpi-queues recorder: ");
    parts.iter().for_each(|part| write(part));
    write(b"\n");
}

/// A function or variable of another library: the next one in the order in which names are looked up, else any that was
/// loaded for a library alone (RTLD_LOCAL, as Python loads its extensions). The name ends in a zero.
pub fn find(name: &[u8]) -> *mut c_void {
    let Ok(text) = CStr::from_bytes_with_nul(name) else { return std::ptr::null_mut() };
    // SAFETY: the name ends.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, text.as_ptr()) };
    if !next.is_null() {
        return next;
    }
    let mut found: *mut c_void = std::ptr::null_mut();
    for_each(|object| {
        if found.is_null() && !object.is_own() {
            found = object.symbol(name).map_or(found, |address| address as *mut c_void);
        }
    });
    found
}

/// A variable of an MPI: the one that is used, which is a copy in the program where that was linked so.
pub fn variable(name: &CStr) -> *mut c_void {
    // SAFETY: the name ends.
    let first = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if first.is_null() { find(name.to_bytes_with_nul()) } else { first }
}

/// The sorted table of unwinding tables (`.eh_frame_hdr`) of the object that has an address, and the end of the segment that
/// has these.
pub fn unwinding_table(address: u64) -> Option<(u64, u64)> {
    let mut found = None;
    for_each(|object| {
        if found.is_none() && object.segment_of(address).is_some() {
            found = object.unwinding_table();
        }
    });
    found
}

/// The path of the library that has an address; empty where none has.
pub fn library_of(address: u64) -> &'static [u8] {
    // SAFETY: an empty answer, which is filled where there is one.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address as *const c_void, &mut info) == 0 || info.dli_fname.is_null() {
            return &[];
        }
        CStr::from_ptr(info.dli_fname).to_bytes()
    }
}

/// A loaded program or library.
#[derive(Clone, Copy)]
pub struct Object {
    /// What is added to the addresses in its file.
    base: u64,
    headers: *const libc::Elf64_Phdr,
    header_count: u16,
    pub symbols: *const libc::Elf64_Sym,
    texts: *const c_char,
    hash: *const u32,
    old_hash: *const u32,
    pub relocations: [(u64, u64); 2],
}

const PT_DYNAMIC: u32 = 2;
const PT_GNU_EH_FRAME: u32 = 0x6474_e550;
const PT_GNU_RELRO: u32 = 0x6474_e552;
const DT_PLTRELSZ: u64 = 2;
const DT_HASH: u64 = 4;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
const DT_JMPREL: u64 = 23;
const DT_GNU_HASH: u64 = 0x6fff_fef5;
const STT_GNU_IFUNC: u8 = 10;

/// Tells of each loaded object, in the order in which they were loaded.
pub fn for_each(mut tell: impl FnMut(&Object)) {
    unsafe extern "C" fn one<F: FnMut(&Object)>(info: *mut libc::dl_phdr_info, _: usize, tell: *mut c_void) -> c_int {
        // SAFETY: the linker's structure, and our own closure.
        unsafe {
            if let Some(object) = Object::of(&*info) {
                (*tell.cast::<F>())(&object);
            }
        }
        0
    }
    fn call<F: FnMut(&Object)>(tell: &mut F) {
        // SAFETY: the closure outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(one::<F>), std::ptr::from_mut(tell).cast()) };
    }
    call(&mut tell);
}

impl Object {
    /// # Safety
    /// The structure is the linker's.
    unsafe fn of(info: &libc::dl_phdr_info) -> Option<Self> {
        // SAFETY: its tables are in memory, and the dynamic section ends with a zero.
        unsafe {
            let base = info.dlpi_addr;
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
            let dynamic = headers.iter().find(|header| header.p_type == PT_DYNAMIC)?;
            let mut entry = (base + dynamic.p_vaddr) as *const [u64; 2];
            let mut found = Self {
                base,
                headers: info.dlpi_phdr,
                header_count: info.dlpi_phnum,
                symbols: std::ptr::null(),
                texts: std::ptr::null(),
                hash: std::ptr::null(),
                old_hash: std::ptr::null(),
                relocations: [(0, 0); 2],
            };
            // The linker has made addresses of most of them, but not where the section is read-only.
            let address = |value: u64| if value < base { value + base } else { value };
            while (*entry)[0] != 0 {
                let [tag, value] = *entry;
                match tag {
                    DT_SYMTAB => found.symbols = address(value) as *const _,
                    DT_STRTAB => found.texts = address(value) as *const _,
                    DT_GNU_HASH => found.hash = address(value) as *const _,
                    DT_HASH => found.old_hash = address(value) as *const _,
                    DT_RELA => found.relocations[0].0 = address(value),
                    DT_RELASZ => found.relocations[0].1 = value,
                    DT_JMPREL => found.relocations[1].0 = address(value),
                    DT_PLTRELSZ => found.relocations[1].1 = value,
                    _ => {}
                }
                entry = entry.add(1);
            }
            (!found.symbols.is_null() && !found.texts.is_null()).then_some(found)
        }
    }

    fn headers(&self) -> &[libc::Elf64_Phdr] {
        // SAFETY: the linker's.
        unsafe { std::slice::from_raw_parts(self.headers, usize::from(self.header_count)) }
    }

    /// Where an address of its file is.
    pub fn address(&self, value: u64) -> u64 {
        self.base.wrapping_add(value)
    }

    /// Whether it is this library.
    pub fn is_own(&self) -> bool {
        self.segment_of(std::ptr::from_ref(&FUNCTIONS) as u64).is_some()
    }

    /// The segment that has an address: its start and its end.
    fn segment_of(&self, address: u64) -> Option<(u64, u64)> {
        let segments = self.headers().iter().filter(|header| header.p_type == libc::PT_LOAD);
        let mut places = segments.map(|header| {
            let start = self.address(header.p_vaddr);
            (start, start + header.p_memsz)
        });
        places.find(|(start, end)| (start..end).contains(&&address))
    }

    fn unwinding_table(&self) -> Option<(u64, u64)> {
        let header = self.headers().iter().find(|header| header.p_type == PT_GNU_EH_FRAME)?;
        let start = self.address(header.p_vaddr);
        Some((start, self.segment_of(start)?.1))
    }

    /// What the linker has made read-only after its work: start and bytes.
    pub fn read_only_after(&self) -> Option<(u64, u64)> {
        let header = self.headers().iter().find(|header| header.p_type == PT_GNU_RELRO)?;
        Some((self.address(header.p_vaddr), header.p_memsz))
    }

    /// The name of a symbol.
    ///
    /// # Safety
    /// It is one of this object.
    pub unsafe fn name(&self, symbol: &libc::Elf64_Sym) -> &CStr {
        // SAFETY: the table of texts has it.
        unsafe { CStr::from_ptr(self.texts.add(symbol.st_name as usize)) }
    }

    /// The address of what it defines by that name, which ends in a zero.
    pub fn symbol(&self, name: &[u8]) -> Option<u64> {
        let text = &name[..name.len().saturating_sub(1)];
        // SAFETY: the tables are laid out as the linker itself reads them.
        unsafe {
            let symbol = if self.hash.is_null() { self.by_old_hash(text) } else { self.by_hash(text) }?;
            if symbol.st_info & 0xf == STT_GNU_IFUNC {
                let choose: extern "C" fn() -> u64 = std::mem::transmute(self.address(symbol.st_value));
                return Some(choose());
            }
            Some(self.address(symbol.st_value))
        }
    }

    /// Whether a symbol is defined here by that name.
    ///
    /// # Safety
    /// It is one of this object.
    unsafe fn defines(&self, symbol: &libc::Elf64_Sym, name: &[u8]) -> bool {
        // SAFETY: as the caller says.
        symbol.st_shndx != 0 && symbol.st_value != 0 && unsafe { self.name(symbol) }.to_bytes() == name
    }

    /// DT_GNU_HASH: a filter, buckets, chains whose last hash is odd.
    unsafe fn by_hash(&self, name: &[u8]) -> Option<&libc::Elf64_Sym> {
        let hash = name.iter().fold(5381_u32, |hash, byte| hash.wrapping_mul(33).wrapping_add(u32::from(*byte)));
        // SAFETY: the table is laid out so.
        unsafe {
            let [buckets, start, words, shift] = *self.hash.cast::<[u32; 4]>();
            if buckets == 0 || words == 0 {
                return None;
            }
            let filter = self.hash.add(4).cast::<u64>();
            let word = *filter.add(hash as usize / 64 % words as usize);
            if word >> (hash % 64) & word >> ((hash >> shift) % 64) & 1 == 0 {
                return None;
            }
            let heads = filter.add(words as usize).cast::<u32>();
            let chains = heads.add(buckets as usize);
            let mut index = *heads.add((hash % buckets) as usize);
            if index < start {
                return None;
            }
            loop {
                let chained = *chains.add((index - start) as usize);
                let symbol = &*self.symbols.add(index as usize);
                if chained | 1 == hash | 1 && self.defines(symbol, name) {
                    return Some(symbol);
                }
                if chained & 1 == 1 {
                    return None;
                }
                index += 1;
            }
        }
    }

    /// DT_HASH, of libraries that have no other: all symbols in turn.
    unsafe fn by_old_hash(&self, name: &[u8]) -> Option<&libc::Elf64_Sym> {
        if self.old_hash.is_null() {
            return None;
        }
        // SAFETY: its second word is the number of symbols.
        unsafe {
            let count = *self.old_hash.add(1) as usize;
            (0..count).map(|index| &*self.symbols.add(index)).find(|symbol| self.defines(symbol, name))
        }
    }

    /// How many symbols it has, by the longest chain of its table.
    pub fn symbol_count(&self) -> usize {
        // SAFETY: the tables are laid out so.
        unsafe {
            if !self.old_hash.is_null() {
                return *self.old_hash.add(1) as usize;
            }
            if self.hash.is_null() {
                return 0;
            }
            let [buckets, start, words, _] = *self.hash.cast::<[u32; 4]>();
            let heads = self.hash.add(4 + 2 * words as usize);
            let chains = heads.add(buckets as usize);
            let mut last = (0..buckets as usize).map(|bucket| *heads.add(bucket)).max().unwrap_or(0);
            if last < start {
                return start as usize;
            }
            while *chains.add((last - start) as usize) & 1 == 0 {
                last += 1;
            }
            last as usize + 1
        }
    }
}
