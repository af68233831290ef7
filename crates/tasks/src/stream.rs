//! Seeded, unlimited streams of examples.

use crate::{Batch, Example, Task, TaskSettings};
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// Examples of one task. Any example can be drawn alone, in any order, and is the same on every platform.
#[derive(Clone, Copy)]
pub struct Stream {
    task: &'static dyn Task,
    settings: TaskSettings,
    purpose: Purpose,
    seed: u64,
}

/// Keeps the streams apart.
#[derive(Clone, Copy)]
enum Purpose {
    Training = 1,
    HeldOut = 2,
}

impl Stream {
    /// Training examples: a function of task, settings, seed, step and row.
    pub fn training(task: &'static dyn Task, settings: TaskSettings, seed: u64) -> Stream {
        Stream { task, settings, purpose: Purpose::Training, seed }
    }

    /// Held-out examples: a function of task, settings and index only, so the same for every rule and seed.
    pub fn held_out(task: &'static dyn Task, settings: TaskSettings) -> Stream {
        Stream { task, settings, purpose: Purpose::HeldOut, seed: 0 }
    }

    /// The task.
    pub fn task(&self) -> &'static dyn Task {
        self.task
    }

    /// The task's settings.
    pub fn settings(&self) -> &TaskSettings {
        &self.settings
    }

    /// Example `index` of a held-out stream; of a training stream, row 0 of step `index`.
    pub fn example(&self, index: u64) -> Example {
        self.draw(index, 0)
    }

    /// Row `row` of the batch of training step `step`.
    pub fn row(&self, step: u64, row: u64) -> Example {
        self.draw(step, row)
    }

    /// The batch of a training step: rows `0..rows`.
    pub fn batch(&self, step: u64, rows: usize) -> Batch {
        Batch::pack((0..rows as u64).map(|row| self.draw(step, row)))
    }

    /// Examples `first..first + rows` as a batch.
    pub fn batch_from(&self, first: u64, rows: usize) -> Batch {
        Batch::pack((0..rows as u64).map(|row| self.example(first + row)))
    }

    fn draw(&self, index: u64, row: u64) -> Example {
        let mut seed = [0; 32];
        // Pcg64 forces the lowest bit of the third word to 1, so nothing may stand there
        let words = [index, row, (self.purpose as u64) << 1, self.seed];
        for (bytes, word) in seed.chunks_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        // neighbouring seeds give related first numbers: a second generator, seeded by the first, does not
        let mut rng = Pcg64::from_rng(&mut Pcg64::from_seed(seed));
        self.task.sample(&self.settings, &mut rng)
    }
}
