//! Which argument of a call in the source is which parameter.

use crate::signatures::IERROR;
use crate::words::{is_space, leading_name};
use crate::{Parameter, Unknown, parameters};

/// The parameters of a call, each with its argument.
pub(crate) fn matched(texts: Vec<String>, function: &str, fortran: bool) -> Result<Vec<(Parameter, String)>, Unknown> {
    let mut known = parameters(function, fortran).unwrap_or_default();
    if !fortran {
        if texts.len() != known.len() {
            let (given, wanted) = (texts.len(), known.len());
            let sentence = format!("the call of {function} has {given} arguments in the source, not {wanted}");
            return Err(Unknown::new(sentence));
        }
        return Ok(known.into_iter().zip(texts).collect());
    }
    let others =
        || Unknown::new(format!("the arguments of the call of {function} in the source are not those of the standard"));
    known.push(IERROR);
    let mut given: Vec<Option<String>> = vec![None; known.len()];
    for (at, text) in texts.into_iter().enumerate() {
        let (place, text) = match keyword(&text) {
            Some((name, text)) => (known.iter().position(|one| one.name == name), text.to_owned()),
            None => (Some(at), text),
        };
        let place = place.and_then(|place| given.get_mut(place)).ok_or_else(others)?;
        if place.replace(text).is_some() {
            return Err(others());
        }
    }
    // With the module mpi_f08 ierror need not be given.
    let pairs = known.into_iter().zip(given).filter(|(one, text)| text.is_some() || one.name != IERROR.name);
    pairs.map(|(one, text)| Ok((one, text.ok_or_else(others)?))).collect()
}

/// How an argument of Fortran names its parameter, in small letters, and what follows that.
fn keyword(text: &str) -> Option<(String, &str)> {
    let name = leading_name(text)?;
    let rest = text[name.len()..].trim_start_matches(is_space).strip_prefix('=')?;
    let value = rest.trim_start_matches(is_space);
    (!rest.starts_with('=')).then(|| (name.to_lowercase(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_fortran_may_be_given_by_their_names() {
        let given = |texts: &[&str]| {
            let texts = texts.iter().map(|text| (*text).to_owned()).collect();
            let pairs = matched(texts, "MPI_Barrier", true)?;
            Ok::<_, Unknown>(pairs.into_iter().map(|(one, text)| (one.name, text)).collect::<Vec<_>>())
        };
        let both = || vec![("comm", "c".to_owned()), ("ierror", "e".to_owned())];
        assert_eq!(given(&["c", "e"]), Ok(both()));
        assert_eq!(given(&["IERROR = e", "comm=c"]), Ok(both()));
        assert_eq!(given(&["c"]), Ok(vec![("comm", "c".to_owned())]));
        for wrong in [&["tag=c", "e"][..], &["c", "comm=c"], &["ierror=e"], &["c", "e", "f"]] {
            assert!(given(wrong).is_err(), "{wrong:?}");
        }
    }
}
