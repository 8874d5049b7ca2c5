//! The syntax tree of a document: the byte range of each value.

use super::{MAX_DEPTH, MAX_VALUES, read::YamlError};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

pub(super) struct Node {
    pub(super) start: usize,
    /// The end; for a block collection, the end of its last value.
    pub(super) end: usize,
    pub(super) kind: Kind,
    /// It has an anchor or a tag, so a change could affect its aliases.
    pub(super) decorated: bool,
}

pub(super) enum Kind {
    Scalar(ScalarStyle),
    Alias,
    List { flow: bool, items: Vec<Node> },
    Map { flow: bool, entries: Vec<Entry> },
}

pub(super) struct Entry {
    pub(super) key_text: Box<str>,
    pub(super) key: Node,
    pub(super) value: Node,
}

/// Parses a text that [`super::read`] accepts.
pub(super) fn tree(text: &str) -> Result<Node, YamlError> {
    let mut builder =
        Builder { text, offsets: Offsets::of(text), parser: Parser::new_from_str(text), values: 0 };
    loop {
        let (event, span) = builder.next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(_) => {}
            Event::StreamEnd | Event::DocumentEnd => {
                return Err(YamlError::at(span.start, "The file is empty"));
            }
            other => return builder.node(other, span, 0),
        }
    }
}

struct Builder<'a> {
    text: &'a str,
    offsets: Offsets,
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    values: usize,
}

impl<'a> Builder<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), YamlError> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(YamlError::at(*error.marker(), error.info().to_owned())),
            None => Err(YamlError::at(Marker::new(0, 1, 0), "The file ends too early")),
        }
    }

    /// Recursive; the depth limit bounds it.
    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, YamlError> {
        self.values += 1;
        if depth > MAX_DEPTH || self.values > MAX_VALUES {
            return Err(YamlError::at(span.start, "The file is nested too deeply or holds too many values"));
        }
        let start = self.offsets.byte(span.start);
        let mut end = self.offsets.byte(span.end);
        let is_flow = matches!(self.text.as_bytes().get(start), Some(b'[' | b'{'));
        let (kind, decorated) = match event {
            Event::Scalar(_, style, anchor, tag) => {
                if style == ScalarStyle::Literal || style == ScalarStyle::Folded {
                    // The span of the scanner includes the following line breaks and indentation.
                    end = start + self.text[start..end].trim_end().len();
                }
                (Kind::Scalar(style), anchor > 0 || tag.is_some())
            }
            Event::Alias(_) => (Kind::Alias, false),
            Event::SequenceStart(anchor, tag) => {
                let mut items = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if event == Event::SequenceEnd {
                        end = if is_flow { self.behind(']', span) } else { end_of(items.last(), end) };
                        break;
                    }
                    items.push(self.node(event, span, depth + 1)?);
                }
                (Kind::List { flow: is_flow, items }, anchor > 0 || tag.is_some())
            }
            Event::MappingStart(anchor, tag) => {
                let mut entries: Vec<Entry> = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if event == Event::MappingEnd {
                        let last = entries.last().map(|entry| &entry.value);
                        end = if is_flow { self.behind('}', span) } else { end_of(last, end) };
                        break;
                    }
                    let key_text = match &event {
                        Event::Scalar(text, ..) => (**text).into(),
                        _ => return Err(YamlError::at(span.start, "A key is not a text")),
                    };
                    let key = self.node(event, span, depth + 1)?;
                    let (event, span) = self.next()?;
                    let mut value = self.node(event, span, depth + 1)?;
                    if value.start == value.end && matches!(value.kind, Kind::Scalar(_)) {
                        // The value is empty: it ends where its key ends.
                        (value.start, value.end) = (key.end, key.end);
                    }
                    entries.push(Entry { key_text, key, value });
                }
                (Kind::Map { flow: is_flow, entries }, anchor > 0 || tag.is_some())
            }
            _ => return Err(YamlError::at(span.start, "The file ends too early")),
        };
        Ok(Node { start, end, kind, decorated })
    }

    /// Returns the end of a bracketed collection; the span of the parser may end after a comment.
    fn behind(&self, bracket: char, span: Span) -> usize {
        let at = self.offsets.byte(span.start);
        if self.text.get(at..).is_some_and(|rest| rest.starts_with(bracket)) {
            at + bracket.len_utf8()
        } else {
            self.offsets.byte(span.end)
        }
    }
}

fn end_of(last: Option<&Node>, otherwise: usize) -> usize {
    last.map_or(otherwise, |node| node.end)
}

/// Converts the parser's character offsets to byte offsets.
struct Offsets(Option<Vec<u32>>);

impl Offsets {
    fn of(text: &str) -> Self {
        if text.is_ascii() {
            return Self(None);
        }
        let ends = text.char_indices().map(|(offset, _)| offset).chain([text.len()]);
        Self(Some(ends.map(|offset| u32::try_from(offset).unwrap_or(u32::MAX)).collect()))
    }

    fn byte(&self, mark: Marker) -> usize {
        match &self.0 {
            None => mark.index(),
            Some(offsets) => {
                offsets.get(mark.index()).or(offsets.last()).map_or(0, |&offset| offset as usize)
            }
        }
    }
}
