//! The table of settings.

use crate::words::{Backend, DecayForm, Form, Schedule, Theme};
use crate::{Choice, Kind, Value};
use palimpsest_rules::{default_rule, rules};
use palimpsest_tasks::{TaskSetting, tasks};
use std::sync::LazyLock;

/// Most tokens per chunk that may be asked for. A backend whose longest chunk is shorter takes that instead.
pub const MOST_TOKENS_PER_CHUNK: u32 = 512;

/// The last seed.
pub(crate) const LAST_SEED: u32 = u32::MAX;

/// Most seeds of one setting, in the page (one after the other) as on the command line (together).
pub const MOST_SEEDS: u32 = 1024;

/// Where a setting belongs in the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// The update rule.
    Rule,
    /// The recall task and its sizes.
    Task,
    /// The model's sizes.
    Model,
    /// How it is trained and on what.
    Training,
    /// What is shown; changing it needs no new start.
    View,
}

impl Group {
    /// All groups in order.
    pub const ALL: [Group; 5] = [Group::Rule, Group::Task, Group::Model, Group::Training, Group::View];

    /// Its name in the page.
    pub fn label(self) -> &'static str {
        match self {
            Group::Rule => "Rule",
            Group::Task => "Task",
            Group::Model => "Model",
            Group::Training => "Training",
            Group::View => "View",
        }
    }
}

/// One setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Name in links and on the command line, as `lr`.
    pub key: &'static str,
    /// Name in the page, as `Learning rate`.
    pub label: &'static str,
    /// One sentence, with the symbol where there is one.
    pub help: &'static str,
    /// Where it belongs.
    pub group: Group,
    /// Range.
    pub kind: Kind,
    /// Value unless set.
    pub default: Value,
    /// Whether it is shown without asking for more.
    pub essential: bool,
    /// Whether changing it makes another run.
    pub needs_restart: bool,
    /// Whether only the page reads it: the command line does the same whatever its value.
    pub page_only: bool,
}

impl Row {
    fn new(group: Group, key: &'static str, label: &'static str, help: &'static str, kind: Kind, default: Value) -> Row {
        let view = group == Group::View;
        Row { key, label, help, group, kind, default, essential: false, needs_restart: !view, page_only: view }
    }

    fn essential(self) -> Row {
        Row { essential: true, ..self }
    }

    fn without_restart(self) -> Row {
        Row { needs_restart: false, ..self }
    }

    fn page_only(self) -> Row {
        Row { page_only: true, ..self }
    }
}

impl From<&TaskSetting> for Row {
    fn from(setting: &TaskSetting) -> Row {
        let TaskSetting { key, label, help, kind, default, essential } = *setting;
        Row { essential, ..Row::new(Group::Task, key, label, help, kind.into(), Value::Number(default)) }
    }
}

/// Lengths of the benchmark: wide enough apart for a logarithmic axis.
fn length_choices() -> Vec<Choice> {
    ["64", "128", "256", "512", "1024", "2048", "4096", "8192", "16384", "32768"].map(|word| Choice { word, label: word }).to_vec()
}

fn int(min: u32, max: u32, step: u32) -> Kind {
    Kind::Int { min, max, step }
}

fn float(min: f64, max: f64) -> Kind {
    Kind::Float { min, max, log: false }
}

fn log(min: f64, max: f64) -> Kind {
    Kind::Float { min, max, log: true }
}

fn rule_choices() -> Vec<Choice> {
    rules().iter().map(|rule| Choice { word: rule.slug(), label: rule.name() }).collect()
}

fn task_choices() -> Vec<Choice> {
    tasks().iter().map(|task| Choice { word: task.slug(), label: task.name() }).collect()
}

/// Every setting but those of tasks. The order is that of links and of the page.
pub(crate) static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| {
    use Group::{Model, Rule, Task, Training, View};
    use Value::{Number, Word, Words};
    vec![
        Row::new(
            Rule,
            "rule",
            "Update rule",
            "How a token changes the memory S.",
            Kind::Choice(rule_choices()),
            Word(default_rule().slug()),
        )
        .essential(),
        Row::new(
            Rule,
            "decay",
            "Decay",
            "Formula of the log-decay g, for rules that decay.",
            Kind::Choice(DecayForm::choices()),
            Word(DecayForm::ALL[0].word()),
        ),
        Row::new(
            Task,
            "task",
            "Task",
            "What is to be remembered and asked for.",
            Kind::Choice(task_choices()),
            Word(palimpsest_tasks::default().slug()),
        )
        .essential(),
        Row::new(Model, "layers", "Layers", "Layers, L, each a mixer and an MLP.", int(1, 24, 1), Number(2.0)).essential(),
        Row::new(Model, "width", "Width", "Width of the residual stream, d.", int(4, 1024, 4), Number(64.0)).essential(),
        Row::new(Model, "heads", "Heads", "Heads per layer, H, each with a memory of its own.", int(1, 16, 1), Number(2.0)).essential(),
        Row::new(Model, "key", "Key size", "Rows of the memory, K, per head.", int(4, 128, 4), Number(32.0)).essential(),
        Row::new(Model, "value", "Value size", "Columns of the memory, V, per head.", int(4, 128, 4), Number(32.0)).essential(),
        Row::new(Model, "mlp", "MLP", "Hidden size of the SwiGLU as a multiple of the width; 0 leaves it out.", int(0, 8, 1), Number(2.0)),
        Row::new(
            Model,
            "conv",
            "Short convolution",
            "Taps of the convolution before query, key and value; 0 leaves it out.",
            int(0, 8, 1),
            Number(4.0),
        ),
        Row::new(Model, "output_gate", "Output gate", "Whether the read passes a sigmoid gate.", Kind::Flag, Number(1.0)),
        Row::new(
            Model,
            "attention_every",
            "Full attention every",
            "Every how many layers one is full softmax attention; 0 is never.",
            int(0, 24, 1),
            Number(0.0),
        ),
        Row::new(Training, "steps", "Steps", "Training steps of the run.", int(1, 1_000_000, 1), Number(1500.0)).essential(),
        Row::new(Training, "batch", "Batch", "Sequences per step, B.", int(1, 1024, 1), Number(64.0)).essential(),
        Row::new(Training, "lr", "Learning rate", "Highest learning rate of AdamW.", log(1e-6, 1.0), Number(0.003)).essential(),
        Row::new(
            Training,
            "seed",
            "Seed",
            "First weights and training data follow from it; held-out data does not.",
            int(0, LAST_SEED, 1),
            Number(0.0),
        )
        .essential(),
        Row::new(Training, "warmup", "Warm-up", "Steps over which the learning rate rises.", int(0, 100_000, 1), Number(50.0)),
        Row::new(
            Training,
            "schedule",
            "Schedule",
            "The learning rate after warm-up.",
            Kind::Choice(Schedule::choices()),
            Word(Schedule::ALL[0].word()),
        ),
        Row::new(
            Training,
            "clip",
            "Gradient clipping",
            "Largest norm of the whole gradient; 0 turns clipping off.",
            float(0.0, 1000.0),
            Number(1.0),
        ),
        Row::new(Training, "weight_decay", "Weight decay", "Decoupled weight decay of AdamW.", float(0.0, 1.0), Number(0.01)),
        Row::new(Training, "eval_every", "Evaluate every", "Steps between evaluations.", int(1, 100_000, 1), Number(50.0)),
        Row::new(
            Training,
            "eval",
            "Held-out examples",
            "Sequences of each evaluation, n, the same for every rule and seed.",
            int(1, 16384, 1),
            Number(512.0),
        ),
        Row::new(
            Training,
            "form",
            "Form of the scan",
            "Token by token, or in chunks; both give the same result up to rounding.",
            Kind::Choice(Form::choices()),
            Word(Form::ALL[0].word()),
        ),
        Row::new(Training, "chunk", "Chunk", "Tokens per chunk, C, in the chunked form.", int(4, MOST_TOKENS_PER_CHUNK, 4), Number(16.0)),
        Row::new(
            Training,
            "backend",
            "Backend",
            "What computes: the GPU, or the CPU.",
            Kind::Choice(Backend::choices()),
            Word(Backend::ALL[0].word()),
        ),
        Row::new(
            Training,
            "rules",
            "Rules in turn",
            "Rules to train one after the other on the same task, sizes and seeds.",
            Kind::Words(rule_choices()),
            Words(Vec::new()),
        )
        .without_restart()
        .page_only(),
        Row::new(Training, "seeds", "Seeds", "Seeds to train for each rule, from the first on.", int(1, MOST_SEEDS, 1), Number(1.0))
            .without_restart(),
        Row::new(View, "layer", "Layer", "Layer whose memory is shown, from 1.", int(1, 24, 1), Number(1.0)),
        Row::new(View, "head", "Head", "Head whose memory is shown, from 1.", int(1, 16, 1), Number(1.0)),
        Row::new(View, "sample", "Sample", "Held-out example that is shown, from 0.", int(0, 1_000_000, 1), Number(0.0)),
        Row::new(
            View,
            "lengths",
            "Lengths",
            "Tokens per sequence, T, at which the benchmark measures scans.",
            Kind::Words(length_choices()),
            Words(vec!["64", "256", "1024"]),
        ),
        Row::new(View, "theme", "Theme", "Colours of the page.", Kind::Choice(Theme::choices()), Word(Theme::ALL[0].word())),
    ]
});
