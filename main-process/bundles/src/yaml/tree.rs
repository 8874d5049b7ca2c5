//! The syntax tree of a document: the byte range of each value.

use super::{MAX_NESTING_DEPTH, MAX_VALUES, read::YamlError};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

pub(super) struct YamlNode {
    pub(super) start: usize,
    /// The end; for a block collection, the end of its last value.
    pub(super) end: usize,
    pub(super) kind: YamlNodeKind,
    /// It has an anchor or a tag, so a change could affect its aliases.
    pub(super) decorated: bool,
}

pub(super) enum YamlNodeKind {
    Scalar(ScalarStyle),
    Alias,
    List { flow: bool, items: Vec<YamlNode> },
    Map { flow: bool, entries: Vec<YamlEntry> },
}

pub(super) struct YamlEntry {
    pub(super) key_text: Box<str>,
    pub(super) key: YamlNode,
    pub(super) value: YamlNode,
}

/// Parses a text that [`super::read`] accepts.
pub(super) fn tree(text: &str) -> Result<YamlNode, YamlError> {
    let mut builder = YamlTreeBuilder {
        text,
        offsets: ByteOffsetTable::new(text),
        parser: Parser::new_from_str(text),
        values: 0,
    };
    loop {
        let (event, span) = builder.next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(_) => {}
            Event::StreamEnd | Event::DocumentEnd => {
                return Err(YamlError::new(span.start, "The file is empty"));
            }
            other => return builder.node(other, span, 0),
        }
    }
}

struct YamlTreeBuilder<'a> {
    text: &'a str,
    offsets: ByteOffsetTable,
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    values: usize,
}

impl<'a> YamlTreeBuilder<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), YamlError> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(YamlError::new(*error.marker(), error.info().to_owned())),
            None => Err(YamlError::new(Marker::new(0, 1, 0), "The file ends too early")),
        }
    }

    /// Recursive; the depth limit bounds it.
    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<YamlNode, YamlError> {
        self.values += 1;
        if depth > MAX_NESTING_DEPTH || self.values > MAX_VALUES {
            return Err(YamlError::new(
                span.start,
                "The file is nested too deeply or contains too many values",
            ));
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
                (YamlNodeKind::Scalar(style), anchor > 0 || tag.is_some())
            }
            Event::Alias(_) => (YamlNodeKind::Alias, false),
            Event::SequenceStart(anchor, tag) => {
                let mut items = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if event == Event::SequenceEnd {
                        end = if is_flow {
                            self.end_after_bracket(']', span)
                        } else {
                            end_of(items.last(), end)
                        };
                        break;
                    }
                    items.push(self.node(event, span, depth + 1)?);
                }
                (YamlNodeKind::List { flow: is_flow, items }, anchor > 0 || tag.is_some())
            }
            Event::MappingStart(anchor, tag) => {
                let mut entries: Vec<YamlEntry> = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if event == Event::MappingEnd {
                        let last = entries.last().map(|entry| &entry.value);
                        end = if is_flow { self.end_after_bracket('}', span) } else { end_of(last, end) };
                        break;
                    }
                    let key_text = match &event {
                        Event::Scalar(text, ..) => (**text).into(),
                        _ => return Err(YamlError::new(span.start, "A key is not a text")),
                    };
                    let key = self.node(event, span, depth + 1)?;
                    let (event, span) = self.next()?;
                    let mut value = self.node(event, span, depth + 1)?;
                    if value.start == value.end && matches!(value.kind, YamlNodeKind::Scalar(_)) {
                        // The value is empty: it ends where its key ends.
                        (value.start, value.end) = (key.end, key.end);
                    }
                    entries.push(YamlEntry { key_text, key, value });
                }
                (YamlNodeKind::Map { flow: is_flow, entries }, anchor > 0 || tag.is_some())
            }
            _ => return Err(YamlError::new(span.start, "The file ends too early")),
        };
        Ok(YamlNode { start, end, kind, decorated })
    }

    /// Returns the end of a bracketed collection; the span of the parser may end after a comment.
    fn end_after_bracket(&self, bracket: char, span: Span) -> usize {
        let at = self.offsets.byte(span.start);
        if self.text.get(at..).is_some_and(|rest| rest.starts_with(bracket)) {
            at + bracket.len_utf8()
        } else {
            self.offsets.byte(span.end)
        }
    }
}

fn end_of(last: Option<&YamlNode>, otherwise: usize) -> usize {
    last.map_or(otherwise, |node| node.end)
}

/// Converts the parser's character offsets to byte offsets.
struct ByteOffsetTable(Option<Vec<u32>>);

impl ByteOffsetTable {
    fn new(text: &str) -> Self {
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
