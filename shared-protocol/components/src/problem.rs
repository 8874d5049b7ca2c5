//! Problems in a component file, with their positions and expectations.

use crate::{MAX_PROBLEMS, SourcePosition, source::SourceNode};
use std::fmt;

/// One mistake: its position, a message and the expected value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{}:{}: {message}; expected {expected}", place.line, place.column)]
pub struct ComponentProblem {
    pub file: String,
    pub place: SourcePosition,
    pub message: String,
    pub expected: String,
}

/// All problems of one file, in file order. Never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ComponentProblems(pub Vec<ComponentProblem>);

impl fmt::Display for ComponentProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(ComponentProblem::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

pub(crate) struct ProblemCollector<'a> {
    file: &'a str,
    problems: Vec<ComponentProblem>,
}

impl<'a> ProblemCollector<'a> {
    pub(crate) fn new(file: &'a str) -> Self {
        Self { file, problems: Vec::new() }
    }

    pub(crate) fn add(
        &mut self,
        place: SourcePosition,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(ComponentProblem {
                file: self.file.to_owned(),
                place,
                message: message.into(),
                expected: expected.into(),
            });
        }
    }

    /// Reports a value of the wrong kind.
    pub(crate) fn add_mismatch(&mut self, found: &SourceNode, what: &str, expected: impl Into<String>) {
        self.add(found.place, format!("found {} for {what}", found.data.kind()), expected);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }

    /// Returns the value if there are no problems.
    pub(crate) fn into_result<T>(mut self, value: Option<T>) -> Result<T, ComponentProblems> {
        match value {
            Some(value) if self.problems.is_empty() => Ok(value),
            _ => {
                if self.problems.is_empty() {
                    self.add(SourcePosition::START, "the file contains no component", "a component");
                }
                self.problems.sort_by_key(|problem| problem.place);
                Err(ComponentProblems(self.problems))
            }
        }
    }
}
