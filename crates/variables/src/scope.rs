//! What the names of a source mean in a frame.

use std::rc::Rc;
use std::sync::Arc;

use calls::Unknown;
use calls::expression::{Scope, Value as Given};
use gimli::constants as dw;

use crate::die::{Die, File};
use crate::frame::{Context, FrameFacts, Memory, function_at, gone};
use crate::hosts::{blocks, host};
use crate::info::DebugInfo;
use crate::limits::{LONGEST_NAME, MOST_HOPS};
use crate::lookup::{Lookup, Wanted, files, is_class};
use crate::members::{base_named, base_of, has_member, member};
use crate::plain_types::{in_one_way, plain};
use crate::types::{Real, Type};
use crate::value::Value;
use crate::variable::value_of;

/// More stars has no cast.
const MOST_POINTERS: usize = 16;

/// What names mean in a frame.
pub struct FrameScope {
    context: Rc<Context>,
    /// All of the frame, from the inside.
    all_blocks: Vec<Die>,
    /// Those of the function, from the inside; the last is the function itself.
    blocks: Vec<Die>,
    /// What the function stands in, from the inside.
    around: Vec<Die>,
    /// The units of its code and of its source.
    units: Vec<Die>,
}

/// What a name was found to be.
enum Found {
    Nothing,
    Value(Value),
}

impl FrameScope {
    /// What names mean in the frame `frame` of a function in the file `info`.
    ///
    /// `others` are the other files that the process has loaded, each with what is added to its addresses. `inlined` is which of
    /// the functions that were inlined at this place: 0 the innermost, as many as there are for the function itself. `fortran`
    /// is whether the expressions are those of Fortran.
    ///
    /// # Errors
    /// Where the debug information does not have the function.
    pub fn new(
        info: Arc<DebugInfo>,
        frame: Rc<FrameFacts>,
        others: Vec<(Arc<DebugInfo>, u64)>,
        inlined: usize,
        fortran: bool,
        memory: Rc<dyn Memory>,
    ) -> Result<Self, Unknown> {
        let file = Rc::new(File { info, bias: frame.bias });
        let function = function_at(&file, frame.pc)
            .ok_or_else(|| Unknown::new("there is no debug information for the code of this frame"))?;
        let context = Rc::new(Context::new(frame, memory, Rc::new(files(&file, others)), fortran, Some(function)));
        context.begin();
        let all = blocks(&context);
        let is_inlined = |die: &Die| die.tag() == Some(dw::DW_TAG_inlined_subroutine);
        // Where each function begins, from the outside.
        let mut begins = vec![0];
        begins.extend(all.iter().enumerate().filter(|(_, die)| is_inlined(die)).map(|(at, _)| at));
        let which = begins.len().checked_sub(inlined + 1);
        let which = which.ok_or_else(|| Unknown::new("no such function was inlined here"))?;
        let begin = begins.get(which).copied().unwrap_or(0);
        let end = begins.get(which + 1).copied().unwrap_or(all.len());
        let mut own = all.get(begin..end).unwrap_or_default().to_vec();
        own.reverse();
        let mut all_blocks = all;
        all_blocks.reverse();
        let function = own.last().cloned().ok_or_else(gone)?;
        let declared = function.first_declared();
        let mut around = declared.parents(context.end());
        around.reverse();
        let mut units = vec![function.clone()];
        // Link-time optimisation describes the source in another unit than the code.
        for one in function.origins() {
            if !units.iter().any(|unit| unit.unit.start == one.unit.start) {
                units.push(one);
            }
        }
        Ok(Self { context, all_blocks, blocks: own, around, units })
    }

    fn lookup(&self) -> Lookup<'_> {
        Lookup { context: &self.context, units: &self.units }
    }

    fn value(&self, die: &Die) -> Result<Found, Unknown> {
        Value::new(&self.context, value_of(&self.context, die)?).map(Found::Value)
    }

    fn in_blocks(&self, name: &str, wanted: Wanted) -> Option<Die> {
        self.blocks.iter().find_map(|block| self.lookup().in_block(block, name, wanted))
    }

    fn found(&self, name: &str) -> Result<Found, Unknown> {
        let lookup = self.lookup();
        let simple = !name.contains("::");
        if simple {
            if let Some(die) = self.in_blocks(name, Wanted::Value) {
                return self.value(&die);
            }
            if let Found::Value(value) = self.captured(name)? {
                return Ok(Found::Value(value));
            }
        }
        for outer in &self.around {
            match outer.tag() {
                Some(dw::DW_TAG_subprogram | dw::DW_TAG_lexical_block) if simple => {
                    if let Found::Value(value) = self.of_host(outer, name)? {
                        return Ok(Found::Value(value));
                    }
                }
                _ if is_class(outer) => {
                    if let Found::Value(value) = self.of_object(name)? {
                        return Ok(Found::Value(value));
                    }
                    if let Some(die) = self.of_class(outer, name, 0) {
                        return self.value(&die);
                    }
                }
                Some(dw::DW_TAG_namespace | dw::DW_TAG_module) => {
                    if let Some(die) = self.of_space(outer, name, Wanted::Value) {
                        return self.value(&die);
                    }
                }
                _ => {}
            }
        }
        // The class of a function is not written down where it is declared elsewhere; its object is.
        if let Found::Value(value) = self.of_object(name)? {
            return Ok(Found::Value(value));
        }
        match self.global(name, Wanted::Value) {
            Some(die) => self.value(&die),
            None => lookup.is_complete().map(|()| Found::Nothing),
        }
    }

    /// What stands outside of all functions, classes and namespaces.
    fn global(&self, name: &str, wanted: Wanted) -> Option<Die> {
        let lookup = self.lookup();
        if let Some(found) = lookup.qualified(name, wanted) {
            return Some(found);
        }
        let roots = || self.units.iter().map(|unit| unit.other(unit.unit.header.root_offset()));
        if name.contains("::") {
            let mut places = self.blocks.iter().cloned().chain(self.around.iter().cloned()).chain(roots());
            let imported = places.find_map(|place| lookup.through_imports(&place, name, wanted));
            let inline = || lookup.without_inline(name, wanted);
            return imported.or_else(inline).or_else(|| lookup.in_space_named(name, wanted));
        }
        roots().find_map(|root| lookup.in_entry(&root, name, wanted, 0))
    }

    /// What stands in a namespace or module.
    fn of_space(&self, space: &Die, name: &str, wanted: Wanted) -> Option<Die> {
        let lookup = self.lookup();
        if !name.contains("::") {
            return lookup.in_space(space, name, wanted, 0);
        }
        lookup.qualified(&format!("{}::{name}", space.qualified_name()?), wanted)
    }

    /// A static member of a class, an enumerator or a type in it, or in those that it is derived from.
    fn of_class(&self, class: &Die, name: &str, depth: usize) -> Option<Die> {
        let lookup = self.lookup();
        let class = class.completed(&self.context.files).unwrap_or_else(|| class.clone());
        if let Some(prefix) = class.qualified_name()
            && let Some(found) = lookup.qualified(&format!("{prefix}::{name}"), Wanted::Value)
        {
            return Some(found);
        }
        if depth > MOST_HOPS {
            return None;
        }
        let bases = |die: &Die, entry: &crate::die::Entry| {
            let base = if entry.tag() == dw::DW_TAG_inheritance { Type::of(die).bare() } else { Type::Void };
            if let Type::Die(base) = base { self.of_class(&base, name, depth + 1) } else { None }
        };
        class.child(self.context.end(), bases)
    }

    /// A member of the object that the function belongs to.
    fn of_object(&self, name: &str) -> Result<Found, Unknown> {
        if name == "this" || self.context.fortran {
            return Ok(Found::Nothing);
        }
        let Some(this) = self.in_blocks("this", Wanted::Value) else { return Ok(Found::Nothing) };
        let Real::Pointer { target, .. } = Type::of(&this).real(&self.context, None)? else {
            return Ok(Found::Nothing);
        };
        let Real::Record(class) = target.real(&self.context, None)? else { return Ok(Found::Nothing) };
        // `Base::name`: that of a class that this one is derived from.
        let (base, name) = name.rsplit_once("::").map_or((None, name), |(base, name)| (Some(base), name));
        if base.is_none() && !has_member(&self.context, &class, name) {
            return Ok(Found::Nothing);
        }
        let object = || value_of(&self.context, &this)?.pointed_at(&self.context, &target, 0);
        let (class, held) = match base {
            None => (class, object()?.held),
            Some(base) => {
                let Some(place) = base_named(&self.context, &class, base) else { return Ok(Found::Nothing) };
                if !has_member(&self.context, &place, name) {
                    return Ok(Found::Nothing);
                }
                base_of(&self.context, &class, &object()?.held, &place)?.map(|held| (place, held)).ok_or_else(gone)?
            }
        };
        match member(&self.context, &class, &held, name)? {
            Some(raw) => Value::new(&self.context, raw).map(Found::Value),
            None => Ok(Found::Nothing),
        }
    }

    /// What a lambda has captured, where that has no variable of its own (gcc: a member `__name` of the closure).
    fn captured(&self, name: &str) -> Result<Found, Unknown> {
        if self.context.fortran {
            return Ok(Found::Nothing);
        }
        let Some(closure) = self.in_blocks("__closure", Wanted::Value) else { return Ok(Found::Nothing) };
        let Real::Pointer { target, .. } = Type::of(&closure).real(&self.context, None)? else {
            return Ok(Found::Nothing);
        };
        let Real::Record(class) = target.real(&self.context, None)? else { return Ok(Found::Nothing) };
        let own = format!("__{name}");
        let through_this = !has_member(&self.context, &class, &own);
        if through_this && !has_member(&self.context, &class, "__this") {
            return Ok(Found::Nothing);
        }
        let object = || value_of(&self.context, &closure)?.pointed_at(&self.context, &target, 0);
        if !through_this {
            let raw = member(&self.context, &class, &object()?.held, &own)?.ok_or_else(gone)?;
            return Value::new(&self.context, raw).map(Found::Value);
        }
        let this = member(&self.context, &class, &object()?.held, "__this")?.ok_or_else(gone)?;
        let Real::Pointer { target, .. } = this.real(&self.context)? else { return Ok(Found::Nothing) };
        let Real::Record(class) = target.real(&self.context, None)? else { return Ok(Found::Nothing) };
        if !has_member(&self.context, &class, name) {
            return Ok(Found::Nothing);
        }
        let object = this.pointed_at(&self.context, &target, 0)?;
        match member(&self.context, &class, &object.held, name)? {
            Some(raw) => Value::new(&self.context, raw).map(Found::Value),
            None => Ok(Found::Nothing),
        }
    }

    /// A variable of a function that this one stands in.
    fn of_host(&self, outer: &Die, name: &str) -> Result<Found, Unknown> {
        let lookup = self.lookup();
        if outer.unit.is_cxx() {
            // Functions of local classes see what lies at fixed addresses.
            let Some(die) = lookup.in_entry(outer, name, Wanted::Value, 0) else { return Ok(Found::Nothing) };
            let context = self.context.without_frame();
            let value = value_of(&context, &die).and_then(|raw| Value::new(&context, raw));
            return Ok(value.map_or(Found::Nothing, Found::Value));
        }
        let Some(host) = host(&self.context, &self.all_blocks, outer) else {
            return match lookup.in_entry(outer, name, Wanted::Value, 0) {
                Some(_) => Err(Unknown::new("the frame of the function around this one is not known")),
                None => Ok(Found::Nothing),
            };
        };
        let lookup = Lookup { context: &host.context, units: &self.units };
        for block in &host.blocks {
            if let Some(die) = lookup.in_block(block, name, Wanted::Value) {
                return Value::new(&host.context, value_of(&host.context, &die)?).map(Found::Value);
            }
        }
        Ok(Found::Nothing)
    }

    fn type_named(&self, name: &str) -> Option<Type> {
        if name.len() > LONGEST_NAME {
            return None;
        }
        self.context.begin();
        let bare = name.strip_prefix("::").unwrap_or(name);
        if bare == "void" {
            return Some(Type::Void);
        }
        let one = in_one_way(bare);
        let inside = || {
            if !bare.contains("::")
                && let Some(die) = self.in_blocks(bare, Wanted::Type)
            {
                return Some(die);
            }
            self.around.iter().find_map(|outer| match outer.tag() {
                Some(dw::DW_TAG_subprogram | dw::DW_TAG_lexical_block) => {
                    self.lookup().in_entry(outer, bare, Wanted::Type, 0)
                }
                Some(dw::DW_TAG_namespace | dw::DW_TAG_module) => self.of_space(outer, bare, Wanted::Type),
                _ if is_class(outer) => {
                    let prefix = outer.qualified_name()?;
                    self.lookup().qualified(&format!("{prefix}::{bare}"), Wanted::Type)
                }
                _ => None,
            })
        };
        let found = if bare == name && plain(&one, self.abi()).is_none() { inside() } else { None };
        let found = found.or_else(|| self.global(&one, Wanted::Type));
        found.map(Type::Die).or_else(|| plain(&one, self.abi()).map(Type::Plain))
    }

    fn abi(&self) -> target::TargetAbi {
        self.context.files.first().map_or(target::TargetAbi::LITTLE_64, |file| file.info.abi())
    }

    fn wanted(&self, type_name: &str, pointers: usize) -> Result<Type, Unknown> {
        let known = self.type_named(type_name).filter(|_| pointers <= MOST_POINTERS);
        let mut found = known.ok_or_else(|| Unknown::new(format!("no type {} is known here", cut(type_name))))?;
        for _ in 0..pointers {
            found = Type::Pointer(Rc::new(found));
        }
        Ok(found)
    }
}

/// A name as it is shown.
fn cut(name: &str) -> String {
    name.chars().take(60).collect()
}

impl Scope for FrameScope {
    type Typed = Value;

    fn variable(&self, name: &str) -> Result<Option<Value>, Unknown> {
        if name.len() > LONGEST_NAME {
            return Ok(None);
        }
        self.context.begin();
        let found = match name.strip_prefix("::") {
            Some(bare) => match self.global(bare, Wanted::Value) {
                Some(die) => self.value(&die)?,
                None => self.lookup().is_complete().map(|()| Found::Nothing)?,
            },
            None => self.found(name)?,
        };
        Ok(match found {
            Found::Value(value) => Some(value),
            Found::Nothing => None,
        })
    }

    fn has_type(&self, name: &str) -> Result<bool, Unknown> {
        Ok(self.type_named(name).is_some())
    }

    fn missing(&self, name: &str) -> Result<String, Unknown> {
        if self.context.memory.symbol(name).is_some() {
            let name = cut(name);
            return Ok(format!("{name} has no debug information that says its type; its address is &{name}"));
        }
        Ok(format!("no variable {} is visible here", cut(name)))
    }

    fn cast(&self, value: Given<Value>, type_name: &str, pointers: usize) -> Result<Given<Value>, Unknown> {
        let wanted = self.wanted(type_name, pointers)?;
        if !matches!(wanted.real(&self.context, None)?, Real::Pointer { .. } | Real::Number { .. }) {
            let name = cut(type_name);
            return Err(Unknown::new(format!("cannot cast to {name}: only pointers and integers can be cast")));
        }
        let number = match value {
            Given::Number(number) => number,
            Given::Typed(value) => value.plain()?,
        };
        Value::made(&self.context, wanted, number).map(Given::Typed)
    }

    fn size_of(&self, type_name: &str, pointers: usize) -> Result<i128, Unknown> {
        self.wanted(type_name, pointers)?.size(&self.context, None)
    }

    fn address_of_name(&self, name: &str) -> Result<Option<Value>, Unknown> {
        let Some(address) = self.context.memory.symbol(name) else { return Ok(None) };
        Value::made(&self.context, Type::Pointer(Rc::new(Type::Void)), address.into()).map(Some)
    }
}
