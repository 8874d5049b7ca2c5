//! Builds and edits the data of an entity: its id, its fields, their order.

use super::result::invalid;
use crate::schema::EntitySchema;
use shared_protocol::{OrderedMembers, OrderedValue, Refusal};

/// The maximum bytes of an id, which also names a file.
const MAX_ID_BYTES: usize = 200;

pub(super) fn check_id(id: &str) -> Result<(), Refusal> {
    let odd = |c: char| c.is_control() || matches!(c, '/' | '\\' | '\u{2028}' | '\u{2029}');
    if id.trim().is_empty()
        || id != id.trim()
        || id.len() > MAX_ID_BYTES
        || id.starts_with('.')
        || id.contains(odd)
    {
        return Err(invalid(format!(
            "{id:?} cannot be an id, which also names a file: at most {MAX_ID_BYTES} bytes, no slashes or control characters, no dot in front, no blanks around"
        )));
    }
    Ok(())
}

/// Returns the data of a new entity, including its id, with fields in schema order.
pub(super) fn entity_data(
    data: Option<&OrderedValue>,
    id_field: &str,
    id: &str,
    schema: Option<&EntitySchema>,
) -> Result<OrderedValue, Refusal> {
    let mut members = match data {
        None => OrderedMembers::default(),
        Some(OrderedValue::Map(members)) => members.clone(),
        Some(_) => return Err(invalid("data must be an object")),
    };
    match members.get(id_field) {
        None => {
            members.set(id_field, id.into());
            members.sort_by_rank(|key| usize::from(key != id_field));
        }
        Some(given) if given.as_text() == Some(id) => {}
        Some(given) => {
            let given = serde_json::to_string(given).unwrap_or_default();
            return Err(invalid(format!(
                "entityId is {id:?} but data.{id_field} is {given}: they must be equal"
            )));
        }
    }
    let mut data = OrderedValue::Map(members);
    if let Some(schema) = schema {
        order_by(&mut data, &schema.data);
    }
    if let OrderedValue::Map(members) = &mut data {
        members.sort_by_rank(|key| usize::from(key != id_field));
    }
    Ok(data)
}

/// Sorts members in the order of the schema's properties, at every level. JSON arguments have no order of their own.
fn order_by(data: &mut OrderedValue, schema: &OrderedValue) {
    match data {
        OrderedValue::Map(members) => {
            let Some(properties) = schema.get("properties").and_then(OrderedValue::as_map) else { return };
            let rank = |key: &str| properties.iter().position(|(name, _)| name == key).unwrap_or(usize::MAX);
            members.sort_by_rank(rank);
            for (name, property) in properties.iter() {
                if let Some(value) = members.get_mut(name) {
                    order_by(value, property);
                }
            }
        }
        OrderedValue::List(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| order_by(item, schema));
            }
        }
        _ => {}
    }
}

/// Sets the field at a path and creates missing mappings on the way; removes the field if there is no value.
pub(super) fn set_field(
    data: &mut OrderedValue,
    parts: &[&str],
    value: Option<&OrderedValue>,
    schema: Option<&EntitySchema>,
) -> Result<(), String> {
    let Some((first, rest)) = parts.split_first() else { return Ok(()) };
    let wrong = |found: &str| Err(format!("{first} cannot be set inside {found}"));
    match data {
        OrderedValue::Map(members) if rest.is_empty() => {
            match value {
                Some(value) => {
                    let mut value = value.clone();
                    if let Some(property) =
                        schema.and_then(|schema| schema.properties()).and_then(|all| all.get(first))
                    {
                        order_by(&mut value, property);
                    }
                    members.set(first, value);
                }
                None => members.remove(first),
            }
            Ok(())
        }
        OrderedValue::Map(members) => {
            if members.get(first).is_none_or(OrderedValue::is_null) {
                if value.is_none() {
                    return Ok(());
                }
                members.set(first, OrderedValue::Map(OrderedMembers::default()));
            }
            members.get_mut(first).map_or(Ok(()), |inside| set_field(inside, rest, value, None))
        }
        OrderedValue::List(items) => {
            let index: usize = first.parse().map_err(|_| format!("{first:?} is not a position in a list"))?;
            match (items.get_mut(index), rest.is_empty(), value) {
                (Some(item), false, _) => set_field(item, rest, value, None),
                (Some(item), true, Some(value)) => {
                    *item = value.clone();
                    Ok(())
                }
                (Some(_), true, None) => {
                    items.remove(index);
                    Ok(())
                }
                (None, ..) => Err(format!("The list has no item {index}")),
            }
        }
        OrderedValue::Text(_) => wrong("a text"),
        _ => wrong("a value that is no mapping"),
    }
}
