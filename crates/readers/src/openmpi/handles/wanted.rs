//! The structures that are read for handles.

use layouts::Structure;

/// By file.
pub const STRUCTURES: &[&[Structure]] = &[
    super::attributes::STRUCTURES,
    super::collective::STRUCTURES,
    super::communicator::STRUCTURES,
    super::datatype::STRUCTURES,
    super::epochs::STRUCTURES,
    super::errhandler::STRUCTURES,
    super::file::STRUCTURES,
    super::group::STRUCTURES,
    super::hints::STRUCTURES,
    super::in_use::STRUCTURES,
    super::info::STRUCTURES,
    super::message::STRUCTURES,
    super::object::STRUCTURES,
    super::ompio::STRUCTURES,
    super::one_sided::STRUCTURES,
    super::op::STRUCTURES,
    super::other_requests::STRUCTURES,
    super::request::STRUCTURES,
    super::schedule::STRUCTURES,
    super::session::STRUCTURES,
    super::status::STRUCTURES,
    super::topology::STRUCTURES,
    super::window::STRUCTURES,
];
