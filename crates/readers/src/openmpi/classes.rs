//! Whether a profile fits an Open MPI.
//!
//! Open MPI describes every class of objects in memory: `opal_class_t` with the class's name and the size of its
//! objects, in static data that can be read before MPI_Init and in stripped libraries (opal/class/opal_object.h, releases
//! 4.1.4 and 5.0.7). `OBJ_CLASS_INSTANCE(T, ...)` defines it under the symbol `T_class`.

use crate::wanted::OPEN_MPI;
use layouts::{
    Chosen, Difference, LayoutSource, NoProfile, Profile, Verification, choose_profile, compare_abi, shipped_for,
};
use target::{Target, TargetError, printable};

/// Classes without which nothing can be said about a process. The library itself exports all of them.
const CORE: &[&str] = &[
    "opal_list_t",
    "opal_free_list_t",
    "opal_pointer_array_t",
    "ompi_request_t",
    "ompi_communicator_t",
    "ompi_group_t",
    "ompi_datatype_t",
    "mca_pml_base_request_t",
    "mca_pml_base_send_request_t",
    "mca_pml_base_recv_request_t",
];

/// Objects of the library and their types: the symbol table says their size.
const INSTANCES: &[(&str, &str)] = &[
    ("ompi_mpi_communicators", "opal_pointer_array_t"),
    ("mca_pml_base_send_requests", "opal_free_list_t"),
    ("mca_pml_base_recv_requests", "opal_free_list_t"),
    ("mca_pml_base_selected_component", "mca_pml_base_component_t"),
    ("mca_pml", "mca_pml_base_module_t"),
    ("mca_pml_ob1", "mca_pml_ob1_t"),
    ("mca_coll_libnbc_component", "ompi_coll_libnbc_component_t"),
    ("mca_btl_vader_component", "mca_btl_vader_component_t"),
    ("mca_btl_sm_component", "mca_btl_sm_component_t"),
];

/// How the names of types begin that belong to one component and that nothing else contains: where only such a one
/// differs, the profile is used without it. They change within a series (ompi/mca/part/persist/part_persist_request.h:
/// 688 bytes in 5.0.7, 712 with `real_dt_size` in 5.0.11).
/// btl vader has further fields where the library was configured for XPMEM or KNEM (opal/mca/btl/vader/btl_vader.h, v4.1.4).
const OF_ONE_COMPONENT: &[&str] =
    &["mca_part_persist_", "mca_ompio_", "mca_common_ompio_", "ompi_osc_", "mca_btl_vader_", "mca_btl_sm_"];

/// The shipped profile for an Open MPI of the given version that fits the process, without the types that changed
/// since the release that it was made from.
///
/// # Errors
/// Where none is for the version, or none of those fits: with every difference and the next command to type.
pub fn shipped(target: &dyn Target, version: (u64, u64, u64)) -> Result<Chosen, NoProfile> {
    choose_profile(OPEN_MPI.name, version, shipped_for(OPEN_MPI.name), |profile| verify_classes(target, profile))
}

/// Compares the sizes that a source gives for every type that readers use with those in the process: a program can carry
/// the structures of another build in its own debug information. `constants` is a profile of the same release series.
pub fn verify_source(target: &dyn Target, source: &dyn LayoutSource, constants: &Profile) -> Verification {
    let layout = |name: &&str| Some(((*name).to_owned(), source.type_layout(name).ok().flatten()?));
    let types = OPEN_MPI.types().iter().filter_map(layout).collect();
    verify_classes(target, &Profile { name: source.name(), target: target.abi(), types, ..constants.clone() })
}

/// Compares a profile with a process: byte order, pointer width, the size of every class that the process shows, and the
/// sizes of some well-known objects.
pub fn verify_classes(target: &dyn Target, profile: &Profile) -> Verification {
    let mut verification = Verification { profile: profile.name.clone(), needed: CORE, ..Verification::default() };
    compare_abi(target, profile, &mut verification);
    if !verification.differences.is_empty() {
        // Nothing that follows could be read.
        return verification;
    }
    for (type_name, layout) in &profile.types {
        match read_class(target, profile, type_name) {
            Some(Class::Size(size)) if size == layout.size => verification.checked.push(type_name.clone()),
            Some(Class::Size(size)) => {
                let (expected, found) = (format!("{} bytes", layout.size), format!("{size} bytes"));
                let difference = Difference { type_name: type_name.clone(), expected, found };
                if is_of_one_component(type_name) {
                    verification.left_out.push(difference);
                } else {
                    verification.differences.push(difference);
                }
            }
            Some(Class::Name(name)) => verification.differences.push(Difference {
                type_name: type_name.clone(),
                expected: format!("a class of the name {type_name:?}"),
                found: format!("a class of the name \"{name}\""),
            }),
            Some(Class::LeftOut(error)) => {
                verification.absent.push(type_name.clone());
                verification.unread.get_or_insert(error);
            }
            None => verification.absent.push(type_name.clone()),
        }
    }
    for (symbol_name, type_name) in INSTANCES {
        let Some(layout) = profile.types.get(*type_name) else { continue };
        // A symbol table need not say sizes.
        let size = target.symbol(symbol_name).ok().flatten().and_then(|symbol| symbol.size).filter(|size| *size > 0);
        match size {
            Some(size) if size == layout.size => verification.checked.push((*symbol_name).to_owned()),
            Some(size) => {
                let (expected, found) = (format!("{} bytes", layout.size), format!("{size} bytes"));
                if is_of_one_component(type_name) {
                    let type_name = (*type_name).to_owned();
                    verification.left_out.push(Difference { type_name, expected, found });
                } else {
                    let type_name = format!("{symbol_name} ({type_name})");
                    verification.differences.push(Difference { type_name, expected, found });
                }
            }
            None => {}
        }
    }
    verification
}

fn is_of_one_component(type_name: &str) -> bool {
    OF_ONE_COMPONENT.iter().any(|start| type_name.starts_with(start))
}

enum Class {
    Size(u64),
    /// The class is called otherwise: a wrong layout of `opal_class_t`, or not a class.
    Name(String),
    /// A core file or recording does not have its name, or reading was ended.
    LeftOut(TargetError),
}

/// The class of a type, where the process has one that can be read.
fn read_class(target: &dyn Target, profile: &Profile, type_name: &str) -> Option<Class> {
    let class = profile.types.get("opal_class_t")?;
    let (name_field, size_field) = (class.fields.get("cls_name")?, class.fields.get("cls_sizeof")?);
    let at = match target.symbol(&format!("{type_name}_class")) {
        Ok(found) => found?.addr,
        Err(error) if error.is_of_the_debugger() => return Some(Class::LeftOut(error)),
        Err(_) => return None,
    };
    let read = target
        .read_pointer(at.wrapping_add(name_field.offset))
        .and_then(|name| Ok((name, target.read_uint(at.wrapping_add(size_field.offset), size_field.size)?)));
    let (name_at, size) = match read {
        Ok(both) => both,
        Err(error) if error.is_left_out() || error.is_of_the_debugger() => return Some(Class::LeftOut(error)),
        Err(_) => return None,
    };
    // The dynamic linker has not come to this library yet.
    if name_at.is_null() {
        return None;
    }
    let name = match target.read_c_string(name_at, type_name.len() + 1) {
        Ok(name) => name,
        Err(error) if error.is_left_out() || error.is_of_the_debugger() => return Some(Class::LeftOut(error)),
        Err(_) => return Some(Class::Name("?".to_owned())),
    };
    Some(if name == type_name.as_bytes() { Class::Size(size) } else { Class::Name(printable(&name)) })
}
