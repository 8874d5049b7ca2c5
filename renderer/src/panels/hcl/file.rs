//! A file made ready to be shown: its rows, which of them are new or would go, and whose they are. Made when the file
//! has changed and kept otherwise.

use super::tokens::{Follower, Within};
use authority::{LineChange, compare_lines};
use shared_protocol::{
    NodeId,
    terraform::{HclFile, HclSpan},
};
use std::ops::Range;

#[derive(Debug)]
pub(super) struct File {
    pub(super) path: String,
    text: String,
    on_disk: Option<String>,
    pub(super) rows: Vec<Row>,
    pub(super) added: usize,
    pub(super) gone: usize,
    /// Whose lines these are, in order; numbers from one.
    spans: Vec<(Range<u32>, NodeId)>,
}

#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) is: Is,
    /// Where it is in its text.
    bytes: Range<usize>,
    pub(super) within: Within,
    /// From one; that of the old text for what goes.
    pub(super) number: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Is {
    Same,
    Added,
    Gone,
}

impl File {
    pub(super) fn of(file: &HclFile, spans: &[HclSpan]) -> Self {
        let mut made = Self {
            path: file.path.clone(),
            text: file.text.clone(),
            on_disk: file.on_disk.clone(),
            rows: Vec::new(),
            added: 0,
            gone: 0,
            spans: Vec::new(),
        };
        made.rows = rows(&made.text, made.on_disk.as_deref().filter(|_| made.is_written()));
        made.added = made.rows.iter().filter(|row| row.is == Is::Added).count();
        made.gone = made.rows.iter().filter(|row| row.is == Is::Gone).count();
        made.belongs(spans);
        made
    }

    pub(super) fn is_of(&self, file: &HclFile) -> bool {
        self.path == file.path && self.text == file.text && self.on_disk == file.on_disk
    }

    /// Whose lines are whose may change while the text stays.
    pub(super) fn belongs(&mut self, spans: &[HclSpan]) {
        let own = spans.iter().filter(|span| span.file == self.path);
        self.spans = own.map(|span| (span.first..span.last.saturating_add(1), span.node)).collect();
        self.spans.sort_by_key(|(lines, _)| (lines.start, lines.end));
    }

    /// There is such a file already.
    pub(super) fn is_written(&self) -> bool {
        self.on_disk.as_deref() != Some("")
    }

    pub(super) fn differs(&self) -> bool {
        self.on_disk.is_some()
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn line(&self, row: &Row) -> &str {
        let text = if row.is == Is::Gone { self.on_disk.as_deref().unwrap_or_default() } else { &self.text };
        text.get(row.bytes.clone()).unwrap_or_default()
    }

    /// The innermost block around a row.
    pub(super) fn owner(&self, row: &Row) -> Option<NodeId> {
        if row.is == Is::Gone {
            return None;
        }
        let around = self.spans.iter().filter(|(lines, _)| lines.contains(&row.number));
        around.min_by_key(|(lines, _)| lines.len()).map(|(_, node)| *node)
    }

    pub(super) fn holds(&self, node: NodeId) -> bool {
        self.spans.iter().any(|(_, of)| *of == node)
    }

    /// The rows where a node's first block begins and ends.
    pub(super) fn rows_of(&self, node: NodeId) -> Option<Range<usize>> {
        let (lines, _) = self.spans.iter().find(|(_, of)| *of == node)?;
        let at = |number: u32| self.rows.iter().position(|row| row.is != Is::Gone && row.number == number);
        let first = at(lines.start)?;
        Some(first..at(lines.end.saturating_sub(1)).map_or(self.rows.len(), |last| last + 1))
    }
}

fn rows(text: &str, on_disk: Option<&str>) -> Vec<Row> {
    let new = lines(text);
    let Some(old) = on_disk.map(lines) else {
        return (0..new.len()).map(|place| new.row(place, Is::Same)).collect();
    };
    compare_lines(&old.text, &new.text)
        .into_iter()
        .map(|line| match line {
            LineChange::Same(place) => new.row(place, Is::Same),
            LineChange::Added(place) => new.row(place, Is::Added),
            LineChange::Removed(place) => old.row(place, Is::Gone),
        })
        .collect()
}

struct Cut<'a> {
    text: Vec<&'a str>,
    bytes: Vec<Range<usize>>,
    within: Vec<Within>,
}

impl Cut<'_> {
    fn len(&self) -> usize {
        self.text.len()
    }

    fn row(&self, place: usize, is: Is) -> Row {
        Row {
            is,
            bytes: self.bytes[place].clone(),
            within: self.within[place],
            number: u32::try_from(place + 1).unwrap_or(u32::MAX),
        }
    }
}

fn lines(text: &str) -> Cut<'_> {
    let mut follower = Follower::default();
    let mut cut = Cut { text: Vec::new(), bytes: Vec::new(), within: Vec::new() };
    let mut begin = 0;
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end_matches(['\n', '\r']);
        cut.text.push(line);
        cut.bytes.push(begin..begin + line.len());
        cut.within.push(follower.next(line));
        begin += whole.len();
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(bits: u64) -> NodeId {
        NodeId::from_bits(bits)
    }

    fn span(first: u32, last: u32, bits: u64) -> HclSpan {
        HclSpan { file: "main.tf".to_owned(), first, last, node: node(bits) }
    }

    #[test]
    fn rows_know_whose_they_are_and_where_a_block_stands() {
        let on_disk = Some("one\ntwo\nthree\n".to_owned());
        let file =
            HclFile { path: "main.tf".to_owned(), text: "one\nnew\nthree\nfour\n".to_owned(), on_disk };
        let made = File::of(&file, &[span(1, 4, 1), span(3, 4, 2)]);
        let shown: Vec<_> = made.rows.iter().map(|row| (row.is, made.line(row))).collect();
        use Is::{Added, Gone, Same};
        assert_eq!(shown, [(Same, "one"), (Gone, "two"), (Added, "new"), (Same, "three"), (Added, "four")]);
        assert_eq!((made.added, made.gone), (2, 1));
        let owners: Vec<_> = made.rows.iter().map(|row| made.owner(row)).collect();
        let (outer, inner) = (Some(node(1)), Some(node(2)));
        assert_eq!(owners, [outer, None, outer, inner, inner]);
        assert_eq!((made.rows_of(node(2)), made.rows_of(node(9))), (Some(3..5), None));
        assert!(made.is_of(&file) && made.holds(node(2)) && !made.holds(node(9)));
    }

    #[test]
    fn a_file_that_is_not_there_yet_has_no_differences_to_show() {
        let file =
            HclFile { path: "main.tf".to_owned(), text: "one\n".to_owned(), on_disk: Some(String::new()) };
        let made = File::of(&file, &[]);
        assert!(made.differs() && !made.is_written());
        assert_eq!((made.rows.len(), made.added), (1, 0));
    }
}
