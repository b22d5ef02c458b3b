//! All columns of a table are as long as each other, and nothing grows without bound.

use super::graphs::{job, receiver, told};
use model::{Finding, Group, Operation, Queue, Verdict};
use overview::tables::tables;

#[test]
fn a_row_has_all_columns() {
    let world: Group = (0..50).map(Some).collect();
    let tables = told(&job((0..50).map(|rank| receiver(rank, 50, (rank + 1) % 50, 7, &world)).collect())).tables;
    let messages = serde_json::to_value(&tables.messages).expect("JSON");
    for (name, column) in messages.as_object().expect("columns") {
        assert!(name.ends_with("left_out") || column.as_array().expect("a column").len() == 50, "{name}");
    }
    let ranks = serde_json::to_value(&tables.ranks).expect("JSON");
    assert!(
        ranks.as_object().expect("columns").values().all(|column| column.as_array().is_some_and(|all| all.len() == 50))
    );
    let cells = serde_json::to_value(&tables.cells).expect("JSON");
    assert!(
        cells.as_object().expect("columns").values().all(|column| column.as_array().is_some_and(|all| all.len() == 50))
    );
    assert_eq!(tables.columns.len(), 1);
    assert_eq!(tables.messages.tag, vec![Some(5); 50]);
    assert_eq!(tables.strings.iter().filter(|one| *one == "MPI_Recv").count(), 1);
}

#[test]
fn of_a_flood_some_are_shown_and_the_rest_is_counted() {
    let world: Group = (0..2).map(Some).collect();
    let mut flooded = receiver(0, 2, 1, 7, &world);
    let one = |tag| Operation { desired_tag: Some(tag), internal: tag >= 299_990, ..Operation::default() };
    let operations = (0..300_000).map(one).collect();
    if let Some(first) = flooded.communicators.first_mut() {
        first.unexpected_messages = Queue { operations, ..Queue::default() }.into();
    }
    let tables = told(&job(vec![flooded, receiver(1, 2, 0, 7, &world)])).tables;
    // The receives of both ranks are there, whatever stands before them.
    assert_eq!(tables.messages.queue.iter().filter(|queue| **queue == 1).count(), 2);
    assert!(tables.messages.process.len() < 151_000);
    assert_eq!(tables.messages.process.len() + tables.messages.left_out, 300_002);
    assert_eq!(tables.messages.internal_left_out, 10);
    assert_eq!(tables.cells.unexpected[0], 300_000);
}

#[test]
fn where_there_is_no_room_for_all_messages_those_of_the_cause_are_there() {
    let world: Group = (0..2).map(Some).collect();
    let waiting = |rank: i64| {
        let mut process = receiver(rank, 2, 1, 7, &world);
        if let Some(first) = process.communicators.first_mut() {
            first.unexpected_messages = Queue { operations: vec![Operation::default(); 20], ..Queue::default() }.into();
        }
        process
    };
    let snapshot = job((0..8000).map(waiting).collect());
    let finding = Finding { ranks: vec![7999], ..Finding::default() };
    let messages = tables(&snapshot, &[finding], &Verdict::default(), &[]).messages;
    assert_eq!(messages.process.len(), 150_000);
    assert_eq!(messages.left_out, 8000 * 21 - 150_000);
    assert_eq!(messages.internal_left_out, 0);
    assert_eq!(messages.process.iter().filter(|process| **process == 7999).count(), 21);
}

#[test]
fn operations_of_the_mpi_library_are_counted_by_themselves() {
    let world: Group = (0..2).map(Some).collect();
    let mut waiting = receiver(0, 2, 1, 7, &world);
    if let Some(first) = waiting.communicators.first_mut() {
        let own = Operation { internal: true, ..Operation::default() };
        let mut operations = vec![own; 30_000];
        operations.push(Operation::default());
        first.unexpected_messages = Queue { operations, ..Queue::default() }.into();
    }
    let tables = told(&job(vec![receiver(1, 2, 0, 7, &world), waiting])).tables;
    let internal = &tables.internal;
    assert_eq!(internal.cell, [1]);
    assert_eq!((&*internal.sends, &*internal.receives, &*internal.unexpected), (&[0][..], &[0][..], &[30_000][..]));
    assert_eq!(tables.cells.unexpected[1], 30_001);
    assert_eq!((tables.messages.left_out, tables.messages.internal_left_out), (0, 0));
}

#[test]
fn a_name_of_any_length_is_cut() {
    let world: Group = (0..2).map(Some).collect();
    let mut long = receiver(0, 2, 1, 7, &world);
    long.host = Some("é".repeat(100_000).into());
    let tables = told(&job(vec![long])).tables;
    assert!(tables.strings.iter().all(|one| one.chars().count() <= 601));
}
