//! Reads one document into [`OrderedValue`].

use super::{MAX_NESTING_DEPTH, MAX_VALUES, scalar::resolve_plain};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use shared_protocol::{OrderedMembers, OrderedValue};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

/// The reason why a text is not a valid single YAML document. Lines and columns count from one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at line {line}, column {column}")]
pub(crate) struct YamlError {
    problem: String,
    line: usize,
    column: usize,
}

impl YamlError {
    pub(super) fn new(mark: Marker, problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), line: mark.line(), column: mark.col() + 1 }
    }
}

/// A collection that is not closed yet.
enum OpenCollection {
    List(Vec<OrderedValue>),
    Map { members: OrderedMembers, key: Option<Box<str>>, keys: HashSet<Box<str>> },
}

/// Reads a text with exactly one document; an empty text is null.
pub(crate) fn read(text: &str) -> Result<OrderedValue, YamlError> {
    let mut parser = Parser::new_from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
    let mut reader = YamlDocumentReader { open: Vec::new(), anchors: HashMap::new(), values: 0 };
    let mut document = None;
    let mut documents = 0;
    while let Some(event) = parser.next_event() {
        let (event, span) =
            event.map_err(|error| YamlError::new(*error.marker(), error.info().to_owned()))?;
        match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return Err(YamlError::new(
                        span.start,
                        "The file contains several documents; keep one and remove the others",
                    ));
                }
            }
            other => {
                if let Some(done) = reader.handle_event(other, span.start)? {
                    document = Some(done);
                }
            }
        }
    }
    Ok(document.unwrap_or_default())
}

struct YamlDocumentReader {
    open: Vec<(OpenCollection, usize)>,
    anchors: HashMap<usize, (OrderedValue, usize)>,
    /// The number of values so far.
    values: usize,
}

impl YamlDocumentReader {
    /// Handles an event. Returns the document after its last event.
    fn handle_event(&mut self, event: Event<'_>, at: Marker) -> Result<Option<OrderedValue>, YamlError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref());
                self.count(1, at)?;
                if anchor > 0 {
                    self.anchors.insert(anchor, (value.clone(), 1));
                }
                // A key is its literal text, regardless of its meaning as a value.
                if let Some((OpenCollection::Map { keys, key: key @ None, .. }, _)) = self.open.last_mut() {
                    return Self::take_key(keys, key, text, at).map(|()| None);
                }
                self.add(value, at)
            }
            Event::Alias(anchor) => {
                let Some((value, size)) = self.anchors.get(&anchor).cloned() else {
                    return Err(YamlError::new(at, "An alias refers to a value that contains it"));
                };
                self.count(size, at)?;
                self.add(value, at)
            }
            Event::SequenceStart(anchor, _) => self.begin(OpenCollection::List(Vec::new()), anchor, at),
            Event::MappingStart(anchor, _) => self.begin(
                OpenCollection::Map { members: OrderedMembers::default(), key: None, keys: HashSet::new() },
                anchor,
                at,
            ),
            Event::SequenceEnd | Event::MappingEnd => {
                let Some((open, anchor)) = self.open.pop() else { return Ok(None) };
                let value = match open {
                    OpenCollection::List(items) => OrderedValue::List(items),
                    OpenCollection::Map { members, .. } => OrderedValue::Map(members),
                };
                if anchor > 0 {
                    let size = size_of(&value);
                    self.anchors.insert(anchor, (value.clone(), size));
                }
                self.add(value, at)
            }
            _ => Ok(None),
        }
    }

    fn begin(
        &mut self,
        open: OpenCollection,
        anchor: usize,
        at: Marker,
    ) -> Result<Option<OrderedValue>, YamlError> {
        self.count(1, at)?;
        if let Some((OpenCollection::Map { key: None, .. }, _)) = self.open.last() {
            return Err(YamlError::new(at, "A key is a list or a mapping; write a text as key"));
        }
        if self.open.len() >= MAX_NESTING_DEPTH {
            return Err(YamlError::new(at, format!("Nested more than {MAX_NESTING_DEPTH} levels deep")));
        }
        self.open.push((open, anchor));
        Ok(None)
    }

    fn count(&mut self, more: usize, at: Marker) -> Result<(), YamlError> {
        self.values = self.values.saturating_add(more);
        if self.values > MAX_VALUES {
            return Err(YamlError::new(at, format!("More than {MAX_VALUES} values, aliases included")));
        }
        Ok(())
    }

    fn take_key(
        keys: &mut HashSet<Box<str>>,
        key: &mut Option<Box<str>>,
        text: Cow<'_, str>,
        at: Marker,
    ) -> Result<(), YamlError> {
        if !keys.insert(text.clone().into()) {
            return Err(YamlError::new(at, format!("Map keys must be unique: {text:?} appears twice")));
        }
        *key = Some(text.into());
        Ok(())
    }

    fn add(&mut self, value: OrderedValue, at: Marker) -> Result<Option<OrderedValue>, YamlError> {
        match self.open.last_mut() {
            None => return Ok(Some(value)),
            Some((OpenCollection::List(items), _)) => items.push(value),
            Some((OpenCollection::Map { members, key, keys }, _)) => match key.take() {
                Some(key) => members.push(key, value),
                // The key is an alias.
                None => match value {
                    OrderedValue::Text(text) => Self::take_key(keys, key, text.into_string().into(), at)?,
                    _ => return Err(YamlError::new(at, "A key is not a text")),
                },
            },
        }
        Ok(None)
    }
}

/// Returns the value of a scalar. A tag of the core schema decides; other tags are ignored.
pub(super) fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> OrderedValue {
    let quoted = style != ScalarStyle::Plain;
    match tag {
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => OrderedValue::from(text),
        Some(tag) if tag.handle.is_empty() && tag.suffix == "!" => OrderedValue::from(text),
        Some(tag) if tag.is_yaml_core_schema() => resolve_plain(text),
        _ if quoted => OrderedValue::from(text),
        _ => resolve_plain(text),
    }
}

fn size_of(value: &OrderedValue) -> usize {
    1 + match value {
        OrderedValue::List(items) => items.iter().map(size_of).sum(),
        OrderedValue::Map(members) => members.iter().map(|(_, value)| size_of(value)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problem(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn reads_the_shapes_of_json_in_order() {
        let text = "b: 1\na: [x, {y: ~}]\nc: &x {k: v}\nd: *x\ne: |\n  t\n<<: {z: 1}\n1: one\n";
        let data = read(text).unwrap();
        let expected =
            json!({"b":1,"a":["x",{"y":null}],"c":{"k":"v"},"d":{"k":"v"},"e":"t\n","<<":{"z":1},"1":"one"});
        assert_eq!(data.to_json(), expected);
        let keys: Vec<&str> = data.as_map().unwrap().iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["b", "a", "c", "d", "e", "<<", "1"]);
        assert!(read("").unwrap().is_null());
        assert_eq!(read("\u{feff}a: !!str 1").unwrap().to_json(), json!({"a": "1"}));
    }

    #[test]
    fn refuses_what_has_no_one_meaning() {
        assert!(problem("a: 1\na: 2\n").contains("unique"));
        assert!(problem("a: 1\n---\nb: 2\n").contains("several documents"));
        assert!(problem("? [a]\n: b\n").contains("key"));
        assert!(problem("a: \"x").contains("line"));
        assert!(problem("a: &x [*x]").contains("alias") || problem("a: &x [*x]").contains("anchor"));
    }

    #[test]
    fn bombs_are_bounded() {
        let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for level in 1..12 {
            let before = format!("*a{}", level - 1);
            bomb.push_str(&format!("a{level}: &a{level} [{}]\n", [before.as_str(); 10].join(",")));
        }
        assert!(problem(&bomb).contains("values"));
        assert!(problem(&"[".repeat(10_000)).len() < 300);
        assert!(problem(&"- ".repeat(10_000)).contains("levels"));
    }
}
