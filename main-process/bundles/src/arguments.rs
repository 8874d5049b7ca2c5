//! Reads the arguments of a tool or prompt. A wrong type or an exceeded limit is refused by argument name; unknown
//! arguments are ignored, as the contract requires.

use serde_json::{Map, Value};
use shared_protocol::{Refusal, RefusalCode};

pub(crate) struct CallArguments<'a> {
    members: Option<&'a Map<String, Value>>,
}

type ArgumentResult<T> = Result<T, Refusal>;

fn invalid_argument(field: &str, message: String) -> Refusal {
    Refusal::new(RefusalCode::BadRequest, message).field(field)
}

impl<'a> CallArguments<'a> {
    /// Reads the arguments; `null` means no arguments.
    pub(crate) fn parse(arguments: &'a Value) -> ArgumentResult<Self> {
        match arguments {
            Value::Null => Ok(Self { members: None }),
            Value::Object(members) => Ok(Self { members: Some(members) }),
            _ => Err(Refusal::new(RefusalCode::BadRequest, "The arguments must be an object")),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.members?.get(name)
    }

    /// Refuses arguments that are not in `known`, for tools without arguments.
    pub(crate) fn expect_only(&self, known: &[&str]) -> ArgumentResult<()> {
        match self.members.into_iter().flat_map(Map::keys).find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(invalid_argument(key, format!("Unrecognized argument: {key}"))),
            None => Ok(()),
        }
    }

    pub(crate) fn text(&self, name: &str) -> ArgumentResult<Option<&'a str>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(invalid_argument(name, format!("{name} must be a text, not {}", kind(other)))),
        }
    }

    pub(crate) fn required_text(&self, name: &str) -> ArgumentResult<&'a str> {
        self.text(name)?.ok_or_else(|| invalid_argument(name, format!("{name} is required")))
    }

    pub(crate) fn one_of(
        &self,
        name: &str,
        known: &[&'static str],
        usual: &'static str,
    ) -> ArgumentResult<&'static str> {
        let Some(text) = self.text(name)? else { return Ok(usual) };
        known.iter().copied().find(|known| *known == text).ok_or_else(|| {
            invalid_argument(name, format!("{name} must be one of {}, not {text:?}", known.join(", ")))
        })
    }

    pub(crate) fn flag(&self, name: &str, usual: bool) -> ArgumentResult<bool> {
        match self.get(name) {
            None => Ok(usual),
            Some(Value::Bool(yes)) => Ok(*yes),
            Some(other) => {
                Err(invalid_argument(name, format!("{name} must be true or false, not {}", kind(other))))
            }
        }
    }

    /// Returns a non-negative integer; refuses values above `most`.
    pub(crate) fn count(&self, name: &str, usual: usize, most: usize) -> ArgumentResult<usize> {
        match self.count_of_any_size(name, usual)? {
            count if count <= most => Ok(count),
            _ => Err(invalid_argument(name, format!("{name} must be less than or equal to {most}"))),
        }
    }

    /// Returns a non-negative integer, clamped to `most`.
    pub(crate) fn clamped(&self, name: &str, usual: usize, most: usize) -> ArgumentResult<usize> {
        Ok(self.count_of_any_size(name, usual)?.min(most))
    }

    fn count_of_any_size(&self, name: &str, usual: usize) -> ArgumentResult<usize> {
        let Some(value) = self.get(name) else { return Ok(usual) };
        let count = value.as_u64().or_else(|| {
            let whole = value.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0)?;
            format!("{whole}").parse().ok()
        });
        count.and_then(|count| usize::try_from(count).ok()).ok_or_else(|| {
            invalid_argument(name, format!("{name} must be a whole number from 0 on, not {value}"))
        })
    }

    pub(crate) fn texts(&self, name: &str) -> ArgumentResult<Option<Vec<&'a str>>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let items = value.as_array().and_then(|items| items.iter().map(Value::as_str).collect());
        items.map(Some).ok_or_else(|| invalid_argument(name, format!("{name} must be a list of texts")))
    }

    pub(crate) fn objects(&self, name: &str) -> ArgumentResult<Vec<CallArguments<'a>>> {
        let Some(value) = self.get(name) else {
            return Err(invalid_argument(name, format!("{name} is required")));
        };
        let items = value.as_array().map(|items| {
            items.iter().map(|item| item.as_object().map(|members| Self { members: Some(members) })).collect()
        });
        items.flatten().ok_or_else(|| invalid_argument(name, format!("{name} must be a list of objects")))
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
