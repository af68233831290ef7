//! Constraints between settings.

use crate::correction::Correction;
use crate::size;
use crate::table::LAST_SEED;
use crate::{Settings, Value};

/// A setting that does not fit the others.
pub(crate) struct Misfit {
    pub(crate) key: &'static str,
    /// Follows "is".
    pub(crate) wrong: String,
    pub(crate) nearest: Value,
}

/// The first misfit, if any.
pub(crate) fn check(settings: &Settings) -> Result<(), Misfit> {
    settings.task.check(&settings.task_settings).map_err(|problem| Misfit {
        key: problem.key,
        wrong: problem.message,
        nearest: Value::Number(problem.nearest),
    })?;
    size::check(settings)?;
    seeds(settings)?;
    within(settings, "layer", "layers")?;
    within(settings, "head", "heads")
}

/// The seeds after the first must exist.
fn seeds(settings: &Settings) -> Result<(), Misfit> {
    let (first, last) = (settings.number("seed"), f64::from(LAST_SEED));
    let most = last - first + 1.0;
    if settings.number("seeds") <= most {
        return Ok(());
    }
    let wrong = format!("more than there are from seed={first} on, where {last} is the last");
    Err(Misfit { key: "seeds", wrong, nearest: Value::Number(most) })
}

/// What is shown must exist.
fn within(settings: &Settings, key: &'static str, count: &str) -> Result<(), Misfit> {
    let most = settings.number(count);
    if settings.number(key) <= most {
        return Ok(());
    }
    Err(Misfit { key, wrong: format!("out of range 1 to {most} for {count}={most}"), nearest: Value::Number(most) })
}

/// Moves values until all fit, and says so in `notes`. `given` holds what the person wrote, to be quoted.
pub(crate) fn repair(settings: &mut Settings, given: &[(&'static str, String)], notes: &mut Vec<Correction>) {
    // every misfit moves a value towards its minimum, where all fit; a bound all the same
    for _ in 0..64 {
        let Err(Misfit { key, wrong, nearest }) = check(settings) else { return };
        let before = settings.get(key).unwrap_or_else(|| nearest.clone());
        let text = given.iter().find(|(name, _)| *name == key).map(|(_, text)| text.as_str());
        let note = match text {
            Some(text) => Correction::moved(key, text, &wrong, &nearest),
            None if !settings.differs(key) => Correction::moved_default(key, &before, &wrong, &nearest),
            None => Correction::moved(key, &before.to_string(), &wrong, &nearest),
        };
        // one sentence per given value: the last says where it ended
        let about_value = format!("{key}=");
        notes.retain(|earlier| text.is_none() || earlier.key != key || !earlier.sentence.starts_with(&about_value));
        notes.push(note);
        settings.put(key, nearest);
    }
}
