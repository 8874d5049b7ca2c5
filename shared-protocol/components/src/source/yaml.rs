//! A parser for the JSON subset of YAML that records the position of every value. Rejects anchors, aliases and tags, so
//! that people can read every value where it is used.

use super::{SourceKey, SourceNode, SourceSyntaxError, SourceValue, ValueBudget, check_key, finite};
use crate::SourcePosition;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput};

pub(super) fn read(text: &str) -> Result<SourceNode, SourceSyntaxError> {
    let mut reader = YamlSourceReader { parser: Parser::new_from_str(text), budget: ValueBudget::default() };
    let mut document = None;
    while let Some((event, place)) = reader.next()? {
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd | Event::Nothing => {}
            Event::DocumentStart(_) if document.is_some() => {
                return Err(SourceSyntaxError::new(
                    place,
                    "the file has a second document",
                    "one component per file",
                ));
            }
            Event::DocumentStart(_) => {}
            other => document = Some(reader.value(other, place, 0)?),
        }
    }
    document.ok_or_else(|| SourceSyntaxError::new(SourcePosition::START, "the file is empty", "a component"))
}

struct YamlSourceReader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    budget: ValueBudget,
}

impl<'a> YamlSourceReader<'a> {
    fn next(&mut self) -> Result<Option<(Event<'a>, SourcePosition)>, SourceSyntaxError> {
        match self.parser.next_event() {
            None => Ok(None),
            Some(Ok((event, span))) => Ok(Some((event, place_of(span.start)))),
            Some(Err(error)) => Err(SourceSyntaxError::new(
                place_of(*error.marker()),
                error.info().to_owned(),
                "well-formed YAML",
            )),
        }
    }

    fn next_event(&mut self) -> Result<(Event<'a>, SourcePosition), SourceSyntaxError> {
        self.next()?.ok_or_else(|| {
            SourceSyntaxError::new(SourcePosition::START, "unexpected end of file", "well-formed YAML")
        })
    }

    /// Recursive; the budget bounds the depth.
    fn value(
        &mut self,
        event: Event<'a>,
        place: SourcePosition,
        depth: usize,
    ) -> Result<SourceNode, SourceSyntaxError> {
        self.budget.spend(place, depth)?;
        let data = match event {
            Event::Scalar(text, style, anchor, tag) => {
                plain_only(place, anchor, tag.is_some())?;
                if style == ScalarStyle::Plain {
                    scalar(&text, place)?
                } else {
                    SourceValue::Text(text.into_owned())
                }
            }
            Event::SequenceStart(anchor, tag) => {
                plain_only(place, anchor, tag.is_some())?;
                let mut items = Vec::new();
                loop {
                    let (event, place) = self.next_event()?;
                    if event == Event::SequenceEnd {
                        break;
                    }
                    items.push(self.value(event, place, depth + 1)?);
                }
                SourceValue::List(items)
            }
            Event::MappingStart(anchor, tag) => {
                plain_only(place, anchor, tag.is_some())?;
                let mut entries = Vec::new();
                while let Some(key) = self.key(&entries)? {
                    let (event, place) = self.next_event()?;
                    let value = self.value(event, place, depth + 1)?;
                    entries.push((key, value));
                }
                SourceValue::Map(entries)
            }
            Event::Alias(_) => return Err(alias(place)),
            _ => return Err(SourceSyntaxError::new(place, "the value is missing", "a value")),
        };
        Ok(SourceNode { place, data })
    }

    /// Returns the next key of a mapping, or `None` at its end.
    fn key(&mut self, entries: &[(SourceKey, SourceNode)]) -> Result<Option<SourceKey>, SourceSyntaxError> {
        let (event, place) = self.next_event()?;
        let text = match event {
            Event::MappingEnd => return Ok(None),
            Event::Scalar(text, _, anchor, tag) => {
                plain_only(place, anchor, tag.is_some())?;
                text.into_owned()
            }
            Event::Alias(_) => return Err(alias(place)),
            _ => {
                return Err(SourceSyntaxError::new(
                    place,
                    "a list or a mapping is used as a key",
                    "a string",
                ));
            }
        };
        check_key(entries, &text, place)?;
        Ok(Some(SourceKey { text, place }))
    }
}

fn place_of(mark: Marker) -> SourcePosition {
    SourcePosition::new(mark.line(), mark.col() + 1)
}

fn alias(place: SourcePosition) -> SourceSyntaxError {
    SourceSyntaxError::new(place, "anchors and aliases are not supported", "the value itself")
}

fn plain_only(place: SourcePosition, anchor: usize, tagged: bool) -> Result<(), SourceSyntaxError> {
    if anchor > 0 {
        return Err(alias(place));
    }
    if tagged {
        return Err(SourceSyntaxError::new(
            place,
            "YAML tags are not supported",
            "a plain value; quote it to make it a string",
        ));
    }
    Ok(())
}

fn scalar(text: &str, place: SourcePosition) -> Result<SourceValue, SourceSyntaxError> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => SourceValue::Null,
        "true" | "True" | "TRUE" => SourceValue::Bool(true),
        "false" | "False" | "FALSE" => SourceValue::Bool(false),
        _ if is_number(text) => SourceValue::Number(finite(text, place)?),
        _ => SourceValue::Text(text.to_owned()),
    })
}

/// Returns whether a text is a decimal number, or a name for infinity or NaN, which `finite` then rejects.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(digits, ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF") {
        return true;
    }
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.chars().any(|c| c.is_ascii_digit())
        && digits.chars().all(numeric)
        && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(text: &str) -> String {
        read(text).unwrap_err().message
    }

    #[test]
    fn says_what_json_says() {
        let text =
            "a: [1, -2.5, true, ~]\nb:\n  c: 'x: y'\n  d: |\n    two\n    lines\ne: 1.2.3\nf: -x\ng: {}\n";
        let expected =
            json!({"a":[1,-2.5,true,null],"b":{"c":"x: y","d":"two\nlines\n"},"e":"1.2.3","f":"-x","g":{}});
        assert_eq!(read(text).unwrap().to_json(), expected);
        assert_eq!(read(text).unwrap().place.line, 1);
    }

    #[test]
    fn refusals_name_the_place() {
        let wrong = read("a: 1\nb:\n  - x\n  - .nan\n").unwrap_err();
        assert_eq!((wrong.place.line, wrong.place.column), (4, 5));
        assert!(message("a: &x 1\nb: *x\n").contains("anchor"));
        assert!(message("a: !!str 1\n").contains("tag"));
        assert!(message("a: 1\na: 2\n").contains("duplicate key"));
        assert!(message("a: 1\n---\nb: 1\n").contains("second document"));
        assert!(message("").contains("empty"));
        assert!(message(&"- ".repeat(5_000)).contains("levels"));
        assert!(message(&format!("[{}]", "1,".repeat(60_000))).contains("values"));
        assert!(!message(&"[".repeat(100_000)).is_empty());
        assert!(!message("a: \"x").is_empty());
    }
}
