//! Text from outside as it can stand in a message.

/// Longest word that is quoted whole, in characters.
const LONGEST: usize = 40;

/// Text as it can be shown: characters that steer a terminal or turn the text around are replaced.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_format(c) { '\u{fffd}' } else { c }).collect()
}

/// Text as it can be shown, at most `most` characters of it; an ellipsis stands for the rest.
pub fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => printable(&text[..end]) + "…",
        None => printable(text),
    }
}

/// A word as it can be quoted in a sentence: printable and cut short.
pub fn quoted(word: &str) -> String {
    clipped(word, LONGEST)
}

/// Invisible characters that change direction or join others.
fn is_format(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_between_characters_and_short_text_is_not() {
        assert_eq!(quoted("word"), "word");
        assert_eq!(clipped("äöü", 3), "äöü");
        assert_eq!(clipped("äöü\u{1b}", 3), "äöü…");
        assert_eq!(quoted(&"ä".repeat(1 << 20)), "ä".repeat(40) + "…");
        assert_eq!(quoted("a\u{1b}\u{202e}"), "a\u{fffd}\u{fffd}");
    }
}
