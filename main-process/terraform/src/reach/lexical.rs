//! Finds the boundaries of HCL statements, strings, comments and heredocs the way the scanner of Terraform does.
//!
//! `hcl-edit` parses the files. Where it and Terraform disagree about a boundary, heredoc content for one is code
//! for the other. Example: Terraform sees an empty heredoc and a block, `hcl-edit` sees text:
//!
//! ```text
//! note = <<EOT
//! EOT                  ← end for Terraform; hcl-edit expects a line before it
//! data "http" "x" {}   ← executed, never analyzed
//! ```
//!
//! A file is analyzed only when both see the same statements. Ambiguous text is refused.

use hcl_edit::{
    expr::Expression,
    structure::{Body, Structure},
    template::HeredocTemplate,
    visit::{Visit, visit_heredoc_template},
};

/// The maximum nesting of blocks, brackets and templates.
const MAX_NESTING_DEPTH: usize = 100;

/// The statements of a text and its number of heredocs.
#[derive(Debug, Default, PartialEq, Eq)]
struct StatementOutline {
    heads: Vec<StatementHead>,
    heredocs: usize,
}

/// The name of an argument, or the name and labels of a block.
#[derive(Debug, PartialEq, Eq)]
struct StatementHead {
    depth: usize,
    words: Vec<String>,
    is_block: bool,
}

/// Checks that Terraform sees the same statements as `parsed`.
pub(crate) fn check_body(text: &str, parsed: &Body) -> Result<(), String> {
    let mut scanner = HclScanner::new(text)?;
    scanner.body(0)?;
    let mut expected =
        StatementOutline { heads: Vec::new(), heredocs: count_heredocs(|count| count.visit_body(parsed)) };
    collect_heads(parsed, 0, &mut expected.heads);
    if scanner.outline == expected {
        return Ok(());
    }
    Err("Terraform would parse its blocks or heredocs differently".to_owned())
}

/// Checks that Terraform also sees a single expression: it closes only what it opened, and does not end early.
pub(crate) fn check_expression(text: &str, parsed: &Expression) -> Result<(), String> {
    // A heredoc needs a trailing newline.
    let text = format!("{}\n", text.trim());
    let mut scanner = HclScanner::new(&text)?;
    scanner.expression(0)?;
    scanner.skip_blank(true)?;
    if scanner.peek().is_some()
        || scanner.outline.heredocs != count_heredocs(|count| count.visit_expr(parsed))
    {
        return Err("Terraform would parse it as more than one expression".to_owned());
    }
    Ok(())
}

struct HeredocCountVisitor(usize);

impl Visit for HeredocCountVisitor {
    fn visit_heredoc_template(&mut self, node: &HeredocTemplate) {
        self.0 += 1;
        visit_heredoc_template(self, node);
    }
}

fn count_heredocs(visit: impl FnOnce(&mut HeredocCountVisitor)) -> usize {
    let mut count = HeredocCountVisitor(0);
    visit(&mut count);
    count.0
}

fn collect_heads(body: &Body, depth: usize, heads: &mut Vec<StatementHead>) {
    for structure in body {
        match structure {
            Structure::Attribute(attribute) => {
                let words = vec![attribute.key.as_str().to_owned()];
                heads.push(StatementHead { depth, words, is_block: false });
            }
            Structure::Block(block) => {
                let labels = block.labels.iter().map(|label| label.as_str().to_owned());
                let words = std::iter::once(block.ident.as_str().to_owned()).chain(labels).collect();
                heads.push(StatementHead { depth, words, is_block: true });
                collect_heads(&block.body, depth + 1, heads);
            }
        }
    }
}

struct HclScanner<'a> {
    rest: &'a str,
    outline: StatementOutline,
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || char == '-'
}

impl<'a> HclScanner<'a> {
    fn new(text: &'a str) -> Result<Self, String> {
        let is_lone = |(at, _): (usize, _)| !text[at + 1..].starts_with('\n');
        if text.starts_with('\u{feff}') || text.contains('\0') || text.match_indices('\r').any(is_lone) {
            return Err(
                "it contains a byte order mark, a NUL byte, or a carriage return within a line".to_owned()
            );
        }
        Ok(Self { rest: text, outline: StatementOutline::default() })
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn accept(&mut self, wanted: &str) -> bool {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Skips spaces and comments, and line breaks with `over_lines`.
    fn skip_blank(&mut self, over_lines: bool) -> Result<(), String> {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.skip(1),
                Some('\n' | '\r') if over_lines => self.skip(1),
                Some('#') => self.skip_line(),
                Some('/') if self.rest.starts_with("//") => self.skip_line(),
                Some('/') if self.rest.starts_with("/*") => {
                    let end = self.rest[2..].find("*/").ok_or("unterminated comment")?;
                    self.skip(end + 4);
                }
                _ => return Ok(()),
            }
        }
    }

    /// Skips to the end of the line, excluding the line break.
    fn skip_line(&mut self) {
        self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
    }

    fn body(&mut self, depth: usize) -> Result<(), String> {
        if depth > MAX_NESTING_DEPTH {
            return Err("blocks are nested too deeply".to_owned());
        }
        loop {
            self.skip_blank(true)?;
            match self.peek() {
                None if depth == 0 => return Ok(()),
                None => return Err("unterminated block".to_owned()),
                Some('}') if depth > 0 => {
                    self.skip(1);
                    return Ok(());
                }
                Some(_) => self.statement(depth)?,
            }
        }
    }

    fn statement(&mut self, depth: usize) -> Result<(), String> {
        let mut words = vec![self.read_word().ok_or("expected a name or a comment at the start of a line")?];
        loop {
            self.skip_blank(false)?;
            match self.peek() {
                Some('=') if !self.rest.starts_with("==") && words.len() == 1 => {
                    self.skip(1);
                    self.outline.heads.push(StatementHead { depth, words, is_block: false });
                    return self.expression(depth);
                }
                Some('{') => {
                    self.skip(1);
                    self.outline.heads.push(StatementHead { depth, words, is_block: true });
                    return self.body(depth + 1);
                }
                Some('"') => {
                    self.skip(1);
                    let end = self.rest.find('"').ok_or("unterminated label")?;
                    let label = &self.rest[..end];
                    if label.contains(['\\', '\n']) || label.contains("${") || label.contains("%{") {
                        return Err("a label is not plain text".to_owned());
                    }
                    words.push(label.to_owned());
                    self.skip(end + 1);
                }
                _ => words.push(self.read_word().ok_or("expected an argument or a block")?),
            }
        }
    }

    fn read_word(&mut self) -> Option<String> {
        self.peek().filter(|char| char.is_alphabetic() || *char == '_')?;
        let end = self.rest.find(|char| !is_word(char)).unwrap_or(self.rest.len());
        let word = self.rest[..end].to_owned();
        self.skip(end);
        Some(word)
    }

    /// Scans to the end of the line, or to the closing brace of the enclosing block.
    fn expression(&mut self, depth: usize) -> Result<(), String> {
        self.code(Vec::new(), depth, true)
    }

    /// Scans until all brackets are closed or, with none open, to the end of the expression.
    fn code(&mut self, mut open: Vec<char>, depth: usize, may_have_heredocs: bool) -> Result<(), String> {
        if depth > MAX_NESTING_DEPTH {
            return Err("templates are nested too deeply".to_owned());
        }
        let is_template = !open.is_empty();
        loop {
            self.skip_blank(!open.is_empty())?;
            let Some(char) = self.peek() else {
                return if open.is_empty() { Ok(()) } else { Err("unclosed bracket".to_owned()) };
            };
            if open.is_empty() && matches!(char, '\n' | '\r' | '}') {
                return Ok(());
            }
            if self.accept("<<") {
                if !may_have_heredocs {
                    return Err("a heredoc inside a template is not supported".to_owned());
                }
                self.heredoc(depth)?;
                continue;
            }
            self.skip(char.len_utf8());
            match char {
                '"' => self.skip_quoted(depth)?,
                '(' => open.push(')'),
                '[' => open.push(']'),
                '{' => open.push('}'),
                ')' | ']' | '}' => {
                    if open.pop() != Some(char) {
                        return Err("unmatched closing bracket".to_owned());
                    }
                    if open.is_empty() && is_template {
                        return Ok(());
                    }
                }
                plain if plain.is_ascii_graphic() || is_word(plain) => {}
                _ => return Err("invalid character".to_owned()),
            }
            if open.len() > MAX_NESTING_DEPTH {
                return Err("brackets are nested too deeply".to_owned());
            }
        }
    }

    /// Scans a template or an escape at the current position. Returns whether there was one.
    fn template(&mut self, depth: usize) -> Result<bool, String> {
        for (sign, three, escape, begin) in [("$", "$$$", "$${", "${"), ("%", "%%%", "%%{", "%{")] {
            if self.rest.starts_with(three) && self.rest.trim_start_matches(sign).starts_with('{') {
                return Err("ambiguous template: too many `$` or `%` signs".to_owned());
            }
            if self.accept(escape) {
                return Ok(true);
            }
            if self.accept(begin) {
                self.code(vec!['}'], depth + 1, false)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Scans a string after its opening quote.
    fn skip_quoted(&mut self, depth: usize) -> Result<(), String> {
        loop {
            if self.template(depth)? {
                continue;
            }
            match self.peek() {
                None | Some('\n') => return Err("unterminated string".to_owned()),
                Some('"') => {
                    self.skip(1);
                    return Ok(());
                }
                Some('\\') => {
                    if !self.rest[1..].starts_with(['n', 'r', 't', '"', '\\', 'u', 'U']) {
                        return Err("invalid escape sequence".to_owned());
                    }
                    self.skip(2);
                }
                Some(other) => self.skip(other.len_utf8()),
            }
        }
    }

    /// Scans a heredoc after `<<`, up to the line break after its end marker.
    fn heredoc(&mut self, depth: usize) -> Result<(), String> {
        self.outline.heredocs += 1;
        self.accept("-");
        let marker = self.read_word().filter(|marker| marker.is_ascii()).ok_or("invalid heredoc marker")?;
        self.accept("\r");
        if !self.accept("\n") {
            return Err("unexpected text after a heredoc marker".to_owned());
        }
        let mut is_first = true;
        loop {
            let end = self.rest.find('\n').ok_or("unterminated heredoc")?;
            let line = &self.rest[..end];
            if line.trim() == marker {
                let before = &line[..line.find(marker.as_str()).unwrap_or(0)];
                if is_first || !before.bytes().all(|byte| matches!(byte, b' ' | b'\t')) {
                    return Err(
                        "a heredoc is empty, or its end marker is indented with other than spaces and tabs"
                            .to_owned(),
                    );
                }
                self.skip(if line.ends_with('\r') { end - 1 } else { end });
                return Ok(());
            }
            let after = line.trim_start().strip_prefix(marker.as_str());
            if after.is_some_and(|after| !after.starts_with(|char: char| char.is_ascii() && is_word(char))) {
                return Err("a heredoc line starts with its end marker, followed by other text".to_owned());
            }
            is_first = false;
            loop {
                if self.template(depth)? {
                    continue;
                }
                let Some(char) = self.peek() else { return Err("unterminated heredoc".to_owned()) };
                self.skip(char.len_utf8());
                if char == '\n' {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> Result<(), String> {
        let parsed: Body = text.parse().map_err(|error| format!("not parsed: {error}"))?;
        check_body(text, &parsed)
    }

    fn expression(text: &str) -> Result<(), String> {
        let parsed: Expression = text.trim().parse().map_err(|error| format!("not parsed: {error}"))?;
        check_expression(text, &parsed)
    }

    #[test]
    fn files_are_read_alike() {
        for text in [
            "",
            "# only a comment",
            "a = 1\n",
            "a = 1 // why\nb = 2 # why\n/* a { */ c = 3\n",
            "resource \"a\" \"b\" {\n  x = \"}\"\n  y = [\n    1,\n    { z = 2 },\n  ]\n  inner {\n    d = 4 / 2\n  }\n}\n",
            "provider \"azurerm\" {\n  features {}\n}\n",
            "locals { a = 1 }\n",
            "a = \"${b[\"c\"]}-${join(\"}\", [\"x\"])}\"\n",
            "a = \"$${b} %%{c} \\\" 100%\"\n",
            "a = <<EOT\ntext \" ' { $${x} ${f(\"}\")}\n  100%\nEOT\nb = 1\n",
            "a = <<-EOT\n    text\n    EOT\nb = 1\n",
            "a = <<EOT\n\nEOT\n",
            "a = <<EOT\nEOTX\nx EOT\nEOT\n",
            "a = f(<<EOT\nx\nEOT\n, 1)\n",
            "a = \"%{ if b }x%{ else }y%{ endif }\"\n",
            "a = {\n  b = 1\n  \"c d\" : 2\n}\n",
            "a = <<EOT\r\nx\r\nEOT\r\nb = 1\r\n",
            "a = b ? c : d\ne = f == g && !h\n",
            "größe = \"ß\"\n",
        ] {
            assert_eq!(body(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_terraform_reads_differently_is_refused() {
        let hidden = "data \"http\" \"x\" {\n  url = \"http://elsewhere\"\n}\n";
        let other = "locals {\n  b = <<EOT\ntext\nEOT\n}\n";
        for text in [
            // An empty heredoc and the code that it hides: at the top level, in a block, in brackets.
            format!("locals {{\n  a = <<EOT\nEOT\n}}\n{hidden}{other}"),
            format!("locals {{\n  a = <<-EOT\n    EOT\n}}\n{hidden}{other}"),
            "resource \"a\" \"b\" {\n  a = <<EOT\nEOT\n  provisioner \"local-exec\" {\n  }\n  b = <<EOT\ntext\nEOT\n}\n".to_owned(),
            "a = [<<EOT\nEOT\n, file(\"/etc/passwd\"), <<EOT\ntext\nEOT\n]\n".to_owned(),
            "a = <<EOT\nEOT\n".to_owned(),
            // A heredoc end for only one of the two.
            "a = [<<EOT\nx\nEOT, file(\"x\"), <<EOT\nEOT\n]\n".to_owned(),
            "a = <<EOT\nx\n\u{a0}EOT\n}\nEOT\n".to_owned(),
            "a = <<EOT\nx\nEOT".to_owned(),
            "a = \"${<<EOT\nx\nEOT\n}\"\n".to_owned(),
            "a = \"$$${b}\"\n".to_owned(),
            "a = 1\rb = 2\n".to_owned(),
            "\u{feff}a = 1\n".to_owned(),
            "resource \"a${b}\" \"c\" {}\n".to_owned(),
        ] {
            assert!(body(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_expression_is_one_expression() {
        for text in [
            "1",
            " local.a ",
            "[\n  1,\n  2,\n]",
            "<<EOT\ntext\nEOT\n",
            "<<-EOT\n  ${local.a}\n  EOT",
            "{ a = 1 }",
            "f(\n  1 # why\n)",
            "a ? b : c",
        ] {
            assert_eq!(expression(text), Ok(()), "{text}");
        }
        for text in [
            "<<EOT\nEOT\n}\ndata \"http\" \"x\" {\n}\nlocals {\n  other = <<EOT\ntext\nEOT\n",
            "<<EOT\nEOT",
            "<<EOT\nx\nEOT\n}\nlocals {\n  b = <<EOT\ny\nEOT\n",
            "1\nb = 2",
            "1 }",
            "\"a\nb\"",
        ] {
            assert!(expression(text).is_err(), "{text}");
        }
    }
}
