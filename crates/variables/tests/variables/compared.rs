//! What we say of an expression beside what gdb says, and what the source says.

use std::collections::BTreeMap;

use calls::expression::{Evaluated, given_in_c, given_in_fortran};

use crate::stopped::{Asked, Stopped};

/// How many expressions were compared, and what came of it.
#[derive(Default, Debug)]
pub struct Counts {
    pub asked: usize,
    /// Both say the same value.
    pub equal: usize,
    /// Neither has one.
    pub unknown: usize,
    /// We have one that gdb has not.
    pub more: usize,
    /// gdb has one that we have not.
    pub fewer: usize,
    /// Compared with what the source says.
    pub truths: usize,
}

/// Compares all; the lines tell what is wrong.
pub fn compared(
    stopped: &Stopped,
    fortran: bool,
    what: &str,
    allowed: &dyn Fn(&Asked, &str) -> bool,
) -> (Counts, Vec<String>) {
    let infos = stopped.infos(&mut |_| {});
    let (mut counts, mut wrong) = (Counts::default(), Vec::new());
    let times = stopped.asked.iter().fold(BTreeMap::<_, usize>::new(), |mut times, asked| {
        *times.entry((asked.function.clone(), asked.text.clone())).or_default() += 1;
        times
    });
    for asked in &stopped.asked {
        counts.asked += 1;
        let key = (asked.function.clone(), asked.text.clone());
        // A function that is there more than once has other values each time.
        let truth = stopped.truth.get(&key).filter(|_| times.get(&key) == Some(&1));
        let given = stopped.scope(&infos, asked, fortran).and_then(|scope| {
            let no_constant = |_: &str| Ok(None);
            if fortran {
                given_in_fortran(&asked.text, &scope, &no_constant)
            } else {
                given_in_c(&asked.text, &scope, &no_constant)
            }
        });
        let ours = match &given {
            Ok(Evaluated { number, place, .. }) => format!("{number} at {place:?}"),
            Err(unknown) => unknown.to_string(),
        };
        let line = || {
            format!("{what} {} (frame {}): {}: ours {ours}; gdb {}", asked.function, asked.frame, asked.text, asked.gdb)
        };
        if let (Ok(given), Some(truth)) = (&given, truth) {
            counts.truths += 1;
            if given.number != *truth {
                wrong.push(format!("WRONG {} but it is {truth}", line()));
                continue;
            }
        }
        let mut words = asked.gdb.split(' ');
        let kind = words.next().unwrap();
        let number: Option<i128> = words.next().and_then(|word| word.parse().ok());
        let place: Option<i128> = words.next().and_then(|word| word.parse().ok());
        match (&given, kind) {
            (Ok(given), "array" | "pointer" | "number") => {
                let same_place = given.place == place || given.place.is_none() || place.is_none();
                if Some(given.number) == number && same_place {
                    counts.equal += 1;
                } else if truth == Some(&given.number) {
                    counts.more += 1;
                    show("TRUER", &line());
                } else {
                    wrong.push(format!("DIFFERS {}", line()));
                }
            }
            // Fortran gives the address of everything.
            (Ok(given), "other") if fortran => {
                // The handle in a record, or its address.
                if Some(given.number) == place || given.place == place && truth == Some(&given.number) {
                    counts.equal += 1;
                } else {
                    wrong.push(format!("DIFFERS {}", line()));
                }
            }
            (Ok(_), _) => {
                counts.more += 1;
                show("MORE", &line());
            }
            (Err(_), "gone" | "error" | "other") => {
                counts.unknown += 1;
                show("UNKNOWN", &line());
            }
            // It is wrong.
            (Err(_), _) if truth.is_some() && truth.copied() != number => counts.unknown += 1,
            (Err(unknown), _) => {
                counts.fewer += 1;
                if !allowed(asked, &unknown.to_string()) {
                    wrong.push(format!("FEWER {}", line()));
                }
            }
        }
    }
    (counts, wrong)
}

/// For whoever looks at the differences: `MPI_QUEUES_SHOW=1 cargo test ... -- --nocapture`.
fn show(word: &str, line: &str) {
    if std::env::var_os("MPI_QUEUES_SHOW").is_some() {
        println!("{word} {line}");
    }
}
