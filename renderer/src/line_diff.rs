//! A line diff. Common lines at both ends are skipped; the rest is compared line by line up to a limit, and replaced
//! as a whole beyond it.

/// The maximum product of old and new lines to compare.
const MAX_COMPARED_PAIRS: usize = 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiffLine {
    /// In both texts; the index in the new text.
    Same(usize),
    Added(usize),
    /// Only in the old text; the index in the old text.
    Gone(usize),
}

pub(crate) fn diff(old: &[&str], new: &[&str]) -> Vec<DiffLine> {
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[front..], &new[front..]);
    let back = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_middle, new_middle) = (&old_rest[..old_rest.len() - back], &new_rest[..new_rest.len() - back]);
    let mut lines: Vec<DiffLine> = (0..front).map(DiffLine::Same).collect();
    middle(old_middle, new_middle, front, &mut lines);
    lines.extend((new.len() - back..new.len()).map(DiffLine::Same));
    lines
}

fn middle(old: &[&str], new: &[&str], front: usize, lines: &mut Vec<DiffLine>) {
    if old.len().saturating_mul(new.len()) > MAX_COMPARED_PAIRS {
        lines.extend((0..old.len()).map(|place| DiffLine::Gone(front + place)));
        lines.extend((0..new.len()).map(|place| DiffLine::Added(front + place)));
        return;
    }
    // The length of the longest common subsequence of the remaining lines.
    let width = new.len() + 1;
    let mut shared = vec![0_u32; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            shared[a * width + b] = if old[a] == new[b] {
                shared[(a + 1) * width + b + 1] + 1
            } else {
                shared[(a + 1) * width + b].max(shared[a * width + b + 1])
            };
        }
    }
    let (mut a, mut b) = (0, 0);
    while a < old.len() || b < new.len() {
        if a < old.len() && b < new.len() && old[a] == new[b] {
            lines.push(DiffLine::Same(front + b));
            (a, b) = (a + 1, b + 1);
        } else if b == new.len()
            || (a < old.len() && shared[(a + 1) * width + b] >= shared[a * width + b + 1])
        {
            lines.push(DiffLine::Gone(front + a));
            a += 1;
        } else {
            lines.push(DiffLine::Added(front + b));
            b += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: &str) {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (old.split_whitespace().collect(), new.split_whitespace().collect());
        let found: Vec<String> = diff(&old, &new)
            .into_iter()
            .map(|line| match line {
                DiffLine::Same(at) => new[at].to_owned(),
                DiffLine::Added(at) => format!("+{}", new[at]),
                DiffLine::Gone(at) => format!("-{}", old[at]),
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
        let old: Vec<String> = (0..1_500).map(|number| format!("old {number}")).collect();
        let new: Vec<String> = (0..1_500).map(|number| format!("new {number}")).collect();
        let old: Vec<&str> = old.iter().map(String::as_str).collect();
        let new: Vec<&str> = new.iter().map(String::as_str).collect();
        let lines = diff(&old, &new);
        assert_eq!((lines.len(), lines[0], lines[2_999]), (3_000, DiffLine::Gone(0), DiffLine::Added(1_499)));
    }
}
