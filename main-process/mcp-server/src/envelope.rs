//! The one shape that every tool answers with. Data may be large, so an envelope is text from the start and goes onto the
//! wire as it is.

use crate::{Failure, shown::shown};
use rmcp::model::ContentBlock;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;

/// Answers up to this many bytes are also given as text, for clients that read nothing else.
pub(crate) const MOST_AS_TEXT: usize = 4 * 1024;

/// What a tool answers when it did what was asked.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    /// Compact JSON.
    pub data: String,
    pub meta: Meta,
    pub diagnostics: Vec<Diagnostic>,
    /// One line that stands for the data where that is too large to be said twice.
    pub summary: String,
    /// Pictures and the like.
    pub content: Vec<ContentBlock>,
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    pub revision: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returned: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Why a page is shorter than asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewport: Option<Value>,
    /// Over all pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub totals: Option<Value>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    pub severity: &'static str,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl Reply {
    pub fn new(data: &impl Serialize, meta: Meta) -> Result<Self, Failure> {
        Ok(Self { data: to_json(data)?, meta, ..Self::default() })
    }

    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = summary.into();
        self
    }
}

pub(crate) fn to_json(data: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(data).map_err(|error| {
        Failure::new(crate::Code::Internal, format!("an answer could not be written: {error}"))
    })
}

/// An answer ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Sealed {
    pub(crate) structured: String,
    pub(crate) text: String,
    pub(crate) content: Vec<ContentBlock>,
    pub(crate) is_error: bool,
}

pub(crate) fn seal(tool: &str, result: Result<Reply, Failure>) -> Sealed {
    match result {
        Ok(reply) => seal_reply(tool, reply),
        Err(failure) => seal_failure(tool, &failure),
    }
}

fn seal_reply(tool: &str, reply: Reply) -> Sealed {
    let Reply { data, meta, diagnostics, summary, content } = reply;
    let (Ok(tool_text), Ok(meta), Ok(diagnostics)) = (to_json(&tool), to_json(&meta), to_json(&diagnostics))
    else {
        return seal_failure(tool, &Failure::new(crate::Code::Internal, "the answer could not be written"));
    };
    let mut structured = String::with_capacity(data.len() + meta.len() + diagnostics.len() + 64);
    // Writing to a string cannot fail.
    let _ = write!(
        structured,
        r#"{{"ok":true,"tool":{tool_text},"data":{data},"meta":{meta},"diagnostics":{diagnostics}}}"#
    );
    let text =
        if structured.len() <= MOST_AS_TEXT || summary.is_empty() { structured.clone() } else { summary };
    Sealed { structured, text, content, is_error: false }
}

fn seal_failure(tool: &str, failure: &Failure) -> Sealed {
    #[derive(Serialize)]
    struct Failed<'a> {
        ok: bool,
        tool: &'a str,
        error: &'a Failure,
    }
    // Messages may quote what was asked for or what a document says.
    let mut failure = failure.clone();
    failure.message = shown(&failure.message).into_owned();
    let structured =
        serde_json::to_string(&Failed { ok: false, tool, error: &failure }).unwrap_or_else(|_| {
            r#"{"ok":false,"tool":"","error":{"code":"INTERNAL","message":"unwritable"}}"#.to_owned()
        });
    Sealed { text: structured.clone(), structured, content: Vec::new(), is_error: true }
}
