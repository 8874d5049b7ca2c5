//! Compares two texts line by line, the way version control shows them.

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};

const CONTEXT_LINES: usize = 3;
/// The maximum product of differing lines before and after; larger changes are shown as all old lines and all new ones.
const MAX_COMPARED_PAIRS: usize = 4_000_000;

/// One line of a comparison, by its index in the text that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineChange {
    /// In both texts; the index is that of the new one.
    Same(usize),
    Added(usize),
    /// In the old text alone, with its index there.
    Removed(usize),
}

/// Compares lines; removed lines stand before the added ones that replace them.
pub fn compare_lines(old: &[&str], new: &[&str]) -> Vec<LineChange> {
    let head = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - head;
    let tail =
        old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let (old_middle, new_middle) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut lines: Vec<LineChange> = (0..head).map(LineChange::Same).collect();
    let ops = if old_middle.len().saturating_mul(new_middle.len()) > MAX_COMPARED_PAIRS {
        vec![DiffOp::Replace {
            old_index: 0,
            old_len: old_middle.len(),
            new_index: 0,
            new_len: new_middle.len(),
        }]
    } else {
        capture_diff_slices(Algorithm::Myers, old_middle, new_middle)
    };
    for op in ops {
        if op.tag() == DiffTag::Equal {
            lines.extend(op.new_range().map(|index| LineChange::Same(head + index)));
        } else {
            lines.extend(op.old_range().map(|index| LineChange::Removed(head + index)));
            lines.extend(op.new_range().map(|index| LineChange::Added(head + index)));
        }
    }
    lines.extend((new.len() - tail..new.len()).map(LineChange::Same));
    lines
}

/// Renders the differences with their surroundings. Empty when the texts are equal, and only then: a line's end is a part of the line.
pub fn unified_diff(path: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let lines = compare_lines(&old, &new);
    let is_near = |at: usize| {
        let window = at.saturating_sub(CONTEXT_LINES)..(at + CONTEXT_LINES + 1).min(lines.len());
        lines[window].iter().any(|line| !matches!(line, LineChange::Same(_)))
    };
    let mut out = format!("--- {path}\n+++ {path}\n");
    let (mut old_at, mut new_at, mut is_open) = (1, 1, false);
    for (at, line) in lines.iter().enumerate() {
        if is_near(at) {
            if !is_open {
                out.push_str(&format!("@@ -{old_at} +{new_at} @@\n"));
            }
            let (sign, text) = match *line {
                LineChange::Same(index) => (' ', new[index]),
                LineChange::Added(index) => ('+', new[index]),
                LineChange::Removed(index) => ('-', old[index]),
            };
            out.push(sign);
            out.push_str(text);
            if !text.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
        is_open = is_near(at);
        old_at += usize::from(!matches!(line, LineChange::Added(_)));
        new_at += usize::from(!matches!(line, LineChange::Removed(_)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown_with_its_surroundings() {
        let before: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let after = before.replace("10\n", "ten\n").replace("20\n", "20\n21\n");
        let shown = unified_diff("main.tf", &before, &after);
        assert!(shown.contains("@@ -7 +7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n"), "{shown}");
        assert!(shown.contains("@@ -18 +18 @@\n 18\n 19\n 20\n+21\n"), "{shown}");
        assert_eq!(unified_diff("x", "a\n", "a\n"), "");
        assert_eq!(unified_diff("x", "", "a\n"), "--- x\n+++ x\n@@ -1 +1 @@\n+a\n");
    }

    #[test]
    fn nothing_that_differs_is_left_out() {
        assert_eq!(unified_diff("x", "a\r\n", "a\n"), "--- x\n+++ x\n@@ -1 +1 @@\n-a\r\n+a\n");
        let end = unified_diff("x", "a\nb\n", "a\nb");
        assert!(end.ends_with(" a\n-b\n+b\n\\ No newline at end of file\n"), "{end}");
        let before: String = (1..=3_000).map(|line| format!("old {line}\n")).collect();
        let after: String = (1..=3_000).map(|line| format!("new {line}\n")).collect();
        let shown = unified_diff("x", &before, &after);
        assert_eq!(shown.lines().filter(|line| line.starts_with("+new")).count(), 3_000);
    }

    fn check(old: &str, new: &str, expected: &str) {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (old.split_whitespace().collect(), new.split_whitespace().collect());
        let found: Vec<String> = compare_lines(&old, &new)
            .into_iter()
            .map(|line| match line {
                LineChange::Same(at) => new[at].to_owned(),
                LineChange::Added(at) => format!("+{}", new[at]),
                LineChange::Removed(at) => format!("-{}", old[at]),
            })
            .collect();
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn what_came_and_what_went() {
        check("a b c", "a b c", "a b c");
        check("", "a b", "+a +b");
        check("a b", "", "-a -b");
        check("a b c", "a x c", "a -b +x c");
        check("a b c d", "a c d e", "a -b c d +e");
        check("a a b", "a b", "a -a b");
        check("x a y b z", "a b", "-x a -y b -z");
    }

    #[test]
    fn what_is_too_much_to_compare_is_replaced() {
        let old: Vec<String> = (0..2_500).map(|number| format!("old {number}")).collect();
        let new: Vec<String> = (0..2_500).map(|number| format!("new {number}")).collect();
        let old: Vec<&str> = old.iter().map(String::as_str).collect();
        let new: Vec<&str> = new.iter().map(String::as_str).collect();
        let lines = compare_lines(&old, &new);
        assert_eq!(
            (lines.len(), lines[0], lines[4_999]),
            (5_000, LineChange::Removed(0), LineChange::Added(2_499))
        );
    }
}
