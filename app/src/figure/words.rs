//! Numbers as people read them.

use palimpsest_protocol::Evaluation;

/// `98.4 %` of a share.
pub(crate) fn percent(share: f64) -> String {
    let rounded = (share * 1000.0).round() / 10.0;
    // 99.96 % must not read as 100.0 %: a single wrong answer stays visible.
    let shown = if share < 1.0 { rounded.min(99.9) } else { rounded };
    format!("{shown:.1} %")
}

/// `n = 512, 97.0-99.2 %`: what the accuracy stands on.
pub(crate) fn percent_interval(evaluation: &Evaluation) -> String {
    let (low, high) = evaluation.interval;
    format!("n = {}, {:.1}–{:.1} %", evaluation.examples, low * 100.0, high * 100.0)
}

/// `4.2 s`, `1 min 20 s`, `2 h 05 min`.
pub(crate) fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "unknown".to_owned();
    }
    if seconds < 10.0 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// `75 264`: thousands apart by narrow spaces.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A rate: one decimal below ten, whole above.
pub(crate) fn rate(number: f64) -> String {
    if !number.is_finite() {
        return "–".to_owned();
    }
    if number < 10.0 { format!("{number:.1}") } else { count(number.round() as u64) }
}

/// Three significant digits, with a true minus.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "not a number".to_owned();
    }
    let size = value.abs();
    let text = if size == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e5).contains(&size) {
        format!("{size:.1e}")
    } else {
        let decimals = (2 - size.log10().floor() as i32).clamp(0, 5) as usize;
        format!("{size:.decimals$}")
    };
    if value < 0.0 { format!("\u{2212}{text}") } else { text }
}

/// A number beside a tick mark, without trailing zeros.
pub(crate) fn tick(value: f64) -> String {
    let text = number(value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn almost_all_is_not_all() {
        assert_eq!(percent(0.99996), "99.9 %");
        assert_eq!(percent(1.0), "100.0 %");
        assert_eq!(percent(0.984), "98.4 %");
        assert_eq!(percent(0.0), "0.0 %");
    }

    #[test]
    fn durations_fit_their_size() {
        assert_eq!(duration(4.21), "4.2 s");
        assert_eq!(duration(80.4), "1 min 20 s");
        assert_eq!(duration(7500.0), "2 h 05 min");
        assert_eq!(duration(f64::INFINITY), "unknown");
    }

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(number(0.123456), "0.123");
        assert_eq!(number(-12.3456), "\u{2212}12.3");
        assert_eq!(number(0.00001), "1.0e-5");
        assert_eq!(number(0.0), "0");
        assert_eq!((tick(100.0).as_str(), tick(0.5).as_str(), tick(4.0).as_str()), ("100", "0.5", "4"));
        assert_eq!(count(75264), "75\u{202f}264");
        assert_eq!(count(999), "999");
    }
}
