//! Settings from a link or from the command line.

use crate::check::repair;
use crate::correction::{Correction, is_known_somewhere};
use crate::kind::near;
use crate::{Settings, VERSION};

/// Longest text that is read, in bytes: every setting at its longest takes a fifth of it.
const LONGEST: usize = 8192;
/// Most corrections that are listed.
const MOST: usize = 20;

impl Settings {
    /// Reads the query of a link, with or without its `?`. Never fails: what is out of range, misspelt or unknown becomes the
    /// nearest valid setting or is left out, and every such change is told.
    pub fn from_link(query: &str) -> (Settings, Vec<Correction>) {
        let mut notes = Vec::new();
        let query = query.trim().trim_start_matches('?');
        let read = shorten(query);
        if read.len() < query.len() {
            notes.push(Correction::too_long(query.len(), read.len()));
        }
        let mut settings = Settings::default();
        let mut pairs = merge(read, &mut notes);
        // the task decides which other names there are, so it comes first
        let misspelt = || pairs.iter().position(|(key, _)| !is_known_somewhere(key) && nearest_key(&settings, key) == Some("task"));
        if let Some(place) = pairs.iter().position(|(key, _)| key == "task").or_else(misspelt) {
            let (key, text) = pairs.remove(place);
            if key != "task" {
                notes.push(Correction::misspelt(&key, "task"));
            }
            settings.read("task", &text, &mut notes);
        }
        let pairs = name(&settings, pairs, &mut notes);
        for (key, text) in &pairs {
            settings.read(key, text, &mut notes);
        }
        repair(&mut settings, &pairs, &mut notes);
        if notes.len() > MOST {
            let rest = notes.len() - MOST;
            notes.truncate(MOST);
            notes.push(Correction::more(rest));
        }
        (settings, notes)
    }

    /// Reads settings for the command line: as [`Settings::from_link`], but any correction is an error.
    pub fn from_text_strict(text: &str) -> Result<Settings, Vec<Correction>> {
        match Settings::from_link(text) {
            (settings, notes) if notes.is_empty() => Ok(settings),
            (_, notes) => Err(notes),
        }
    }

    /// Stores the nearest value of a known key, the default where nothing is near.
    fn read(&mut self, key: &str, text: &str, notes: &mut Vec<Correction>) {
        let Some(row) = self.row(key) else { return };
        let value = match row.kind.read(text) {
            Ok((value, None)) => value,
            Ok((value, Some(wrong))) => {
                notes.push(Correction::moved(row.key, text, &wrong, &value));
                value
            }
            Err(wrong) => {
                notes.push(Correction::meaningless(row.key, text, &wrong, &row.default));
                row.default
            }
        };
        self.put(row.key, value);
    }
}

/// The longest part of `query` that is read: whole pairs where possible.
fn shorten(query: &str) -> &str {
    if query.len() <= LONGEST {
        return query;
    }
    let mut end = LONGEST;
    while !query.is_char_boundary(end) {
        end -= 1;
    }
    let head = &query[..end];
    head.rfind('&').map_or(head, |last| &head[..last])
}

/// Names and values without percent signs, each name once, in the order of first mention; without the version.
fn merge(query: &str, notes: &mut Vec<Correction>) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String, usize)> = Vec::new();
    for (key, value) in form_urlencoded::parse(query.as_bytes()) {
        let (key, value) = (key.trim(), value.trim().to_owned());
        match pairs.iter_mut().find(|(name, ..)| name == key) {
            Some((_, last, times)) => (*last, *times) = (value, *times + 1),
            None => pairs.push((key.to_owned(), value, 1)),
        }
    }
    let mut merged = Vec::new();
    for (key, value, times) in pairs {
        if times > 1 {
            notes.push(Correction::repeated(&key, times, &value));
        }
        if key != "v" {
            merged.push((key, value));
        } else if value != VERSION.to_string() {
            notes.push(Correction::version(&value));
        }
    }
    merged
}

/// Gives every pair the key of a row; what has none is told and left out.
fn name(settings: &Settings, pairs: Vec<(String, String)>, notes: &mut Vec<Correction>) -> Vec<(&'static str, String)> {
    let rows = settings.rows();
    let given: Vec<String> = pairs.iter().map(|(key, _)| key.clone()).collect();
    let mut named: Vec<(&'static str, String)> = Vec::new();
    for (key, text) in pairs {
        if let Some(row) = rows.iter().find(|row| row.key == key) {
            named.push((row.key, text));
            continue;
        }
        let meant = nearest_key(settings, &key).filter(|_| !is_known_somewhere(&key));
        // a value that is given under the right name, or by another slip of the pen, stands
        let free =
            |meant: &&str| *meant != "task" && given.iter().all(|other| other != meant) && named.iter().all(|(other, _)| other != meant);
        match meant.filter(free) {
            Some(meant) => {
                notes.push(Correction::misspelt(&key, meant));
                named.push((meant, text));
            }
            None => notes.push(Correction::unknown(&key, settings)),
        }
    }
    named
}

/// The key that a name is most likely a slip of the pen of.
fn nearest_key(settings: &Settings, name: &str) -> Option<&'static str> {
    near(&name.to_ascii_lowercase(), settings.rows().iter().map(|row| row.key))
}
