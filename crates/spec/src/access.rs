//! Typed access to settings.

use crate::words::{Backend, DecayForm, Form, Schedule, Theme};
use crate::{Settings, Value};
use palimpsest_rules::{Rule, default_rule, find};
use palimpsest_tasks::{Task, TaskSettings};

/// Declares readers of whole numbers.
macro_rules! sizes {
    ($($(#[$about:meta])* $name:ident)+) => {
        impl Settings {
            $($(#[$about])* pub fn $name(&self) -> usize {
                self.int(stringify!($name))
            })+
        }
    };
}

sizes! {
    /// Layers, L.
    layers
    /// Width of the residual stream, d.
    width
    /// Heads per layer, H.
    heads
    /// Key size per head, K.
    key
    /// Value size per head, V.
    value
    /// Hidden size of the SwiGLU as a multiple of the width; 0 is none.
    mlp
    /// Taps of the short convolution; 0 is none.
    conv
    /// Every how many layers one is full attention; 0 is never.
    attention_every
    /// Training steps.
    steps
    /// Sequences per step, B.
    batch
    /// Steps of warm-up.
    warmup
    /// Steps between evaluations.
    eval_every
    /// Held-out sequences of an evaluation.
    eval
    /// Tokens per chunk, C.
    chunk
    /// Seeds to train for each rule.
    seeds
}

impl Settings {
    /// The update rule.
    pub fn rule(&self) -> &'static Rule {
        find(self.word("rule")).unwrap_or_else(default_rule)
    }

    /// The task.
    pub fn task(&self) -> &'static dyn Task {
        self.task
    }

    /// The task's own settings; they pass its check.
    pub fn task_settings(&self) -> TaskSettings {
        self.task_settings
    }

    /// Tokens per sequence, T.
    pub fn length(&self) -> usize {
        self.task_settings.length()
    }

    /// Formula of the log-decay.
    pub fn decay(&self) -> DecayForm {
        DecayForm::of(self.word("decay"))
    }

    /// Whether the read passes a sigmoid gate.
    pub fn output_gate(&self) -> bool {
        self.number("output_gate") != 0.0
    }

    /// Highest learning rate.
    pub fn lr(&self) -> f64 {
        self.number("lr")
    }

    /// The learning rate after warm-up.
    pub fn schedule(&self) -> Schedule {
        Schedule::of(self.word("schedule"))
    }

    /// Largest norm of the gradient; 0 is none.
    pub fn clip(&self) -> f64 {
        self.number("clip")
    }

    /// Decoupled weight decay.
    pub fn weight_decay(&self) -> f64 {
        self.number("weight_decay")
    }

    /// Seed of first weights and training data.
    pub fn seed(&self) -> u64 {
        self.number("seed") as u64
    }

    /// How scans run.
    pub fn form(&self) -> Form {
        Form::of(self.word("form"))
    }

    /// What computes.
    pub fn backend(&self) -> Backend {
        Backend::of(self.word("backend"))
    }

    /// Whether the CPU was asked for.
    pub fn wants_cpu(&self) -> bool {
        self.backend() == Backend::Cpu
    }

    /// Bytes of all buffers of the run's model: an estimate, not less than they take.
    pub fn memory(&self) -> f64 {
        4.0 * crate::size::memory(self)
    }

    /// Keys that differ from their default and only the page reads: they change what is shown or which runs follow, not the run.
    pub fn only_for_the_page(&self) -> Vec<&'static str> {
        self.rows().iter().filter(|row| row.page_only && self.differs(row.key)).map(|row| row.key).collect()
    }

    /// Rules to train in turn; empty if none were chosen.
    pub fn rules_in_turn(&self) -> Vec<&'static Rule> {
        match self.get("rules") {
            Some(Value::Words(words)) => words.into_iter().filter_map(find).collect(),
            _ => Vec::new(),
        }
    }

    /// Lengths at which the benchmark measures scans; empty if none were chosen.
    pub fn lengths(&self) -> Vec<usize> {
        match self.get("lengths") {
            Some(Value::Words(words)) => words.into_iter().filter_map(|word| word.parse().ok()).collect(),
            _ => Vec::new(),
        }
    }

    /// Index of the layer that is shown, from 0.
    pub fn layer(&self) -> usize {
        self.int("layer").saturating_sub(1)
    }

    /// Index of the head that is shown, from 0.
    pub fn head(&self) -> usize {
        self.int("head").saturating_sub(1)
    }

    /// Index of the held-out example that is shown, from 0.
    pub fn sample(&self) -> u64 {
        self.number("sample") as u64
    }

    /// Colours of the page.
    pub fn theme(&self) -> Theme {
        Theme::of(self.word("theme"))
    }

    /// The same settings with another rule; unchanged if there is no such rule.
    pub fn with_rule(&self, slug: &str) -> Settings {
        let mut settings = self.clone();
        if let Some(rule) = find(slug) {
            settings.put("rule", Value::Word(rule.slug()));
            crate::check::repair(&mut settings, &[], &mut Vec::new());
        }
        settings
    }

    /// Moves to the next seed; after the last comes 0.
    pub fn next_seed(&mut self) {
        let next = (self.seed() as u32).wrapping_add(1);
        self.put("seed", Value::Number(f64::from(next)));
        if self.seeds() > 1 {
            crate::check::repair(self, &[], &mut Vec::new());
        }
    }

    /// The runs to train in turn: each chosen rule (or the one rule) with each of its seeds, rule by rule.
    pub fn in_turn(&self) -> Vec<Settings> {
        let chosen = self.rules_in_turn();
        let rules = if chosen.is_empty() { vec![self.rule()] } else { chosen };
        let mut runs = Vec::new();
        for rule in rules {
            let mut run = self.with_rule(rule.slug());
            run.put("rules", Value::Words(Vec::new()));
            run.put("seeds", Value::Number(1.0));
            for _ in 0..self.seeds() {
                runs.push(run.clone());
                run.next_seed();
            }
        }
        runs
    }
}
