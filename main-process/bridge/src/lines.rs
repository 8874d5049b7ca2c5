//! Reads lines of bounded length.

use std::io::{self, BufRead, BufReader, Read};

/// The maximum bytes of one message. The result of a managed server has at most 8 MiB, and its structured part can be
/// repeated as text, which escaping at most doubles.
pub const MAX_LINE_BYTES: usize = 32 << 20;
const BUFFER_BYTES: usize = 64 << 10;

pub(crate) enum InputLine {
    /// The line without its line break.
    Whole(Vec<u8>),
    /// The line exceeded the limit and was discarded.
    TooLong,
}

pub(crate) struct BoundedLineReader<R> {
    reader: BufReader<R>,
    limit: usize,
}

impl<R: Read> BoundedLineReader<R> {
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self { reader: BufReader::with_capacity(BUFFER_BYTES, reader), limit }
    }

    /// Returns the next non-empty line, or `None` at the end of the stream. Ignores an unterminated last line.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<InputLine>> {
        loop {
            let mut line = Vec::new();
            let most = self.limit as u64 + 2;
            self.reader.by_ref().take(most).read_until(b'\n', &mut line)?;
            if line.pop_if(|last| *last == b'\n').is_none() {
                if (line.len() as u64) < most {
                    return Ok(None);
                }
                return self.skip_line().map(|whole| whole.then_some(InputLine::TooLong));
            }
            line.pop_if(|last| *last == b'\r');
            if line.len() > self.limit {
                return Ok(Some(InputLine::TooLong));
            }
            if !line.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(InputLine::Whole(line)));
            }
        }
    }

    /// Skips to the end of the line. Returns `false` when the stream ends first.
    fn skip_line(&mut self) -> io::Result<bool> {
        loop {
            let mut part = Vec::new();
            match self.reader.by_ref().take(BUFFER_BYTES as u64).read_until(b'\n', &mut part)? {
                0 => return Ok(false),
                _ if part.ends_with(b"\n") => return Ok(true),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BoundedLineReader, InputLine};

    #[test]
    fn lines_end_where_they_should_and_long_ones_are_passed_over() {
        for (text, expected) in [
            ("", vec![]),
            ("\n\r\n \n", vec![]),
            ("one\ntwo\r\n", vec!["one", "two"]),
            ("one\nnot whole", vec!["one"]),
            ("12345678\nnext\n", vec!["12345678", "next"]),
            ("12345678\r\nnext\n", vec!["12345678", "next"]),
            ("123456789\nnext\n", vec!["<too long>", "next"]),
            ("1234567890\nnext\n", vec!["<too long>", "next"]),
            ("1234567890123456789012345678901234567890\nnext\n", vec!["<too long>", "next"]),
            ("1234567890123456789012345678901234567890", vec![]),
        ] {
            let mut lines = BoundedLineReader::new(text.as_bytes(), 8);
            let mut found = Vec::new();
            while let Some(line) = lines.next_line().unwrap() {
                found.push(match line {
                    InputLine::Whole(line) => String::from_utf8(line).unwrap(),
                    InputLine::TooLong => "<too long>".to_owned(),
                });
            }
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
