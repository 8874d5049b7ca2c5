//! HCL bodies: arguments and nested blocks, formatted like `terraform fmt`.

use super::{
    expression::{HclExpression, pad, write_aligned},
    quote::quote,
};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct HclBody {
    pub items: Vec<HclStatement>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum HclStatement {
    Argument(String, HclExpression),
    Block {
        name: String,
        labels: Vec<String>,
        body: HclBody,
    },
    /// Lines that are written unchanged.
    Verbatim(String),
    /// A blank line between arguments; blocks always have one around them.
    Gap,
}

impl HclBody {
    pub fn add_argument(&mut self, name: impl Into<String>, value: HclExpression) {
        self.items.push(HclStatement::Argument(name.into(), value));
    }

    pub fn add_block(&mut self, name: impl Into<String>, labels: Vec<String>, body: Self) {
        self.items.push(HclStatement::Block { name: name.into(), labels, body });
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn has(&self, wanted: &str) -> bool {
        self.items.iter().any(|item| match item {
            HclStatement::Argument(name, _) | HclStatement::Block { name, .. } => name == wanted,
            HclStatement::Verbatim(_) | HclStatement::Gap => false,
        })
    }

    pub fn write(&self, out: &mut String, indent: usize) {
        let mut next = 0;
        let mut first = true;
        while next < self.items.len() {
            match &self.items[next] {
                HclStatement::Argument(..) => {
                    let run: Vec<(String, &HclExpression)> = self.items[next..]
                        .iter()
                        .map_while(|item| match item {
                            HclStatement::Argument(name, value) => Some((name.clone(), value)),
                            _ => None,
                        })
                        .collect();
                    write_aligned(out, &run, indent);
                    next += run.len();
                }
                HclStatement::Block { name, labels, body } => {
                    if !first {
                        out.push('\n');
                    }
                    pad(out, indent);
                    write_block(out, name, labels, body, indent);
                    out.push('\n');
                    next += 1;
                    if matches!(self.items.get(next), Some(HclStatement::Argument(..))) {
                        out.push('\n');
                    }
                }
                HclStatement::Verbatim(text) => {
                    if !first {
                        out.push('\n');
                    }
                    for line in text.trim_matches('\n').lines() {
                        if !line.trim().is_empty() {
                            pad(out, indent);
                            out.push_str(line.trim_end());
                        }
                        out.push('\n');
                    }
                    next += 1;
                }
                HclStatement::Gap => {
                    if !first && next + 1 < self.items.len() {
                        out.push('\n');
                    }
                    next += 1;
                }
            }
            first = false;
        }
    }
}

/// Writes `name "label" { … }` without a trailing newline.
pub(super) fn write_block(out: &mut String, name: &str, labels: &[String], body: &HclBody, indent: usize) {
    out.push_str(name);
    for label in labels {
        out.push(' ');
        out.push_str(&quote(label));
    }
    if body.is_empty() {
        out.push_str(" {}");
        return;
    }
    out.push_str(" {\n");
    body.write(out, indent + 2);
    pad(out, indent);
    out.push('}');
}

impl HclBody {
    /// Returns a top-level block with a trailing newline.
    pub fn to_block(&self, name: &str, labels: &[&str]) -> String {
        let mut out = String::with_capacity(256);
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        write_block(&mut out, name, &labels, self, 0);
        out.push('\n');
        out
    }
}
