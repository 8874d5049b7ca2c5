//! HCL bodies: arguments and nested blocks, formatted like `terraform fmt`.

use super::{
    expression::{Expression, pad, write_aligned},
    quote::quoted,
};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Body {
    pub items: Vec<Item>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    Argument(String, Expression),
    Block {
        name: String,
        labels: Vec<String>,
        body: Body,
    },
    /// Lines that are written unchanged.
    Verbatim(String),
    /// A blank line between arguments; blocks always have one around them.
    Gap,
}

impl Body {
    pub fn argument(&mut self, name: impl Into<String>, value: Expression) {
        self.items.push(Item::Argument(name.into(), value));
    }

    pub fn block(&mut self, name: impl Into<String>, labels: Vec<String>, body: Self) {
        self.items.push(Item::Block { name: name.into(), labels, body });
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn has(&self, wanted: &str) -> bool {
        self.items.iter().any(|item| match item {
            Item::Argument(name, _) | Item::Block { name, .. } => name == wanted,
            Item::Verbatim(_) | Item::Gap => false,
        })
    }

    pub fn write(&self, out: &mut String, indent: usize) {
        let mut next = 0;
        let mut first = true;
        while next < self.items.len() {
            match &self.items[next] {
                Item::Argument(..) => {
                    let run: Vec<(String, &Expression)> = self.items[next..]
                        .iter()
                        .map_while(|item| match item {
                            Item::Argument(name, value) => Some((name.clone(), value)),
                            _ => None,
                        })
                        .collect();
                    write_aligned(out, &run, indent);
                    next += run.len();
                }
                Item::Block { name, labels, body } => {
                    if !first {
                        out.push('\n');
                    }
                    pad(out, indent);
                    write_block(out, name, labels, body, indent);
                    out.push('\n');
                    next += 1;
                    if matches!(self.items.get(next), Some(Item::Argument(..))) {
                        out.push('\n');
                    }
                }
                Item::Verbatim(text) => {
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
                Item::Gap => {
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
pub(super) fn write_block(out: &mut String, name: &str, labels: &[String], body: &Body, indent: usize) {
    out.push_str(name);
    for label in labels {
        out.push(' ');
        out.push_str(&quoted(label));
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

impl Body {
    /// Returns a top-level block with a trailing newline.
    pub fn to_block(&self, name: &str, labels: &[&str]) -> String {
        let mut out = String::with_capacity(256);
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        write_block(&mut out, name, &labels, self, 0);
        out.push('\n');
        out
    }
}
