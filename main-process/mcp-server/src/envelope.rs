//! The one shape that every tool answers with. Data may be large, so an envelope is encoded once and goes onto the wire as it
//! is: as `structuredContent`, and as a JSON text in `content` for clients and frameworks that show the model nothing else.

use crate::{Failure, shown::shown};
use bytes::Bytes;
use rmcp::model::ContentBlock;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;

/// Bytes of one message to a client; several clients refuse a larger one.
pub const MAX_MESSAGE_BYTES: usize = 1 << 20;
/// Bytes that the protocol may add around an envelope.
const MAX_FRAME_BYTES: usize = 16 * 1024;
/// Bytes of one envelope. A message carries it twice, and escaping JSON as a text at most doubles it.
pub const MAX_ENVELOPE_BYTES: usize = (MAX_MESSAGE_BYTES - MAX_FRAME_BYTES) / 3;
/// Bytes of the diagnostics beside the data.
const MAX_DIAGNOSTICS_BYTES: usize = 48 * 1024;

/// What a tool answers when it did what was asked.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    /// Compact JSON.
    pub data: String,
    pub meta: Meta,
    pub diagnostics: Vec<Diagnostic>,
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
}

pub(crate) fn to_json(data: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(data).map_err(|error| {
        Failure::new(crate::Code::Internal, format!("an answer could not be written: {error}"))
    })
}

/// An envelope as it goes onto the wire, in both of its forms.
#[derive(Debug, Clone)]
pub(crate) struct EncodedAnswer {
    /// The JSON itself.
    pub(crate) json: Bytes,
    /// The same bytes as a JSON text, with its quotes.
    pub(crate) text: Bytes,
}

impl EncodedAnswer {
    pub(crate) fn new(json: String) -> Self {
        // Writing a text into memory cannot fail.
        let text = serde_json::to_vec(&json).unwrap_or_default();
        Self { json: json.into(), text: text.into() }
    }
}

/// An answer ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Sealed {
    pub(crate) answer: EncodedAnswer,
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
    let Reply { data, mut meta, mut diagnostics, content } = reply;
    if let Some(left_out) = bound_diagnostics(&mut diagnostics) {
        meta.cut = Some("the byte budget of one answer is used up");
        diagnostics.push(left_out);
    }
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
    if structured.len() > MAX_ENVELOPE_BYTES {
        return seal_failure(tool, &too_large(structured.len()));
    }
    Sealed { answer: EncodedAnswer::new(structured), content, is_error: false }
}

/// Keeps the first diagnostics that fit; returns one that counts the others.
fn bound_diagnostics(diagnostics: &mut Vec<Diagnostic>) -> Option<Diagnostic> {
    let mut bytes = 0;
    let fits = |diagnostic: &&Diagnostic| {
        bytes += to_json(diagnostic).map_or(0, |text| text.len() + 1);
        bytes <= MAX_DIAGNOSTICS_BYTES
    };
    let (total, fitting) = (diagnostics.len(), diagnostics.iter().take_while(fits).count());
    diagnostics.truncate(fitting);
    (fitting < total).then(|| Diagnostic {
        severity: "info",
        message: format!(
            "{} more diagnostics are left out; validate_diagram lists them in pages",
            total - fitting
        ),
        element: None,
        field: None,
    })
}

fn too_large(bytes: usize) -> Failure {
    let message = format!(
        "the answer has {bytes} bytes and one message carries {MAX_ENVELOPE_BYTES}, so nothing of it was sent"
    );
    Failure::new(crate::Code::LimitExceeded, message)
        .hint("Ask for less: a smaller limit, detail \"summary\" or \"ids\", one board, one file.")
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
    Sealed { answer: EncodedAnswer::new(structured), content: Vec::new(), is_error: true }
}
