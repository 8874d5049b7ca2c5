//! YAML 1.2 with the core schema: reading it into [`Data`], writing it, and changing it in place so that comments,
//! order and style stay.
//!
//! Everything is bounded: the depth of nesting and the number of values, aliases counted as often as they are used.

mod edit;
mod read;
mod scalar;
mod tree;
mod write;

pub(crate) use edit::rewrite;
pub(crate) use read::read;
pub(crate) use write::write;

use crate::Data;

/// How deeply values may be nested.
pub(crate) const MAX_DEPTH: usize = 100;
/// How many values a document may hold after its aliases are replaced by what they stand for.
pub(crate) const MAX_VALUES: usize = 200_000;

/// The text of a YAML document with the value at a path of keys and places in lists set, everything else as it was written.
/// What is on the way must be there.
pub fn set_in_yaml(text: &str, path: &[&str], value: &serde_json::Value) -> Result<String, String> {
    let mut wanted = read(text).map_err(|error| error.to_string())?;
    let (last, parents) = path.split_last().ok_or("it names no place")?;
    let mut at = &mut wanted;
    for parent in parents {
        let found = match at {
            Data::Map(members) => members.get_mut(parent),
            Data::List(items) => parent.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
            _ => None,
        };
        at = found.ok_or_else(|| format!("there is no `{parent}`"))?;
    }
    let Data::Map(members) = at else { return Err(format!("`{last}` has no place")) };
    members.set(last, Data::from(value));
    rewrite(text, &wanted).map_err(|error| error.to_string())
}
