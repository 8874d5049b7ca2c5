//! Colours a line of HCL. Not a parser: it separates words, strings, numbers and comments, and never fails.

use canvas::theme::CodeToken;
use std::ops::Range;

/// The construct that a line starts in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum HclLexState {
    #[default]
    Code,
    Comment,
    Heredoc,
}

/// Carries the state from line to line of a file.
#[derive(Debug, Default)]
pub(super) struct HclLexer {
    within: HclLexState,
    /// The marker that ends the heredoc.
    marker: String,
}

impl HclLexer {
    /// Returns the state at the start of this line and records the state at its end.
    pub(super) fn next(&mut self, line: &str) -> HclLexState {
        let begins = self.within;
        match begins {
            HclLexState::Heredoc if line.trim() == self.marker => self.within = HclLexState::Code,
            HclLexState::Heredoc => return HclLexState::Heredoc,
            HclLexState::Comment if line.contains("*/") => self.within = HclLexState::Code,
            HclLexState::Comment => {}
            HclLexState::Code => {
                if let Some(marker) = heredoc(line) {
                    (self.within, self.marker) = (HclLexState::Heredoc, marker.to_owned());
                } else if tokens(line, HclLexState::Code).last().is_some_and(|(range, ink)| {
                    let last = line.get(range.clone()).unwrap_or_default();
                    *ink == CodeToken::Comment && last.starts_with("/*") && !last.ends_with("*/")
                }) {
                    self.within = HclLexState::Comment;
                }
            }
        }
        if begins == HclLexState::Heredoc { HclLexState::Code } else { begins }
    }
}

/// The marker of a heredoc that a line opens.
fn heredoc(line: &str) -> Option<&str> {
    let (before, marker) = line.split_once("<<")?;
    let marker = marker.trim_start_matches('-').trim();
    let is_word = !marker.is_empty() && marker.chars().all(|sign| sign.is_alphanumeric() || sign == '_');
    // Inside a string or a comment it is no heredoc.
    let outside = before.matches('"').count() % 2 == 0 && !before.contains('#');
    (is_word && outside).then_some(marker)
}

/// The coloured parts of a line, in order.
pub(super) fn tokens(line: &str, within: HclLexState) -> Vec<(Range<usize>, CodeToken)> {
    let mut found = Vec::new();
    let mut at = 0;
    match within {
        HclLexState::Heredoc => return text(line, 0, line.len()),
        HclLexState::Comment => {
            let end = line.find("*/").map_or(line.len(), |end| end + 2);
            found.push((0..end, CodeToken::Comment));
            at = end;
        }
        HclLexState::Code => {}
    }
    let opens_block = line.trim_end().ends_with(['{', '}']) && !has_equals(line);
    let mut is_first = true;
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(sign) = rest.chars().next() else { break };
        let begin = at;
        if sign.is_whitespace() {
            at += sign.len_utf8();
            continue;
        }
        if sign == '#' || rest.starts_with("//") {
            found.push((begin..line.len(), CodeToken::Comment));
            break;
        } else if rest.starts_with("/*") {
            at = rest.get(2..).and_then(|inner| inner.find("*/")).map_or(line.len(), |end| begin + end + 4);
            found.push((begin..at, CodeToken::Comment));
        } else if sign == '"' {
            at = end_of_text(line, begin, 0);
            found.extend(text(line, begin, at));
        } else if sign.is_ascii_digit() {
            at = end_of(line, begin, |sign| sign.is_ascii_alphanumeric() || sign == '.');
            found.push((begin..at, CodeToken::Number));
        } else if sign.is_alphabetic() || sign == '_' {
            at = end_of(line, begin, |sign| sign.is_alphanumeric() || matches!(sign, '_' | '-' | '.'));
            let ink = classify_word(line.get(begin..at).unwrap_or_default(), is_first && opens_block);
            found.push((begin..at, ink));
        } else {
            at += sign.len_utf8();
            found.push((begin..at, CodeToken::Sign));
        }
        is_first = false;
    }
    found
}

fn classify_word(word: &str, opens_block: bool) -> CodeToken {
    match word {
        "true" | "false" | "null" | "for" | "in" | "if" => CodeToken::Keyword,
        _ if opens_block => CodeToken::Keyword,
        _ if word.contains('.') => CodeToken::Reference,
        _ => CodeToken::Plain,
    }
}

/// The equals sign of an argument, outside of strings.
fn has_equals(line: &str) -> bool {
    let mut inside = false;
    line.chars().any(|sign| {
        inside ^= sign == '"';
        sign == '=' && !inside
    })
}

fn end_of(line: &str, begin: usize, belongs: impl Fn(char) -> bool) -> usize {
    let rest = line.get(begin..).unwrap_or_default();
    rest.find(|sign| !belongs(sign)).map_or(line.len(), |length| begin + length)
}

/// The maximum depth of strings in expressions in strings.
const DEEPEST: u8 = 8;

/// The position after the closing quote. Strings may contain expressions with strings.
fn end_of_text(line: &str, begin: usize, depth: u8) -> usize {
    let mut at = begin + 1;
    while let Some(sign) = line.get(at..).and_then(|rest| rest.chars().next()) {
        at = match sign {
            '"' => return at + 1,
            '\\' => {
                at + 1 + line.get(at + 1..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
            }
            _ => match expression(line, at) {
                TemplateOpening::Expression if depth < DEEPEST => end_of_expression(line, at, depth + 1),
                TemplateOpening::Escape => at + 3,
                _ => at + sign.len_utf8(),
            },
        };
    }
    line.len()
}

/// The position after the brace that closes `${`.
fn end_of_expression(line: &str, begin: usize, depth: u8) -> usize {
    let (mut at, mut braces) = (begin + 2, 1_u32);
    while let Some(sign) = line.get(at..).and_then(|rest| rest.chars().next()) {
        match sign {
            '"' => {
                at = end_of_text(line, at, depth);
                continue;
            }
            '{' => braces += 1,
            '}' => braces -= 1,
            _ => {}
        }
        at += sign.len_utf8();
        if braces == 0 {
            return at;
        }
    }
    line.len()
}

enum TemplateOpening {
    Nothing,
    Expression,
    /// `$${` is the text `${`.
    Escape,
}

fn expression(line: &str, at: usize) -> TemplateOpening {
    let rest = line.get(at..).unwrap_or_default();
    match rest {
        _ if rest.starts_with("$${") || rest.starts_with("%%{") => TemplateOpening::Escape,
        _ if rest.starts_with("${") || rest.starts_with("%{") => TemplateOpening::Expression,
        _ => TemplateOpening::Nothing,
    }
}

/// Splits a string from its expressions.
fn text(line: &str, begin: usize, end: usize) -> Vec<(Range<usize>, CodeToken)> {
    let mut found = Vec::new();
    let (mut from, mut at) = (begin, begin);
    while let Some(sign) = line.get(at..end).and_then(|rest| rest.chars().next()) {
        at = match expression(line, at) {
            TemplateOpening::Nothing => at + sign.len_utf8(),
            TemplateOpening::Escape => at + 3,
            TemplateOpening::Expression => {
                if from < at {
                    found.push((from..at, CodeToken::Text));
                }
                from = end_of_expression(line, at, 0).min(end);
                found.push((at..from, CodeToken::Reference));
                from
            }
        };
    }
    if from < end {
        found.push((from..end, CodeToken::Text));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[(&str, CodeToken)]) {
        let found: Vec<_> =
            tokens(line, HclLexState::Code).into_iter().map(|(range, ink)| (&line[range], ink)).collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn words_texts_numbers_and_comments_are_told_apart() {
        use CodeToken::{Comment, Keyword, Number, Plain, Reference, Sign, Text};
        check(
            r#"resource "aws_vpc" "main" {"#,
            &[("resource", Keyword), ("\"aws_vpc\"", Text), ("\"main\"", Text), ("{", Sign)],
        );
        check(
            "  vpc_id = aws_vpc.main.id # why",
            &[("vpc_id", Plain), ("=", Sign), ("aws_vpc.main.id", Reference), ("# why", Comment)],
        );
        check("  size = 12.5", &[("size", Plain), ("=", Sign), ("12.5", Number)]);
        check("  on = true // so", &[("on", Plain), ("=", Sign), ("true", Keyword), ("// so", Comment)]);
        check(
            r#"  name = "a-${var.x}-b""#,
            &[("name", Plain), ("=", Sign), ("\"a-", Text), ("${var.x}", Reference), ("-b\"", Text)],
        );
        check(r#"  name = "$${x}""#, &[("name", Plain), ("=", Sign), (r#""$${x}""#, Text)]);
        check(
            r#"  a = "x${f("}")}" }"#,
            &[
                ("a", Plain),
                ("=", Sign),
                ("\"x", Text),
                ("${f(\"}\")}", Reference),
                ("\"", Text),
                ("}", Sign),
            ],
        );
        check("tags = {", &[("tags", Plain), ("=", Sign), ("{", Sign)]);
        check("ünïcode = \"ß…", &[("ünïcode", Plain), ("=", Sign), ("\"ß…", Text)]);
    }

    #[test]
    fn heredocs_and_comments_reach_over_lines() {
        let text = "user_data = <<-EOT\n  echo ${var.x}\n  # no comment\nEOT\nx = 1\n/* a\n b */\ny = \"<<EOT\"\nz = 2";
        let mut follower = HclLexer::default();
        let within: Vec<HclLexState> = text.lines().map(|line| follower.next(line)).collect();
        use HclLexState::{Code, Comment, Heredoc};
        assert_eq!(within, [Code, Heredoc, Heredoc, Code, Code, Code, Comment, Code, Code]);
        let inks = tokens("  echo ${var.x}", Heredoc);
        assert_eq!(inks, [(0..7, CodeToken::Text), (7..15, CodeToken::Reference)]);
    }

    #[test]
    fn whatever_a_line_holds_is_cut_at_signs() {
        let deep = "\"${".repeat(5_000);
        for line in [
            deep.as_str(),
            "\"",
            "\"\\",
            "\"\\é",
            "${",
            "}{\"%{",
            "é\"é${é",
            "<<",
            "<<-",
            "/*",
            "*/",
            "\u{200b}\"\u{1f600}",
        ] {
            for within in [HclLexState::Code, HclLexState::Comment, HclLexState::Heredoc] {
                let mut end = 0;
                for (range, _) in tokens(line, within) {
                    assert!(line.get(range.clone()).is_some() && range.start >= end, "{line}: {range:?}");
                    end = range.end;
                }
            }
        }
    }
}
