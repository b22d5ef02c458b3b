//! The lines of text that Open MPI's plug-in adds to each operation.
//!
//! The first names the request; the next two say "Data: 8 instances of MPI datatype", where 8 is the size of the
//! datatype and not a count, and the datatype's name cut to four letters (open-mpi/ompi,
//! ompi/debuggers/ompi_msgq_dll.c, 4.1.4 and 5.0.7 alike). The request is worth keeping, the others mislead.

use model::Operation;

/// How the first line begins.
const REQUEST: [&str; 2] = ["Send: 0x", "Receive: 0x"];

/// Longest name that the plug-in leaves of a datatype's, in bytes.
const CUT_NAME: usize = 4;

/// Takes the request's address from the text, and leaves out what is wrong in it. Texts of other plug-ins stay.
pub fn tidy(operation: &mut Operation) {
    let lines: Vec<String> = operation.extra_text.iter().map(ToString::to_string).collect();
    let Some(first) = lines.first() else { return };
    let digits = REQUEST.iter().find_map(|begin| first.strip_prefix(begin));
    let Some(request) = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()) else { return };
    operation.request = Some(request);
    let kept = (1..).zip(&lines).map(|(number, line)| match number {
        1 => false,
        2 => !(line.starts_with("Data: ") && line.ends_with(" instances of MPI datatype")),
        3 => line.len() > CUT_NAME,
        _ => true,
    });
    let mut kept = kept.collect::<Vec<_>>().into_iter();
    operation.extra_text.retain(|_| kept.next().unwrap_or(true));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tidied(lines: &[&str]) -> (Option<u64>, Vec<String>) {
        let extra_text = lines.iter().map(|line| line.to_string().into()).collect();
        let mut operation = Operation { extra_text, ..Operation::default() };
        tidy(&mut operation);
        (operation.request, operation.extra_text.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_request_is_kept_and_the_wrong_count_and_name_are_not() {
        assert_eq!(tidied(&["Send: 0x7f10", "Data: 8 instances of MPI datatype", "MPI_"]), (Some(0x7f10), vec![]));
        let complete = tidied(&["Receive: 0x10", "Data transfer completed", "MPI_"]);
        assert_eq!(complete, (Some(0x10), vec!["Data transfer completed".to_owned()]));
    }

    #[test]
    fn texts_of_other_plug_ins_stay() {
        for lines in [&["Data: 8 instances of MPI datatype", "MPI_"][..], &["Send: somewhere"], &[]] {
            assert_eq!(tidied(lines), (None, lines.iter().map(ToString::to_string).collect()));
        }
    }
}
