//! A file prepared for display: its rows, which of them are added or removed, and their nodes. Rebuilt only when the
//! file changes.

use super::tokens::{HclLexState, HclLexer};
use authority::{LineChange, compare_lines};
use shared_protocol::{
    NodeId,
    terraform::{HclFile, HclSpan},
};
use std::ops::Range;

#[derive(Debug)]
pub(super) struct HclFileRows {
    pub(super) path: String,
    text: String,
    on_disk: Option<String>,
    pub(super) rows: Vec<HclRow>,
    pub(super) added: usize,
    pub(super) removed_count: usize,
    /// The node of each block, in order; line numbers start at one.
    spans: Vec<(Range<u32>, NodeId)>,
}

#[derive(Debug, Clone)]
pub(super) struct HclRow {
    pub(super) state: HclLineState,
    /// The range in its text.
    bytes: Range<usize>,
    pub(super) within: HclLexState,
    /// The line number, from one; of the old text for removed lines.
    pub(super) number: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HclLineState {
    Same,
    Added,
    Gone,
}

impl HclFileRows {
    pub(super) fn build(file: &HclFile, spans: &[HclSpan]) -> Self {
        let mut made = Self {
            path: file.path.clone(),
            text: file.text.clone(),
            on_disk: file.on_disk.clone(),
            rows: Vec::new(),
            added: 0,
            removed_count: 0,
            spans: Vec::new(),
        };
        made.rows = rows(&made.text, made.on_disk.as_deref().filter(|_| made.is_written()));
        made.added = made.rows.iter().filter(|row| row.state == HclLineState::Added).count();
        made.removed_count = made.rows.iter().filter(|row| row.state == HclLineState::Gone).count();
        made.assign_nodes(spans);
        made
    }

    pub(super) fn is_for(&self, file: &HclFile) -> bool {
        self.path == file.path && self.text == file.text && self.on_disk == file.on_disk
    }

    /// The nodes of blocks may change while the text stays.
    pub(super) fn assign_nodes(&mut self, spans: &[HclSpan]) {
        let own = spans.iter().filter(|span| span.file == self.path);
        self.spans = own.map(|span| (span.first..span.last.saturating_add(1), span.node)).collect();
        self.spans.sort_by_key(|(lines, _)| (lines.start, lines.end));
    }

    /// Returns whether the file exists in the workspace.
    pub(super) fn is_written(&self) -> bool {
        self.on_disk.as_deref() != Some("")
    }

    pub(super) fn differs(&self) -> bool {
        self.on_disk.is_some()
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn line(&self, row: &HclRow) -> &str {
        let text = if row.state == HclLineState::Gone {
            self.on_disk.as_deref().unwrap_or_default()
        } else {
            &self.text
        };
        text.get(row.bytes.clone()).unwrap_or_default()
    }

    /// The innermost block around a row.
    pub(super) fn owner(&self, row: &HclRow) -> Option<NodeId> {
        if row.state == HclLineState::Gone {
            return None;
        }
        let around = self.spans.iter().filter(|(lines, _)| lines.contains(&row.number));
        around.min_by_key(|(lines, _)| lines.len()).map(|(_, node)| *node)
    }

    pub(super) fn contains_node(&self, node: NodeId) -> bool {
        self.spans.iter().any(|(_, of)| *of == node)
    }

    /// The rows of a node's first block.
    pub(super) fn rows_of(&self, node: NodeId) -> Option<Range<usize>> {
        let (lines, _) = self.spans.iter().find(|(_, of)| *of == node)?;
        let at = |number: u32| {
            self.rows.iter().position(|row| row.state != HclLineState::Gone && row.number == number)
        };
        let first = at(lines.start)?;
        Some(first..at(lines.end.saturating_sub(1)).map_or(self.rows.len(), |last| last + 1))
    }
}

fn rows(text: &str, on_disk: Option<&str>) -> Vec<HclRow> {
    let new = lines(text);
    let Some(old) = on_disk.map(lines) else {
        return (0..new.len()).map(|place| new.row(place, HclLineState::Same)).collect();
    };
    compare_lines(&old.text, &new.text)
        .into_iter()
        .map(|line| match line {
            LineChange::Same(place) => new.row(place, HclLineState::Same),
            LineChange::Added(place) => new.row(place, HclLineState::Added),
            LineChange::Removed(place) => old.row(place, HclLineState::Gone),
        })
        .collect()
}

struct RemovedLines<'a> {
    text: Vec<&'a str>,
    bytes: Vec<Range<usize>>,
    within: Vec<HclLexState>,
}

impl RemovedLines<'_> {
    fn len(&self) -> usize {
        self.text.len()
    }

    fn row(&self, place: usize, is: HclLineState) -> HclRow {
        HclRow {
            state: is,
            bytes: self.bytes[place].clone(),
            within: self.within[place],
            number: u32::try_from(place + 1).unwrap_or(u32::MAX),
        }
    }
}

fn lines(text: &str) -> RemovedLines<'_> {
    let mut follower = HclLexer::default();
    let mut cut = RemovedLines { text: Vec::new(), bytes: Vec::new(), within: Vec::new() };
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
        let made = HclFileRows::build(&file, &[span(1, 4, 1), span(3, 4, 2)]);
        let shown: Vec<_> = made.rows.iter().map(|row| (row.state, made.line(row))).collect();
        use HclLineState::{Added, Gone, Same};
        assert_eq!(shown, [(Same, "one"), (Gone, "two"), (Added, "new"), (Same, "three"), (Added, "four")]);
        assert_eq!((made.added, made.removed_count), (2, 1));
        let owners: Vec<_> = made.rows.iter().map(|row| made.owner(row)).collect();
        let (outer, inner) = (Some(node(1)), Some(node(2)));
        assert_eq!(owners, [outer, None, outer, inner, inner]);
        assert_eq!((made.rows_of(node(2)), made.rows_of(node(9))), (Some(3..5), None));
        assert!(made.is_for(&file) && made.contains_node(node(2)) && !made.contains_node(node(9)));
    }

    #[test]
    fn a_file_that_is_not_there_yet_has_no_differences_to_show() {
        let file =
            HclFile { path: "main.tf".to_owned(), text: "one\n".to_owned(), on_disk: Some(String::new()) };
        let made = HclFileRows::build(&file, &[]);
        assert!(made.differs() && !made.is_written());
        assert_eq!((made.rows.len(), made.added), (1, 0));
    }
}
