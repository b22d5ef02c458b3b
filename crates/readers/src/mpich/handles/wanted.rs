//! The structures that are read for handles.

use layouts::Structure;

/// By file.
pub const STRUCTURES: &[&[Structure]] = &[
    super::attributes::STRUCTURES,
    super::communicator::STRUCTURES,
    super::datatype::STRUCTURES,
    super::epochs::STRUCTURES,
    super::errhandler::STRUCTURES,
    super::file::STRUCTURES,
    super::group::STRUCTURES,
    super::info::STRUCTURES,
    super::list::STRUCTURES,
    super::message::STRUCTURES,
    super::op::STRUCTURES,
    super::other_requests::STRUCTURES,
    super::schedules::STRUCTURES,
    super::session::STRUCTURES,
    super::status::STRUCTURES,
    super::topology::STRUCTURES,
    super::window::STRUCTURES,
];
