//! Substitutes arguments and credentials: `{name}` and `{credential:ID:FIELD}`. A missing value is an error or
//! omitted, never empty text.

use super::credentials::ResolvedCredentials;
use serde_json::{Map, Value};
use shared_protocol::Refusal;

/// Encodes a value for its position.
pub(super) type EncodeFn = fn(&str) -> String;

pub(super) struct ArgumentTemplate<'a> {
    pub(super) arguments: &'a Map<String, Value>,
    pub(super) credentials: &'a ResolvedCredentials,
}

impl ArgumentTemplate<'_> {
    /// Returns `None` when an argument in the template is not given.
    pub(super) fn text(&self, template: &str, writing: EncodeFn) -> Result<Option<String>, Refusal> {
        let mut text = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let Some((name, after)) = after.split_once('}') else {
                return Err(Refusal::validation("template", format!("{template:.64} has an unclosed brace")));
            };
            match self.lookup(name)? {
                Some(value) => text.push_str(&writing(&value)),
                None => return Ok(None),
            }
            rest = after;
        }
        text.push_str(rest);
        Ok(Some(text))
    }

    fn lookup(&self, name: &str) -> Result<Option<String>, Refusal> {
        if let Some(credential) = name.strip_prefix("credential:") {
            let (id, field) = credential.split_once(':').unwrap_or((credential, "value"));
            return self.credentials.field(id, field).map(Some);
        }
        match self.arguments.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Array(_) | Value::Object(_)) => Err(Refusal::validation(
                format!("arguments.{name}"),
                format!("{name} must be a single value"),
            )),
            Some(plain) => Ok(Some(plain.to_string())),
        }
    }

    /// Replaces a string that is exactly one placeholder by the argument of any type. Omits missing arguments.
    pub(super) fn value(&self, template: &Value) -> Result<Option<Value>, Refusal> {
        Ok(Some(match template {
            Value::String(text) => {
                let whole = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
                match whole.filter(|name| !name.contains(['{', '}']) && !name.starts_with("credential:")) {
                    Some(name) => match self.arguments.get(name) {
                        Some(value) => value.clone(),
                        None => return Ok(None),
                    },
                    None => match self.text(text, str::to_owned)? {
                        Some(text) => Value::String(text),
                        None => return Ok(None),
                    },
                }
            }
            Value::Array(items) => {
                let items = items.iter().map(|item| self.value(item)).collect::<Result<Vec<_>, _>>()?;
                Value::Array(items.into_iter().flatten().collect())
            }
            Value::Object(members) => {
                let mut filled = Map::new();
                for (name, member) in members {
                    if let Some(value) = self.value(member)? {
                        filled.insert(name.clone(), value);
                    }
                }
                Value::Object(filled)
            }
            plain => plain.clone(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_stay_in_their_place_and_missing_ones_are_not_empty_text() {
        let arguments = json!({"id": "a/b", "n": 3, "list": [1, 2]});
        let arguments = arguments.as_object().expect("an object");
        let template = ArgumentTemplate { arguments, credentials: &ResolvedCredentials::default() };
        let encoded = crate::http::percent_encode;
        assert_eq!(template.text("/x/{id}/{n}", encoded), Ok(Some("/x/a%2Fb/3".to_owned())));
        assert_eq!(template.text("/x/{other}", encoded), Ok(None));
        assert!(template.text("/x/{list}", encoded).is_err());
        assert!(template.text("{credential:none:token}", encoded).is_err());
        let body = template.value(&json!({"items": "{list}", "text": "no {n}", "gone": "{other}"}));
        assert_eq!(body, Ok(Some(json!({"items": [1, 2], "text": "no 3"}))));
    }
}
