//! Replays against the crate directly, without a server.

use crate::run::{Subject, sources};
use bundles::{BundleToolEnvelope, Bundles, begin_critique, call_writing, complete, prompt, read_resource};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) struct Engine(Bundles);

impl Engine {
    pub(crate) fn start(launch: &[String]) -> Option<Self> {
        let bundles = Bundles::load(&sources(launch)?);
        let any = bundles.iter().len() > 0;
        any.then_some(Self(bundles))
    }
}

impl Subject for Engine {
    fn tool(&mut self, params: &Value) -> Value {
        call_writing(&mut self.0, params["name"].as_str().unwrap(), &params["arguments"]).to_json()
    }

    fn sampled(&mut self, params: &Value, reply: &Value) -> (Value, Option<Value>) {
        let begun = match begin_critique(&self.0, &params["arguments"]) {
            Err(envelope) => return (envelope.to_json(), None),
            Ok(begun) => begun,
        };
        let answer = match reply["result"]["content"]["text"].as_str() {
            Some(text) => begun.answer(text, reply["result"]["model"].as_str().unwrap()),
            None => begun.failure_envelope("no reply in time"),
        };
        (answer.to_json(), Some(begun.request.to_json()))
    }

    fn prompt(&mut self, params: &Value) -> Result<String, String> {
        prompt(&self.0, params["name"].as_str().unwrap(), &params["arguments"])
            .map_err(|refusal| refusal.message)
    }

    fn complete(&mut self, params: &Value) -> Result<Value, String> {
        let of = params["ref"]["name"].as_str().or_else(|| params["ref"]["uri"].as_str()).unwrap();
        let text = |key: &str| params["argument"][key].as_str().unwrap();
        let given: BTreeMap<String, String> =
            serde_json::from_value(params["context"]["arguments"].clone()).unwrap_or_default();
        let found = complete(&self.0, of, text("name"), text("value"), &given);
        let found = found.map_err(|refusal| refusal.message)?;
        Ok(json!({"values": found.values, "total": found.total, "hasMore": found.has_more}))
    }

    fn read(&mut self, uri: &str) -> Result<Value, Value> {
        match read_resource(&self.0, uri) {
            Ok(content) => Ok(json!({"text": content.text, "mimeType": content.mime_type, "uri": uri})),
            Err(refusal) => {
                let envelope = BundleToolEnvelope { tool: String::new(), result: Err(refusal) };
                Err(envelope.to_json()["error"].take())
            }
        }
    }

    fn command(&mut self, method: &str, is_json: bool) -> (Value, i32) {
        let bundle = self.0.iter().next().unwrap();
        if method == "cli/validate" {
            let found = bundle.diagnostics();
            let code = i32::from(found.iter().any(|finding| finding.is_error()));
            let shown = found
                .iter()
                .map(|finding| if is_json { finding.to_data().to_json() } else { json!(finding.to_line()) });
            return (shown.collect(), code);
        }
        let coverage = bundle.coverage();
        let shown = match is_json {
            true => coverage.iter().map(|each| (each.relation.clone(), each.to_data().to_json())).collect(),
            false => coverage.iter().map(|each| json!(each.to_line())).collect(),
        };
        (shown, 0)
    }
}
