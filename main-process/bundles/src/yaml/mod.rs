//! YAML 1.2 with the core schema: reads it into [`OrderedValue`], writes it, and edits it in place so that comments, order and
//! style are preserved.
//!
//! The nesting depth and the number of values are limited; every use of an alias counts.

mod edit;
mod read;
mod scalar;
mod tree;
mod write;

pub(crate) use edit::rewrite;
pub(crate) use read::read;
pub(crate) use write::write;

use shared_protocol::OrderedValue;

/// The maximum nesting depth of values.
pub(crate) const MAX_NESTING_DEPTH: usize = 100;
/// The maximum number of values in a document after aliases are expanded.
pub(crate) const MAX_VALUES: usize = 200_000;

/// Returns the text of a YAML document with the value at a path of keys and list indexes set, and everything else
/// preserved. The parents of the value must exist.
pub fn set_in_yaml(text: &str, path: &[&str], value: &serde_json::Value) -> Result<String, String> {
    let mut wanted = read(text).map_err(|error| error.to_string())?;
    let (last, parents) = path.split_last().ok_or("the path is empty")?;
    let mut at = &mut wanted;
    for parent in parents {
        let found = match at {
            OrderedValue::Map(members) => members.get_mut(parent),
            OrderedValue::List(items) => parent.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
            _ => None,
        };
        at = found.ok_or_else(|| format!("`{parent}` does not exist"))?;
    }
    let OrderedValue::Map(members) = at else {
        return Err(format!("the parent of `{last}` is not a mapping"));
    };
    members.set(last, OrderedValue::from(value));
    rewrite(text, &wanted).map_err(|error| error.to_string())
}
