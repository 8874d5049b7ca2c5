//! The envelope that every tool answers with. Data may be large, so an envelope is encoded once and sent as it is: as
//! `structuredContent`, and as JSON text in `content` for clients and frameworks that show the model nothing else.

use crate::{escape::escape_hidden, refusal::AgentRefusal};
use bytes::Bytes;
use rmcp::model::ContentBlock;
use serde::Serialize;
use serde_json::Value;
use shared_protocol::{Refusal, RefusalCode};
use std::fmt::Write as _;

/// The maximum bytes of one message to a client; several clients refuse larger ones.
pub const MAX_MESSAGE_BYTES: usize = 1 << 20;
/// The maximum bytes that the protocol adds around an envelope.
const MAX_FRAME_BYTES: usize = 16 * 1024;
/// The maximum bytes of one envelope. A message carries it twice, and escaping JSON as text at most doubles it.
pub const MAX_ENVELOPE_BYTES: usize = (MAX_MESSAGE_BYTES - MAX_FRAME_BYTES) / 3;
/// The maximum bytes of the diagnostics.
const MAX_DIAGNOSTICS_BYTES: usize = 48 * 1024;

/// A successful answer of a tool.
#[derive(Debug, Clone, Default)]
pub struct ToolReply {
    /// Compact JSON.
    pub data: String,
    pub meta: EnvelopeMeta,
    pub diagnostics: Vec<EnvelopeDiagnostic>,
    /// Further content, such as images.
    pub content: Vec<ContentBlock>,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EnvelopeMeta {
    pub revision: u64,
    pub board: Option<String>,
    pub returned: Option<usize>,
    pub total: Option<usize>,
    pub has_more: Option<bool>,
    pub cursor: Option<String>,
    /// The reason a page is shorter than requested.
    pub cut: Option<&'static str>,
    pub selection: Option<Vec<String>>,
    pub viewport: Option<Value>,
    /// Totals over all pages.
    pub totals: Option<Value>,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EnvelopeDiagnostic {
    pub severity: &'static str,
    pub message: String,
    pub element: Option<String>,
    pub field: Option<String>,
}

impl ToolReply {
    pub fn new(data: &impl Serialize, meta: EnvelopeMeta) -> Result<Self, Refusal> {
        Ok(Self { data: to_json(data)?, meta, ..Self::default() })
    }
}

pub(crate) fn to_json(data: &impl Serialize) -> Result<String, Refusal> {
    serde_json::to_string(data)
        .map_err(|error| Refusal::new(RefusalCode::Internal, format!("Encoding the answer failed: {error}")))
}

/// An encoded envelope in both of its wire forms.
#[derive(Debug, Clone)]
pub(crate) struct EncodedEnvelope {
    /// The JSON itself.
    pub(crate) json: Bytes,
    /// The same bytes as a JSON string with its quotes.
    pub(crate) text: Bytes,
}

impl EncodedEnvelope {
    pub(crate) fn new(json: String) -> Self {
        // Encoding a string into memory cannot fail.
        let text = serde_json::to_vec(&json).unwrap_or_default();
        Self { json: json.into(), text: text.into() }
    }
}

/// A sealed answer that is ready to send.
#[derive(Debug, Clone)]
pub(crate) struct SealedEnvelope {
    pub(crate) answer: EncodedEnvelope,
    pub(crate) content: Vec<ContentBlock>,
    pub(crate) is_error: bool,
}

pub(crate) fn seal(tool: &str, result: Result<ToolReply, Refusal>) -> SealedEnvelope {
    match result {
        Ok(reply) => seal_reply(tool, reply),
        Err(failure) => seal_failure(tool, &failure),
    }
}

fn seal_reply(tool: &str, reply: ToolReply) -> SealedEnvelope {
    let ToolReply { data, mut meta, mut diagnostics, content } = reply;
    if let Some(left_out) = bound_diagnostics(&mut diagnostics) {
        meta.cut = Some("the answer reached its byte limit");
        diagnostics.push(left_out);
    }
    let (Ok(tool_text), Ok(meta), Ok(diagnostics)) = (to_json(&tool), to_json(&meta), to_json(&diagnostics))
    else {
        return seal_failure(tool, &Refusal::new(RefusalCode::Internal, "Encoding the answer failed"));
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
    SealedEnvelope { answer: EncodedEnvelope::new(structured), content, is_error: false }
}

/// Keeps the first diagnostics that fit and returns one that counts the rest.
fn bound_diagnostics(diagnostics: &mut Vec<EnvelopeDiagnostic>) -> Option<EnvelopeDiagnostic> {
    let mut bytes = 0;
    let fits = |diagnostic: &&EnvelopeDiagnostic| {
        bytes += to_json(diagnostic).map_or(0, |text| text.len() + 1);
        bytes <= MAX_DIAGNOSTICS_BYTES
    };
    let (total, fitting) = (diagnostics.len(), diagnostics.iter().take_while(fits).count());
    diagnostics.truncate(fitting);
    (fitting < total).then(|| EnvelopeDiagnostic {
        severity: "info",
        message: format!(
            "{} more diagnostics are omitted; call validate_diagram to list them in pages",
            total - fitting
        ),
        element: None,
        field: None,
    })
}

fn too_large(bytes: usize) -> Refusal {
    let message = format!(
        "The answer has {bytes} bytes, more than the {MAX_ENVELOPE_BYTES} that fit into one message, and was not sent"
    );
    Refusal::new(RefusalCode::LimitExceeded, message)
        .hint("Request less: a smaller limit, detail \"summary\" or \"ids\", one board, one file.")
}

fn seal_failure(tool: &str, failure: &Refusal) -> SealedEnvelope {
    #[derive(Serialize)]
    struct FailedEnvelope<'a> {
        ok: bool,
        tool: &'a str,
        error: AgentRefusal<'a>,
    }
    // Messages may quote arguments or document text.
    let mut failure = failure.clone();
    failure.message = escape_hidden(&failure.message).into_owned();
    let structured =
        serde_json::to_string(&FailedEnvelope { ok: false, tool, error: AgentRefusal::from(&failure) })
            .unwrap_or_else(|_| {
                r#"{"ok":false,"tool":"","error":{"code":"INTERNAL","message":"Encoding the error failed"}}"#
                    .to_owned()
            });
    SealedEnvelope { answer: EncodedEnvelope::new(structured), content: Vec::new(), is_error: true }
}
