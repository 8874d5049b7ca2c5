//! Small operations on texts that people read.

/// Returns the text with its first letter in upper case.
pub fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Returns the text as a sentence: a capital at the start and a mark at the end.
pub fn sentence(text: &str) -> String {
    let mut sentence = capitalize(text);
    if !sentence.is_empty() && !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

/// `1 node`, `3 nodes`.
pub fn count_noun(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Returns the text up to a number of bytes, cut between characters and marked with `…` where it was longer.
pub fn truncate_bytes(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(max_bytes)])
}

/// Returns the text in a number of characters, the last of which is `…` where it was longer.
pub fn truncate_chars(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max_chars.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_as_people_write_them() {
        assert_eq!(capitalize("ärger"), "Ärger");
        assert_eq!(capitalize(""), "");
        assert_eq!(sentence("the board is missing"), "The board is missing.");
        assert_eq!(sentence("Really?"), "Really?");
        assert_eq!(
            (count_noun(1, "node"), count_noun(0, "node")),
            ("1 node".to_owned(), "0 nodes".to_owned())
        );
        assert_eq!(truncate_bytes("größe", 3), "gr…");
        assert_eq!(truncate_bytes("größe", 7), "größe");
        assert_eq!(truncate_chars("größe", 4), "grö…");
        assert_eq!(truncate_chars("größe", 5), "größe");
    }
}
