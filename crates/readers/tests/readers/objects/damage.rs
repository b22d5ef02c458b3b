//! Damage in any word of the objects: the reader ends, does not panic, and what it does not know it does not say.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use made_up::share::words;
use model::{Handle, HandleKind, HandleState};
use serde_json::Value;
use target::address::TargetAddr;

use super::support::Objects;
use super::windows::{Window, rdma, sm};

/// What stands in a word in place of what was there.
pub fn garbage(at: TargetAddr) -> [u64; 9] {
    let patterns = [0, 1, 0x10, u64::MAX, 0x5a5a_5a5a_5a5a_5a5a, 0x7fff_ffff, 1 << 31, 0xffff_8000_0000_0000];
    [patterns[0], patterns[1], patterns[2], patterns[3], patterns[4], patterns[5], patterns[6], patterns[7], at.get()]
}

fn windows() -> Vec<Window> {
    let locks = ["lock_shared", "lock_none", "lock_exclusive"];
    vec![rdma("openmpi-4.1"), rdma("openmpi-5.0"), sm("openmpi-4.1", &locks), sm("openmpi-5.0", &locks)]
}

#[test]
#[ignore = "takes long"]
fn no_garbage_in_any_word_of_a_window_changes_in_silence_what_is_open() {
    for mut window in windows() {
        let whole = window.objects.describe(HandleKind::Win, window.win);
        // Words that are the facts themselves: what they say is what there is.
        let plain = plain_words(&window);
        for (number, (block, size)) in window.objects.blocks.clone().into_iter().enumerate() {
            for word in words(number, size as u64 / 8, 5) {
                let at = block.wrapping_add(8 * word);
                for value in garbage(at) {
                    let before = window.objects.get(at);
                    window.objects.put(at, &value.to_le_bytes());
                    let start = Instant::now();
                    let handle = window.objects.describe(HandleKind::Win, window.win);
                    assert!(start.elapsed() < Duration::from_secs(30), "{at}");
                    check_bounds(&handle);
                    assert!(plain.contains(&at) || same_or_told(&whole, &handle), "{at} = {value:#x}: {handle:?}");
                    window.objects.put(at, &before);
                }
            }
        }
    }
}

/// Words of which other values make sense as well: the kinds and groups of epochs, the locks, the number of processes.
fn plain_words(window: &Window) -> HashSet<TargetAddr> {
    let objects = &window.objects;
    let mut words = HashSet::new();
    let fields = [
        (
            "ompi_osc_rdma_module_t",
            &["all_sync.type", "all_sync.sync.pscw.group", "all_sync.epoch_active", "pw_group"][..],
        ),
        ("ompi_osc_rdma_module_t", &["outstanding_lock_array"][..]),
        ("ompi_osc_sm_module_t", &["start_group", "post_group", "outstanding_locks"][..]),
    ];
    for (type_name, names) in fields {
        for name in names {
            let at = objects.place(window.module, type_name, name).get();
            words.insert(TargetAddr::new(at / 8 * 8));
        }
    }
    words.insert(objects.place(window.group, "ompi_group_t", "grp_proc_count"));
    // The list of locks itself, and the kind of each.
    for (block, size) in &objects.blocks {
        let is_list = *size == 3 * 8 || *size == 3 * 4;
        let is_lock = *size as u64 == objects.layouts.size_of("ompi_osc_rdma_sync_t").unwrap();
        for word in 0..*size as u64 / 8 {
            if is_list || is_lock {
                words.insert(block.wrapping_add(8 * word));
            }
        }
    }
    words
}

/// Whether each fact about epochs is as it was, or is not known with a reason; or the window itself is doubted.
fn same_or_told(whole: &Handle, handle: &Handle) -> bool {
    let told = |fact: &str| handle.unknown.contains_key(fact) && handle.facts.get(fact) == Some(&Value::Null);
    let facts = ["component", "lock_all", "locks", "started", "posted", "epoch"];
    handle.state != HandleState::Live
        || facts.iter().all(|fact| handle.facts.get(*fact) == whole.facts.get(*fact) || told(fact))
}

/// What is said is printable and not more than there can be.
pub fn check_bounds(handle: &Handle) {
    let sentences = handle.problems.iter().map(String::as_str);
    let reasons = handle.unknown.values().filter_map(Value::as_str);
    for text in sentences.chain(reasons).chain([handle.summary.as_str()]) {
        assert!(text.len() < 500 && !text.chars().any(char::is_control), "{text:?}");
    }
    assert!(handle.problems.len() <= 101);
    assert!(serde_json::to_string(&handle.facts).unwrap().len() < 10_000, "{handle:?}");
}

#[test]
fn garbage_in_files_messages_and_operators_is_survived() {
    let kinds = [
        (HandleKind::File, "ompi_file_t", "ompi_file_f_to_c_table", "f_f_to_c_index"),
        (HandleKind::Message, "ompi_message_t", "ompi_message_f_to_c_table", "m_f_to_c_index"),
        (HandleKind::Op, "ompi_op_t", "ompi_op_f_to_c_table", "o_f_to_c_index"),
    ];
    for profile in ["openmpi-4.1", "openmpi-5.0"] {
        for (kind, type_name, table, index) in kinds {
            let mut objects = Objects::new(profile);
            let object = objects.object(type_name);
            objects.table(table, &[object], type_name, index);
            let size = objects.layouts.size_of(type_name).unwrap();
            for word in 0..size / 8 {
                let at = object.wrapping_add(8 * word);
                for value in garbage(at) {
                    let before = objects.get(at);
                    objects.put(at, &value.to_le_bytes());
                    check_bounds(&objects.describe(kind, object));
                    objects.put(at, &before);
                }
            }
        }
    }
}
