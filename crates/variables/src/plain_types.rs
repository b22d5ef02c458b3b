//! The arithmetic types of C by their words, in whatever order they are written, and what they are where no debug information
//! has them.

use target::{PointerWidth, TargetAbi};

/// The bytes of a type, and whether it has a sign; `None` for one that is not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plain {
    pub name: &'static str,
    pub bytes: u64,
    pub signed: bool,
    pub truth: bool,
    pub number: bool,
}

const NUMBER: Plain = Plain { name: "", bytes: 0, signed: true, truth: false, number: true };

/// The words of a type in the order in which we look for them: `long unsigned int` and `unsigned long` are one. Other names as
/// they are.
pub(crate) fn in_one_way(name: &str) -> String {
    let (mut unsigned, mut signed, mut short, mut long, mut base) = (false, false, 0, 0, None);
    for word in name.split_ascii_whitespace() {
        match word {
            "unsigned" if !unsigned => unsigned = true,
            "signed" if !signed => signed = true,
            "short" if short == 0 => short = 1,
            "long" if long < 2 => long += 1,
            "int" | "char" | "double" | "float" if base.is_none() => base = Some(word),
            _ => return name.to_owned(),
        }
    }
    let sign = if unsigned { "unsigned " } else { "" };
    match (base, short, long) {
        (Some("char"), 0, 0) if signed => "signed char".to_owned(),
        (Some("char"), 0, 0) => format!("{sign}char"),
        (None | Some("int"), 1, 0) => format!("{sign}short"),
        (None | Some("int"), 0, 1) => format!("{sign}long"),
        (None | Some("int"), 0, 2) => format!("{sign}long long"),
        (Some("int"), 0, 0) => format!("{sign}int"),
        (None, 0, 0) if unsigned || signed => format!("{sign}int"),
        (Some("double"), 0, 1) if !unsigned && !signed => "long double".to_owned(),
        _ => name.to_owned(),
    }
}

/// A type of C by its words in one way, where no debug information has it.
pub(crate) fn plain(name: &str, abi: TargetAbi) -> Option<Plain> {
    let long = abi.pointer_width.bytes();
    let (name, bytes, signed) = match name {
        "char" => ("char", 1, true),
        "signed char" => ("signed char", 1, true),
        "unsigned char" => ("unsigned char", 1, false),
        "short" => ("short", 2, true),
        "unsigned short" => ("unsigned short", 2, false),
        "int" => ("int", 4, true),
        "unsigned int" => ("unsigned int", 4, false),
        "long" => ("long", long, true),
        "unsigned long" => ("unsigned long", long, false),
        "long long" => ("long long", 8, true),
        "unsigned long long" => ("unsigned long long", 8, false),
        "size_t" => ("size_t", long, false),
        "bool" => return Some(Plain { name: "bool", bytes: 1, signed: false, truth: true, ..NUMBER }),
        "_Bool" => return Some(Plain { name: "_Bool", bytes: 1, signed: false, truth: true, ..NUMBER }),
        "float" => return Some(Plain { name: "float", bytes: 4, number: false, ..NUMBER }),
        "double" => return Some(Plain { name: "double", bytes: 8, number: false, ..NUMBER }),
        "long double" if abi.pointer_width == PointerWidth::Eight => {
            return Some(Plain { name: "long double", bytes: 16, number: false, ..NUMBER });
        }
        _ => return None,
    };
    Some(Plain { name, bytes, signed, ..NUMBER })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_any_order() {
        for (name, wanted) in [
            ("long unsigned int", "unsigned long"),
            ("unsigned", "unsigned int"),
            ("short int", "short"),
            ("long long unsigned int", "unsigned long long"),
            ("signed", "int"),
            ("char signed", "signed char"),
            ("long long long", "long long long"),
            ("long double", "long double"),
            ("MPI_Comm", "MPI_Comm"),
            ("unsigned float", "unsigned float"),
        ] {
            assert_eq!(in_one_way(name), wanted);
        }
        assert_eq!(plain("unsigned long", TargetAbi::LITTLE_64).map(|found| found.bytes), Some(8));
        assert_eq!(plain("MPI_Comm", TargetAbi::LITTLE_64), None);
    }
}
