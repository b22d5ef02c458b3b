//! Damaged debug information: whatever it says, look-ups end, and nothing panics.

use made_up::rng::Rng;
use made_up::share;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use calls::expression::{Scope, Typed, given_in_c, given_in_fortran, of_c};
use variables::FrameScope;

use crate::stopped::{Build, Stopped, stopped};

/// Changes some bytes of a section, more of those that say much.
fn damage(sections: &mut BTreeMap<&'static str, Vec<u8>>, random: &mut Rng) {
    const OFTEN: [&str; 6] =
        [".debug_info", ".debug_info", ".debug_abbrev", ".debug_loclists", ".debug_rnglists", ".debug_addr"];
    let names: Vec<_> = sections.iter().filter(|(_, bytes)| !bytes.is_empty()).map(|(name, _)| *name).collect();
    for _ in 0..=random.index(12) {
        let often = OFTEN[random.index(OFTEN.len())];
        let name =
            if random.index(4) == 0 || !names.contains(&often) { names[random.index(names.len())] } else { often };
        let bytes = sections.get_mut(name).unwrap();
        let at = random.index(bytes.len());
        let length = 1 + random.index(4);
        for byte in bytes.iter_mut().skip(at).take(length) {
            *byte = match random.index(4) {
                0 => 0,
                1 => 0xff,
                2 => byte.wrapping_add(1),
                _ => random.next() as u8,
            };
        }
        if random.index(20) == 0 {
            bytes.truncate(at);
        }
        if bytes.is_empty() {
            return;
        }
    }
}

fn ask_everything(scope: &FrameScope, text: &str, fortran: bool) {
    let none = |_: &str| Ok(None);
    let _ = if fortran { given_in_fortran(text, scope, &none) } else { given_in_c(text, scope, &none) };
    if let Ok(calls::expression::Value::Typed(value)) = of_c(text, scope, &none, false) {
        let _ = (value.shape(), value.type_name(), value.number(), value.place(), value.size(), value.width());
        let _ = (value.member("x"), value.element(3), value.address(), value.moved(-1), value.handle());
        if let Ok(bounds) = value.bounds() {
            let low: Vec<_> = bounds.iter().map(|bounds| bounds.0).collect();
            let _ = value.at(&low);
        }
    }
    let _ = (scope.has_type(text), scope.size_of(text, 0), scope.missing(text));
}

fn rounds(stopped: &Stopped, fortran: bool, rounds: u64) {
    for round in 0..rounds {
        let mut random = Rng::new(0x9e37_79b9_7f4a_7c15 ^ (round + 1));
        let begin = Instant::now();
        let infos = stopped.infos(&mut |sections| damage(sections, &mut random));
        for asked in &stopped.asked {
            // A tenth of them, others in each round.
            if random.index(10) != 0 {
                continue;
            }
            if let Ok(scope) = stopped.scope(&infos, asked, fortran) {
                ask_everything(&scope, &asked.text, fortran);
            }
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "round {round} took {:?}", begin.elapsed());
    }
}

fn damaged(compiler: &str, sources: &[&str], options: &[&str], expressions: &str, fortran: bool) {
    for form in ["-gdwarf-5", "-gdwarf-4"] {
        let options: Vec<_> = [form].iter().chain(options).copied().collect();
        let build = Build { library: &[], compiler, sources, options: &options, expressions };
        let name = format!("damage-{expressions}-{form}");
        rounds(&stopped(&build, &name), fortran, share::rounds(12, 150));
    }
}

#[test]
#[ignore = "needs gdb"]
fn damage_of_c() {
    damaged("gcc", &["plain.c", "other.c"], &["-O2"], "plain.txt", false);
}

#[test]
#[ignore = "needs gdb"]
fn damage_of_what_was_given() {
    damaged("gcc", &["given.c", "other.c"], &["-O2", "-w"], "given.txt", false);
}

#[test]
#[ignore = "needs gdb"]
fn damage_of_cxx() {
    damaged("g++", &["classes.cpp", "classes_other.cpp"], &["-O1", "-std=c++17", "-w"], "classes.txt", false);
}

#[test]
#[ignore = "needs gdb"]
fn damage_of_fortran() {
    damaged(
        "gfortran",
        &["arrays.f90", "fortran_stop.c"],
        &["-O1", "-fallow-argument-mismatch", "-w"],
        "arrays.txt",
        true,
    );
}
