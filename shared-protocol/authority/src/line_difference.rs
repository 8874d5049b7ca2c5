//! A unified diff of two texts, line by line.

const AROUND: usize = 3;
/// The maximum number of line pairs to compare; a larger change is shown as all old lines, then all new ones.
const MOST_PAIRS: usize = 4_000_000;

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Both,
    Before,
    After,
}

/// Returns an empty text exactly when both texts are equal: the line ending is a part of the line.
pub fn difference(path: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let lines = compare(&old, &new);
    let is_near = |at: usize| {
        let window = at.saturating_sub(AROUND)..(at + AROUND + 1).min(lines.len());
        lines[window].iter().any(|(side, _)| *side != Side::Both)
    };
    let mut out = format!("--- {path}\n+++ {path}\n");
    let (mut old_at, mut new_at, mut is_open) = (1, 1, false);
    for (at, (side, line)) in lines.iter().enumerate() {
        if is_near(at) {
            if !is_open {
                out.push_str(&format!("@@ -{old_at} +{new_at} @@\n"));
            }
            let sign = match side {
                Side::Both => ' ',
                Side::Before => '-',
                Side::After => '+',
            };
            out.push(sign);
            out.push_str(line);
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
        is_open = is_near(at);
        old_at += usize::from(*side != Side::After);
        new_at += usize::from(*side != Side::Before);
    }
    out
}

/// Compares the lines between the equal head and the equal tail.
fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(Side, &'a str)> {
    let head = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let most = old.len().min(new.len()) - head;
    let tail =
        old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(one, other)| one == other).count();
    let (old_middle, new_middle) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut lines: Vec<(Side, &str)> = old[..head].iter().map(|line| (Side::Both, *line)).collect();
    if old_middle.len().saturating_mul(new_middle.len()) > MOST_PAIRS {
        lines.extend(old_middle.iter().map(|line| (Side::Before, *line)));
        lines.extend(new_middle.iter().map(|line| (Side::After, *line)));
    } else {
        lines.extend(common(old_middle, new_middle));
    }
    lines.extend(old[old.len() - tail..].iter().map(|line| (Side::Both, *line)));
    lines
}

fn common<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(Side, &'a str)> {
    let width = new.len() + 1;
    // `lengths[i, j]`: the length of the longest common subsequence of `old[i..]` and `new[j..]`.
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i * width + j] = if old[i] == new[j] {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push((Side::Both, old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j >= new.len()
            || (i < old.len() && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])
        {
            lines.push((Side::Before, old[i]));
            i += 1;
        } else {
            lines.push((Side::After, new[j]));
            j += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn only_what_differs_is_shown_with_its_surroundings() {
        let before: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let after = before.replace("10\n", "ten\n").replace("20\n", "20\n21\n");
        let shown = difference("main.tf", &before, &after);
        assert!(shown.contains("@@ -7 +7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n"), "{shown}");
        assert!(shown.contains("@@ -18 +18 @@\n 18\n 19\n 20\n+21\n"), "{shown}");
        assert_eq!(difference("x", "a\n", "a\n"), "");
        assert_eq!(difference("x", "", "a\n"), "--- x\n+++ x\n@@ -1 +1 @@\n+a\n");
    }

    #[test]
    fn nothing_that_differs_is_left_out() {
        assert_eq!(difference("x", "a\r\n", "a\n"), "--- x\n+++ x\n@@ -1 +1 @@\n-a\r\n+a\n");
        let end = difference("x", "a\nb\n", "a\nb");
        assert!(end.ends_with(" a\n-b\n+b\n\\ No newline at end of file\n"), "{end}");
        let before: String = (1..=3_000).map(|line| format!("old {line}\n")).collect();
        let after: String = (1..=3_000).map(|line| format!("new {line}\n")).collect();
        let shown = difference("x", &before, &after);
        assert_eq!(shown.lines().filter(|line| line.starts_with("+new")).count(), 3_000);
    }
}
