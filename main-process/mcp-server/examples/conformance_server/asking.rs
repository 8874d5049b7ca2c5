//! Tools of the modern protocol that need client input first: the client calls each again with the responses.

use crate::answers::said;
use rmcp::model::{ClientCapabilities, InputResponses};
use serde_json::{Value, json};

/// The outcome of a call.
pub(crate) enum Outcome {
    Answer(Value),
    /// Requests input from the client: the requests and the state.
    Ask(Value, Option<String>),
    /// A protocol error.
    Refuse(String),
}

use Outcome::{Answer, Ask, Refuse};

pub(crate) struct Asked<'a> {
    pub(crate) responses: Option<&'a InputResponses>,
    pub(crate) state: Option<&'a str>,
    pub(crate) capabilities: Option<ClientCapabilities>,
}

fn elicit(message: &str, field: &str, kind: &str) -> Value {
    json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": message,
            "requestedSchema": { "type": "object", "properties": { field: { "type": kind } }, "required": [field] }
        }
    })
}

fn sample(text: &str, most: u32) -> Value {
    json!({
        "method": "sampling/createMessage",
        "params": { "messages": [{ "role": "user", "content": { "type": "text", "text": text } }], "maxTokens": most }
    })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

/// Seals a state so that tampering is detected.
fn seal(state: &str) -> String {
    format!("{state}.{:016x}", digest(state))
}

fn open(sealed: &str) -> Option<&str> {
    let (state, mark) = sealed.rsplit_once('.')?;
    (format!("{:016x}", digest(state)) == mark).then_some(state)
}

fn digest(text: &str) -> u64 {
    let keyed = format!("fixture-key {text}");
    keyed
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Asked<'_> {
    fn response(&self, key: &str) -> Option<&Value> {
        self.responses?.get(key).filter(|response| response.is_object())
    }

    /// Returns a field of a submitted form.
    fn filled(&self, key: &str, field: &str) -> Option<&str> {
        self.response(key)?.get("content")?.get(field)?.as_str()
    }
}

/// Returns `None` when the tool is not one of these.
pub(crate) fn tool(name: &str, asked: &Asked<'_>) -> Option<Outcome> {
    Some(match name {
        "test_input_required_result_elicitation" => match asked.filled("user_name", "name") {
            Some(name) => Answer(said(&format!("Hello, {name}!"))),
            None => Ask(json!({ "user_name": elicit("What is your name?", "name", "string") }), None),
        },
        "test_input_required_result_sampling" => match asked.response("capital_question") {
            Some(response) => Answer(said(response["content"]["text"].as_str().unwrap_or("Paris"))),
            None => Ask(json!({ "capital_question": sample("What is the capital of France?", 100) }), None),
        },
        "test_input_required_result_list_roots" => match asked.response("client_roots") {
            Some(response) => Answer(said(&format!("Roots: {}", response["roots"]))),
            None => Ask(json!({ "client_roots": roots() }), None),
        },
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            match (asked.response("confirm"), asked.state.map(open)) {
                (_, Some(None)) => Refuse("the request state was changed".to_owned()),
                (Some(_), Some(Some(_))) => Answer(said("state-ok")),
                _ => Ask(
                    json!({ "confirm": elicit("Please confirm", "ok", "boolean") }),
                    Some(seal("confirm")),
                ),
            }
        }
        "test_input_required_result_multiple_inputs" => {
            let all =
                ["user_name", "greeting", "client_roots"].iter().all(|key| asked.response(key).is_some());
            if all {
                return Some(Answer(said("All inputs received")));
            }
            let requests = json!({
                "user_name": elicit("What is your name?", "name", "string"),
                "greeting": sample("Generate a greeting", 50),
                "client_roots": roots()
            });
            Ask(requests, Some(seal("multiple")))
        }
        "test_input_required_result_multi_round" => rounds(asked),
        "test_input_required_result_capabilities" => match asked.responses {
            Some(_) => Answer(said("done")),
            None => Ask(what_the_client_can(asked.capabilities.as_ref()), None),
        },
        "test_streaming_elicitation" => match asked.responses {
            Some(_) => Answer(said("done")),
            None => Ask(json!({ "confirm": elicit("Please confirm", "ok", "boolean") }), None),
        },
        _ => return None,
    })
}

fn rounds(asked: &Asked<'_>) -> Outcome {
    let first = || {
        Ask(json!({ "step1": elicit("Step 1: What is your name?", "name", "string") }), Some(seal("round-1")))
    };
    match asked.state.map(open) {
        None => first(),
        Some(None) => Refuse("the request state was changed".to_owned()),
        Some(Some(state)) => match state.strip_prefix("round-2 ") {
            Some(name) => match asked.filled("step2", "color") {
                Some(colour) => Answer(said(&format!("{name} likes {colour}"))),
                None => first(),
            },
            None => match asked.filled("step1", "name") {
                Some(name) => Ask(
                    json!({ "step2": elicit("Step 2: What is your favorite color?", "color", "string") }),
                    Some(seal(&format!("round-2 {name}"))),
                ),
                None => first(),
            },
        },
    }
}

fn what_the_client_can(capabilities: Option<&ClientCapabilities>) -> Value {
    let mut requests = json!({});
    let Some(capabilities) = capabilities else { return requests };
    if capabilities.elicitation.is_some() {
        requests["user_name"] = elicit("What is your name?", "name", "string");
    }
    if capabilities.sampling.is_some() {
        requests["greeting"] = sample("Generate a greeting", 50);
    }
    if capabilities.roots.is_some() {
        requests["client_roots"] = roots();
    }
    requests
}

/// The prompt that needs client input first.
pub(crate) fn prompt(name: &str, asked: &Asked<'_>) -> Option<Outcome> {
    if name != "test_input_required_result_prompt" {
        return None;
    }
    Some(match asked.filled("user_context", "context") {
        Some(context) => Answer(json!({
            "messages": [{ "role": "user", "content": { "type": "text", "text": format!("With context: {context}") } }]
        })),
        None => Ask(
            json!({ "user_context": elicit("What context should the prompt use?", "context", "string") }),
            None,
        ),
    })
}
