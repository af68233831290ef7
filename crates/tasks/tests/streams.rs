//! Streams are deterministic, kept apart, and the same on every platform.

use palimpsest_tasks::{Batch, Stream, find, tasks};
use std::collections::HashSet;

#[test]
fn streams_repeat_and_differ_where_they_should() {
    for task in tasks() {
        let settings = task.defaults();
        let training = Stream::training(*task, settings, 7);
        assert_eq!(training.row(3, 5), Stream::training(*task, settings, 7).row(3, 5));
        assert_ne!(training.row(3, 5), Stream::training(*task, settings, 8).row(3, 5));
        assert_ne!(training.row(3, 5), training.row(3, 6));
        assert_ne!(training.row(3, 5), training.row(4, 5));
        assert_ne!(training.row(3, 5), training.row(5, 3));
    }
}

#[test]
fn no_held_out_example_is_trained_on() {
    for task in tasks() {
        let settings = task.defaults();
        let held_out: HashSet<Vec<u32>> = (0..512).map(|index| Stream::held_out(*task, settings).example(index).tokens).collect();
        assert_eq!(held_out.len(), 512);
        for seed in 0..3 {
            let training = Stream::training(*task, settings, seed);
            let seen: HashSet<Vec<u32>> = (0..40).flat_map(|step| (0..64).map(move |row| training.row(step, row).tokens)).collect();
            assert_eq!(seen.len(), 40 * 64, "{}: no example comes twice", task.slug());
            assert!(seen.is_disjoint(&held_out), "{}", task.slug());
        }
    }
}

#[test]
fn batches_hold_the_rows_of_their_step() {
    for task in tasks() {
        let (settings, rows) = (task.defaults(), 3);
        let stream = Stream::training(*task, settings, 1);
        let batch = stream.batch(9, rows);
        let examples: Vec<_> = (0..rows as u64).map(|row| stream.row(9, row)).collect();
        assert_eq!(batch, Batch::pack(&examples));
        assert_eq!(batch.tokens.len(), rows * settings.length());
        let labels = task.labels_per_example(&settings);
        assert_eq!((batch.rows.len(), batch.targets.len()), (rows * labels, rows * labels));
        for (index, (row, target)) in batch.rows.iter().zip(&batch.targets).enumerate() {
            let label = examples[index / labels].labels[index % labels];
            assert_eq!(*row as usize, index / labels * settings.length() + label.position as usize);
            assert_eq!(*target, label.target);
        }
        let held_out = Stream::held_out(*task, settings);
        assert_eq!(held_out.batch_from(5, 2), Batch::pack([held_out.example(5), held_out.example(6)]));
    }
}

/// These numbers must never change: results of one version could not be compared with another's.
#[test]
fn the_first_held_out_example_is_known() {
    let task = find("mqar").unwrap();
    let settings = task.defaults().with("length", 16.0);
    assert_eq!(Stream::held_out(task, settings).example(0).tokens, [4, 58, 9, 62, 31, 38, 8, 39, 9, 0, 31, 0, 4, 0, 8, 0]);
}
