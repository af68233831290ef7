//! What can be set about a task, and the values chosen.

/// Range of a setting. Numbers travel as f64; integers below 2^53 are exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SettingKind {
    /// Whole number: `min`, `min + step`, ... up to `max`.
    Int {
        /// Smallest.
        min: u32,
        /// Largest.
        max: u32,
        /// Distance between neighbours, 1 or more.
        step: u32,
    },
    /// Real number.
    Float {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// 0 or 1.
    Flag,
}

impl SettingKind {
    /// The allowed value nearest to `value`; the smallest for NaN.
    pub fn nearest(self, value: f64) -> f64 {
        match self {
            SettingKind::Int { min, max, step } => {
                let (low, step) = (f64::from(min), f64::from(step.max(1)));
                let last = ((f64::from(max) - low) / step).floor();
                // f64::max ignores NaN, so NaN becomes the smallest value
                low + step * ((value - low) / step).round().min(last).max(0.0)
            }
            SettingKind::Float { min, max } => value.min(max).max(min),
            SettingKind::Flag => f64::from(u8::from(value >= 0.5)),
        }
    }

    /// Whether `value` is allowed.
    pub fn allows(self, value: f64) -> bool {
        value.is_finite() && self.nearest(value) == value
    }
}

/// One setting of a task. `length` (T, tokens per sequence) is declared by every task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskSetting {
    /// Name in links and on the command line, as `pairs`.
    pub key: &'static str,
    /// Name in the page, as `Pairs`.
    pub label: &'static str,
    /// One sentence, with the symbol where there is one.
    pub help: &'static str,
    /// Range.
    pub kind: SettingKind,
    /// Value unless set.
    pub default: f64,
    /// Whether it is shown without asking for more.
    pub essential: bool,
}

/// Values of a task's settings. Small and `Copy`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskSettings {
    declared: &'static [TaskSetting],
    values: [f64; TaskSettings::MOST],
}

impl TaskSettings {
    /// Most settings a task may declare.
    pub const MOST: usize = 16;

    /// Every declared setting at its default.
    pub fn new(declared: &'static [TaskSetting]) -> TaskSettings {
        let mut values = [0.0; TaskSettings::MOST];
        for (value, setting) in values.iter_mut().zip(declared) {
            *value = setting.default;
        }
        TaskSettings { declared, values }
    }

    /// What is declared, in order.
    pub fn declared(&self) -> &'static [TaskSetting] {
        self.declared
    }

    /// The value of `key`, if the task declares it.
    pub fn get(&self, key: &str) -> Option<f64> {
        self.index(key).map(|index| self.values[index])
    }

    /// Sets `key` without checking the range; false if the task does not declare it.
    pub fn set(&mut self, key: &str, value: f64) -> bool {
        let index = self.index(key);
        if let Some(index) = index {
            self.values[index] = value;
        }
        index.is_some()
    }

    /// The same settings with `key` changed, as for a sweep over `length`. Unchanged if the task does not declare it.
    pub fn with(mut self, key: &str, value: f64) -> TaskSettings {
        self.set(key, value);
        self
    }

    /// A whole number; 0 for a key that the task does not declare.
    pub fn int(&self, key: &str) -> usize {
        // `as` saturates: a negative or NaN value becomes 0
        self.float(key) as usize
    }

    /// A real number; 0 for a key that the task does not declare.
    pub fn float(&self, key: &str) -> f64 {
        self.get(key).unwrap_or(0.0)
    }

    /// A flag; false for a key that the task does not declare.
    pub fn flag(&self, key: &str) -> bool {
        self.float(key) != 0.0
    }

    /// Tokens per sequence, T.
    pub fn length(&self) -> usize {
        self.int("length")
    }

    fn index(&self, key: &str) -> Option<usize> {
        self.declared.iter().take(TaskSettings::MOST).position(|setting| setting.key == key)
    }
}
