//! Memory that was an object and has been given back.
//!
//! malloc writes over the first two words of what is freed, and with them over the class; the rest stays until somebody
//! else has the memory. Only what no chance makes counts as evidence: members that point to a class of the library or to
//! themselves, or that agree in several ways, together with a Fortran integer whose place in the library's table is
//! another's or empty (each destructor empties it: ompi/communicator/comm_init.c, ompi/win/win.c, ompi/file/file.c,
//! ompi/group/group_init.c, ompi/errhandler/errhandler.c, ompi/info/info.c, v4.1.4 and v5.0.7).

use super::kinds::Kind;
use super::{HandleReader, table};
use crate::ReaderError;
use crate::record::{Record, Slot, size_of};
use layouts::FieldKind;
use model::HandleKind;
use target::address::TargetAddr;
use target::{TargetError, printable};

/// What a freed object still says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remains {
    /// What shows that it was an object of its kind, in words.
    pub detail: String,
    /// Its name, where that is still there.
    pub name: Option<String>,
}

/// Members with the name, where it lies in the object itself.
const NAMES: &[(HandleKind, &str)] = &[(HandleKind::Comm, "c_name"), (HandleKind::Win, "w_name")];

/// The member that is an object of a class of its own, in kinds that have hints.
const INNER_CLASS: &str = "super.s_subscriber_table.super.obj_class";

/// What memory at `addr` without a class says of the object of `kind` that it was; `None` where nothing is certain.
///
/// # Errors
/// Where the library's tables cannot be read, or a structure is not known.
pub fn remains(reader: &HandleReader<'_>, kind: &Kind, addr: TargetAddr) -> Result<Option<Remains>, ReaderError> {
    let size = size_of(reader.layouts, kind.type_name)?;
    let record = match Record::owned(reader.target, addr, size) {
        Ok(record) => record,
        Err(error) if error.is_left_out() => return Err(error.into()),
        Err(_) => return Ok(None),
    };
    let memory = Memory { reader, kind, record: record.view() };
    let shown = match kind.kind {
        HandleKind::Comm | HandleKind::File | HandleKind::Session | HandleKind::Win => memory.had_hints()?,
        HandleKind::Errhandler => memory.was_errhandler()?,
        HandleKind::Group => memory.was_group()?,
        HandleKind::Info => memory.was_info()?,
        HandleKind::Datatype if memory.was_datatype()? => {
            // It has no place in a table.
            let detail = "its memory still shows a datatype that has been taken apart".to_owned();
            return Ok(Some(Remains { detail, name: None }));
        }
        // Nothing of these was tried.
        _ => false,
    };
    if !shown {
        return Ok(None);
    }
    let index = memory.int(kind.index)?;
    // Only sessions leave their place as it was (`ompi_instance_destruct` in ompi/instance/instance.c, v5.0.7).
    let shown = match table::slot(reader, kind, index)? {
        Some(found) if found != addr => format!("the Fortran integer {index}, which is no longer its own"),
        Some(_) if kind.kind == HandleKind::Session => format!("its Fortran integer {index}"),
        _ => return Ok(None),
    };
    let name = memory.name()?;
    let called = name.as_ref().map_or_else(String::new, |name| format!("\"{name}\", "));
    let detail = format!("{called}its memory still shows {shown}");
    Ok(Some(Remains { detail, name }))
}

struct Memory<'a> {
    reader: &'a HandleReader<'a>,
    kind: &'a Kind,
    record: Record<'a>,
}

impl Memory<'_> {
    fn slot(&self, member: &str) -> Result<Slot, ReaderError> {
        Ok(Slot::resolve(self.reader.layouts, self.kind.type_name, member)?)
    }

    fn int(&self, member: &str) -> Result<i64, ReaderError> {
        Ok(self.record.int(self.slot(member)?))
    }

    fn pointer(&self, member: &str) -> Result<TargetAddr, ReaderError> {
        Ok(self.record.pointer(self.slot(member)?))
    }

    fn name(&self) -> Result<Option<String>, ReaderError> {
        let Some((_, member)) = NAMES.iter().find(|(kind, _)| *kind == self.kind.kind) else { return Ok(None) };
        let slot = self.slot(member)?;
        // A name behind a pointer has been given back as well.
        if slot.kind == FieldKind::Pointer {
            return Ok(None);
        }
        let name = printable(&self.record.text(slot, slot.size, self.reader.target)?);
        Ok(Some(name).filter(|name| !name.is_empty()))
    }

    /// The table of those who want to know of hints has its own class.
    fn had_hints(&self) -> Result<bool, ReaderError> {
        let class = self.reader.symbol("opal_hash_table_t_class")?;
        Ok(class.is_some() && Some(self.pointer(INNER_CLASS)?) == class)
    }

    /// The list is empty, which is two pointers to itself, and it is marked as freed.
    fn was_info(&self) -> Result<bool, ReaderError> {
        let sentinel = self.record.address_of(self.slot("super.super.opal_list_sentinel")?);
        let next = self.pointer("super.super.opal_list_sentinel.opal_list_next")?;
        let previous = self.pointer("super.super.opal_list_sentinel.opal_list_prev")?;
        Ok(next == sentinel && previous == sentinel && self.int("i_freed")? == 1)
    }

    /// Whether what the object points to is memory of the process; what a core file left out was that.
    fn is_mapped(&self, at: TargetAddr) -> bool {
        let read = self.reader.target.read_uint(at, 1);
        !at.is_null() && read.as_ref().map_or_else(TargetError::is_left_out, |_| true)
    }

    /// One way of storing members, a rank that can be, and where the members were.
    fn was_group(&self) -> Result<bool, ReaderError> {
        let storage = ["DENSE", "SPORADIC", "STRIDED", "BITMAP"];
        let flags = self.record.uint(self.slot("grp_flags")?);
        let stored = storage.iter().any(|word| flags == self.reader.flag(&format!("OMPI_GROUP_{word}")) && flags != 0);
        let (count, rank) = (self.int("grp_proc_count")?, self.int("grp_my_rank")?);
        let undefined = self.reader.layouts.constant("MPI_UNDEFINED").ok();
        let members = self.pointer("grp_proc_pointers")?;
        // Only dense groups have members of their own.
        let held = flags != self.reader.flag("OMPI_GROUP_DENSE") || self.is_mapped(members);
        Ok(stored && held && count > 0 && (Some(rank) == undefined || (0..count).contains(&rank)))
    }

    /// Everything that the destructors take away is gone, and all that is left can be (`__ompi_datatype_release` in
    /// ompi/datatype/ompi_datatype_create.c, `opal_datatype_destruct` in opal/datatype/opal_datatype_create.c, v4.1.4 and
    /// v5.0.7).
    fn was_datatype(&self) -> Result<bool, ReaderError> {
        for taken in ["super.desc.desc", "super.opt_desc.desc", "super.ptypes", "args", "packed_description"] {
            if self.record.uint(self.slot(taken)?) != 0 {
                return Ok(false);
            }
        }
        let name = self.slot("name")?;
        let flags = self.record.uint(self.slot("super.flags")?);
        let align = self.record.uint(self.slot("super.align")?);
        let (lb, ub) = (self.int("super.lb")?, self.int("super.ub")?);
        let unnamed = self.record.text(name, name.size, self.reader.target)?.is_empty();
        let made = flags & self.reader.flag("OPAL_DATATYPE_FLAG_DATA") != 0 || self.int("super.size")? == 0;
        let own = flags & self.reader.flag("OPAL_DATATYPE_FLAG_PREDEFINED") == 0;
        let possible = align.is_power_of_two() && align <= 64 && lb <= ub;
        Ok(self.int("id")? == -1 && self.int(self.kind.index)? == -1 && unnamed && made && own && possible)
    }

    /// A kind of object and the function for it, and no other; no name, which only the library's own have.
    fn was_errhandler(&self) -> Result<bool, ReaderError> {
        let functions = [("COMM", "eh_comm_fn"), ("FILE", "eh_file_fn"), ("WIN", "eh_win_fn")];
        let object = self.int("eh_mpi_object_type")?;
        let name = self.slot("eh_name")?;
        if !self.record.text(name, name.size, self.reader.target)?.is_empty() {
            return Ok(false);
        }
        let mut matching = 0;
        for (word, member) in functions {
            let wanted = self.reader.layouts.constant(&format!("OMPI_ERRHANDLER_TYPE_{word}"))? == object;
            let function = self.pointer(member)?;
            if wanted && !self.is_mapped(function) || !wanted && !function.is_null() {
                return Ok(false);
            }
            matching += i32::from(wanted);
        }
        Ok(matching == 1)
    }
}
