//! Whether two expressions name the same request.

use super::Waited;
use crate::expression::Object;
use model::SameObject;

/// Whether a call's request is among those that are waited for, and its place there.
pub(super) fn compared(
    object: Option<&Object>,
    address: Option<i64>,
    waited: &Waited<'_>,
) -> (SameObject, Option<i64>) {
    let single = waited.count == Some(1);
    // An element that the source names by a number, and no pointer that may have moved on, lies where it lay.
    let stays = object.is_some_and(|object| object.element.is_some());
    let begin = waited.argument.and_then(|argument| argument.value);
    if let (true, Some(address), Some(begin), Some(count)) = (stays, address, begin, waited.count) {
        let index = address.wrapping_sub(begin).checked_div_euclid(waited.width).unwrap_or(-1);
        let aligned = address.wrapping_sub(begin).rem_euclid(waited.width) == 0;
        if aligned && (0..count).contains(&index) {
            return (SameObject::Yes, Some(index));
        }
        if object.is_some_and(|object| !object.pointer) {
            return (SameObject::No, None);
        }
    }
    let (Some(object), Some(other)) = (object, waited.object.as_ref()) else { return (SameObject::Unknown, None) };
    if object.path != other.path {
        // Other words for another variable, but a pointer may lead to it all the same.
        let different = !object.pointer && !other.pointer;
        return (if different { SameObject::No } else { SameObject::Unknown }, None);
    }
    match (object.element, other.element) {
        (Some(own), Some(first)) => {
            let index = i64::try_from(own - first).unwrap_or(-1);
            if waited.count.is_some_and(|count| !(0..count).contains(&index)) {
                return (SameObject::No, None);
            }
            (SameObject::Yes, Some(index))
        }
        (None, None) if single => (SameObject::Yes, Some(0)),
        (None, _) if !single => (SameObject::Yes, None),
        _ => (SameObject::Unknown, None),
    }
}
