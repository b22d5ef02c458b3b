//! Programs of C, C++ and Fortran in all kinds of builds.

use crate::compared::compared;
use crate::stopped::{Asked, Build, stopped};

const LEVELS: [&str; 5] = ["-O0", "-Og", "-O1", "-O2", "-O3"];
const FORMS: [&str; 2] = ["-gdwarf-5", "-gdwarf-4"];

/// Compares a program in each build; at least so many of its expressions must be known in that without optimisation.
fn all_builds(compiler: &str, sources: &[&str], more: &[&str], expressions: &str, fortran: bool, known: usize) {
    let mut wrong = Vec::new();
    for form in FORMS {
        for level in LEVELS {
            let options: Vec<_> = [form, level].iter().chain(more).copied().collect();
            let build = Build { compiler, sources, options: &options, expressions };
            let what = format!("{compiler} {form} {level}");
            let stopped = stopped(&build, &format!("{expressions}{form}{level}{}", more.len()));
            let none = |_: &Asked| false;
            let (counts, found) = compared(&stopped, fortran, &what, &none);
            println!("{what}: {counts:?}");
            wrong.extend(found);
            if level == "-O0" {
                assert!(counts.equal + counts.more >= known, "{what}: {counts:?}");
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn programs_of_c() {
    all_builds("gcc", &["plain.c", "other.c"], &[], "plain.txt", false, 170);
}
