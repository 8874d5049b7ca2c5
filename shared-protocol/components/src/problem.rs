//! Problems in a component file, with their positions and expectations.

use crate::{MAX_PROBLEMS, Place};
use std::fmt;

/// One mistake: its position, a message and the expected value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{}:{}: {message}; expected {expected}", place.line, place.column)]
pub struct Problem {
    pub file: String,
    pub place: Place,
    pub message: String,
    pub expected: String,
}

/// All problems of one file, in file order. Never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

/// Collects the problems of one file.
pub(crate) struct Findings<'a> {
    file: &'a str,
    found: Vec<Problem>,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(file: &'a str) -> Self {
        Self { file, found: Vec::new() }
    }

    pub(crate) fn add(&mut self, place: Place, message: impl Into<String>, expected: impl Into<String>) {
        if self.found.len() < MAX_PROBLEMS {
            self.found.push(Problem {
                file: self.file.to_owned(),
                place,
                message: message.into(),
                expected: expected.into(),
            });
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.found.len() >= MAX_PROBLEMS
    }

    /// Returns the value if there are no problems.
    pub(crate) fn settle<T>(mut self, value: Option<T>) -> Result<T, Problems> {
        match value {
            Some(value) if self.found.is_empty() => Ok(value),
            _ => {
                if self.found.is_empty() {
                    self.add(Place::START, "the file contains no component", "a component");
                }
                self.found.sort_by_key(|problem| problem.place);
                Err(Problems(self.found))
            }
        }
    }
}
