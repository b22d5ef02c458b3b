//! What the tables say about one address.

use gimli::{CfaRule, Encoding, FrameDescriptionEntry, Register, RegisterRule, UnwindContext, UnwindSection};

use crate::Section;
use crate::tables::{Bases, Table};

/// An entry with more bytes than this is damage.
const LONGEST: usize = 1 << 20;

/// The rules by which a frame's caller is found.
#[derive(Debug)]
pub(crate) struct Row {
    /// The frame's canonical address.
    pub cfa: CfaRule<usize>,
    /// Registers that have rules.
    pub rules: Vec<(Register, RegisterRule<usize>)>,
    /// The register that stands for the return address.
    pub return_address: Register,
    /// Whether the code is a signal's trampoline.
    pub signal: bool,
    /// How expressions are written.
    pub encoding: Encoding,
    /// The table from which the expressions are.
    pub table: Table,
}

impl Row {
    /// The row of an entry that holds for an address of the file; `None` where it cannot be made.
    pub fn new<T: UnwindSection<Section>>(
        entry: &FrameDescriptionEntry<Section>,
        section: &T,
        table: Table,
        bases: &Bases,
        address: u64,
    ) -> Option<Self> {
        if entry.entry_len() > LONGEST || entry.cie().entry_len() > LONGEST || entry.cie().address_size() != 8 {
            return None;
        }
        let mut context = UnwindContext::new();
        let row = entry.unwind_info_for_address(section, bases, &mut context, address).ok()?;
        Some(Self {
            cfa: row.cfa().clone(),
            rules: row.registers().cloned().collect(),
            return_address: entry.cie().return_address_register(),
            signal: entry.is_signal_trampoline(),
            encoding: entry.cie().encoding(),
            table,
        })
    }

    /// The rule of a register.
    pub fn rule(&self, register: Register) -> Option<&RegisterRule<usize>> {
        self.rules.iter().find(|(known, _)| *known == register).map(|(_, rule)| rule)
    }
}
