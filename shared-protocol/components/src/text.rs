//! Detection of deceptive characters, which make a string look different from its content.

/// Returns whether a character is not allowed in trusted text: it reorders its neighbours, is invisible, or controls a
/// terminal. Joiners are allowed, because scripts and emoji need them.
pub fn invisible(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Replaces every such character with a visible mark and truncates the text to `most` characters.
pub fn visible_text(text: &str, most: usize) -> String {
    let mut shown: String =
        text.chars().take(most).map(|c| if invisible(c) { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tricks_become_visible_and_plain_text_stays() {
        assert_eq!(visible_text("a\u{202e}b\u{200b}c\u{feff}", 10), "a\u{fffd}b\u{fffd}c\u{fffd}");
        assert_eq!(visible_text("naïve\tשלום 👩\u{200d}🚀\n", 100), "naïve\tשלום 👩\u{200d}🚀\n");
        assert_eq!(visible_text("abcdef", 3), "abc…");
    }
}
