//! A strict JSON parser (RFC 8259) that records the position of every value and rejects duplicate keys.

use super::{SourceKey, SourceNode, SourceSyntaxError, SourceValue, ValueBudget, check_key, finite};
use crate::SourcePosition;

pub(super) fn read(text: &str) -> Result<SourceNode, SourceSyntaxError> {
    let mut reader = JsonSourceReader {
        rest: text.char_indices().peekable(),
        text,
        line: 1,
        column: 1,
        budget: ValueBudget::default(),
    };
    let source = reader.value(0)?;
    reader.space();
    match reader.peek() {
        None => Ok(source),
        Some(c) => Err(SourceSyntaxError::new(
            reader.place(),
            format!("unexpected {c:?} after the component"),
            "the end of the file",
        )),
    }
}

struct JsonSourceReader<'a> {
    rest: std::iter::Peekable<std::str::CharIndices<'a>>,
    text: &'a str,
    line: usize,
    column: usize,
    budget: ValueBudget,
}

impl JsonSourceReader<'_> {
    fn place(&self) -> SourcePosition {
        SourcePosition::new(self.line, self.column)
    }

    fn peek(&mut self) -> Option<char> {
        self.rest.peek().map(|&(_, c)| c)
    }

    fn offset(&mut self) -> usize {
        self.rest.peek().map_or(self.text.len(), |&(offset, _)| offset)
    }

    fn next(&mut self) -> Option<char> {
        let (_, c) = self.rest.next()?;
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.next();
        }
    }

    fn describe_next(&mut self) -> String {
        self.peek().map_or_else(|| "the end of the file".to_owned(), |c| format!("{c:?}"))
    }

    /// Recursive; the budget bounds the depth.
    fn value(&mut self, depth: usize) -> Result<SourceNode, SourceSyntaxError> {
        self.space();
        let place = self.place();
        self.budget.spend(place, depth)?;
        let data = match self.peek() {
            Some('{') => self.map(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => SourceValue::Text(self.string()?),
            Some('-' | '0'..='9') => self.number()?,
            Some('a'..='z') => self.read_keyword()?,
            _ => {
                return Err(SourceSyntaxError::new(
                    place,
                    format!("found {}", self.describe_next()),
                    "a JSON value",
                ));
            }
        };
        Ok(SourceNode { place, data })
    }

    fn map(&mut self, depth: usize) -> Result<SourceValue, SourceSyntaxError> {
        self.next();
        let mut entries: Vec<(SourceKey, SourceNode)> = Vec::new();
        loop {
            self.space();
            let place = self.place();
            match self.peek() {
                Some('}') if entries.is_empty() => break,
                Some('"') => {
                    let text = self.string()?;
                    check_key(&entries, &text, place)?;
                    self.space();
                    self.expect(':')?;
                    let value = self.value(depth + 1)?;
                    entries.push((SourceKey { text, place }, value));
                }
                _ => {
                    return Err(SourceSyntaxError::new(
                        place,
                        format!("found {}", self.describe_next()),
                        "a key in quotes",
                    ));
                }
            }
            self.space();
            match self.peek() {
                Some(',') => drop(self.next()),
                Some('}') => break,
                _ => {
                    return Err(SourceSyntaxError::new(
                        self.place(),
                        format!("found {}", self.describe_next()),
                        "`,` or `}`",
                    ));
                }
            }
        }
        self.next();
        Ok(SourceValue::Map(entries))
    }

    fn list(&mut self, depth: usize) -> Result<SourceValue, SourceSyntaxError> {
        self.next();
        let mut items = Vec::new();
        loop {
            self.space();
            if items.is_empty() && self.peek() == Some(']') {
                break;
            }
            items.push(self.value(depth + 1)?);
            self.space();
            match self.peek() {
                Some(',') => drop(self.next()),
                Some(']') => break,
                _ => {
                    return Err(SourceSyntaxError::new(
                        self.place(),
                        format!("found {}", self.describe_next()),
                        "`,` or `]`",
                    ));
                }
            }
        }
        self.next();
        Ok(SourceValue::List(items))
    }

    fn expect(&mut self, wanted: char) -> Result<(), SourceSyntaxError> {
        if self.peek() == Some(wanted) {
            self.next();
            return Ok(());
        }
        Err(SourceSyntaxError::new(
            self.place(),
            format!("found {}", self.describe_next()),
            format!("`{wanted}`"),
        ))
    }

    fn string(&mut self) -> Result<String, SourceSyntaxError> {
        self.next();
        let mut text = String::new();
        loop {
            let place = self.place();
            match self.next() {
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escape(place)?),
                Some(c) if c >= ' ' => text.push(c),
                Some(c) => {
                    return Err(SourceSyntaxError::new(
                        place,
                        format!("unescaped {c:?} in a string"),
                        "an escape sequence",
                    ));
                }
                None => return Err(SourceSyntaxError::new(place, "unterminated string", "a closing quote")),
            }
        }
    }

    fn escape(&mut self, place: SourcePosition) -> Result<char, SourceSyntaxError> {
        let wrong =
            || SourceSyntaxError::new(place, "invalid escape sequence", "one of \\n \\t \\\" \\\\ \\u0041");
        match self.next() {
            Some(c @ ('"' | '\\' | '/')) => Ok(c),
            Some('b') => Ok('\u{8}'),
            Some('f') => Ok('\u{c}'),
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some('u') => {
                let first = self.hex().ok_or_else(wrong)?;
                let code = if (0xd800..0xdc00).contains(&first) {
                    let second = (self.next() == Some('\\') && self.next() == Some('u')).then(|| self.hex());
                    let second =
                        second.flatten().filter(|low| (0xdc00..0xe000).contains(low)).ok_or_else(wrong)?;
                    0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)
                } else {
                    first
                };
                char::from_u32(code).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }

    fn hex(&mut self) -> Option<u32> {
        (0..4).try_fold(0, |code, _| Some(code * 16 + self.next()?.to_digit(16)?))
    }

    fn number(&mut self) -> Result<SourceValue, SourceSyntaxError> {
        let (place, start) = (self.place(), self.offset());
        while matches!(self.peek(), Some('-' | '+' | '.' | 'e' | 'E' | '0'..='9')) {
            self.next();
        }
        let end = self.offset();
        let text = self.text.get(start..end).unwrap_or_default();
        // Rust accepts more than JSON: a leading zero, a point without digits.
        let digits = text.strip_prefix('-').unwrap_or(text);
        let leading_zero = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
        let leading_zero = leading_zero && !digits.starts_with("0e") && !digits.starts_with("0E");
        let bare_point = digits.starts_with('.') || digits.ends_with('.') || digits.contains(".e");
        if leading_zero || bare_point {
            return Err(SourceSyntaxError::new(
                place,
                format!("{text} is not a valid JSON number"),
                "a number such as 0.5",
            ));
        }
        finite(text, place).map(SourceValue::Number)
    }

    fn read_keyword(&mut self) -> Result<SourceValue, SourceSyntaxError> {
        let (place, start) = (self.place(), self.offset());
        while matches!(self.peek(), Some('a'..='z' | 'A'..='Z')) {
            self.next();
        }
        let end = self.offset();
        match self.text.get(start..end) {
            Some("null") => Ok(SourceValue::Null),
            Some("true") => Ok(SourceValue::Bool(true)),
            Some("false") => Ok(SourceValue::Bool(false)),
            other => Err(SourceSyntaxError::new(
                place,
                format!("`{}` is not a JSON value", other.unwrap_or_default()),
                "true, false, null, or a string in quotes",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn agrees_with_the_standard_reader() {
        let text = r#" {"a":[1,-2.5e-3,true,null,"x\n\u00e9\ud83d\ude80\/"],"b":{},"c":[] , "d":0.5} "#;
        let expected: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(read(text).unwrap().to_json(), expected);
    }

    #[test]
    fn places_and_refusals() {
        let check = |text: &str, line: u32, column: u32| {
            let wrong = read(text).unwrap_err();
            assert_eq!((wrong.place.line, wrong.place.column), (line, column), "{text}: {}", wrong.message);
        };
        check("{\n  \"a\": 1,\n  \"a\": 2\n}", 3, 3);
        check("{\"a\": NaN}", 1, 7);
        check("{\"a\": 1e999}", 1, 7);
        check("{\"a\": 01}", 1, 7);
        check("{\"a\": 1,}", 1, 9);
        check("[1 2]", 1, 4);
        check("{} x", 1, 4);
        check("\"\\ud800\"", 1, 2);
        check("", 1, 1);
        assert!(read(&"[".repeat(100_000)).unwrap_err().message.contains("levels"));
    }

    proptest! {
        #[test]
        fn whatever_it_takes_the_standard_reader_takes(text in "[\\[\\]{}\",:a0-9.eE+\\- tfn\\\\u]{0,40}") {
            if read(&text).is_ok() {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
            }
        }
    }
}
