//! Sort keys for names in natural order: symbols before digits before letters, ignoring case.

/// Returns the sort key of a text. Texts that differ only in case sort lower case first.
pub(crate) fn key(text: &str) -> Vec<u32> {
    let mut key: Vec<u32> = text.chars().flat_map(char::to_lowercase).map(weight).collect();
    key.push(1);
    key.extend(text.chars().map(|c| 2 + u32::from(c.is_uppercase())));
    key
}

/// Returns the weight of a character, above the separators that [`key`] adds, in three classes.
fn weight(c: char) -> u32 {
    let class = if c.is_alphabetic() {
        3
    } else if c.is_numeric() {
        2
    } else {
        1
    };
    (class << 24) | c as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_does_not_tear_names_apart() {
        let mut names = ["Threat", "ADR", "Actor", "actor", "A-1", "A1", "a_1", "Component"];
        names.sort_by_key(|name| key(name));
        assert_eq!(names, ["A-1", "a_1", "A1", "actor", "Actor", "ADR", "Component", "Threat"]);
    }
}
