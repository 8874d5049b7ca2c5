//! Pagination. A cursor encodes the start of the next page, the state and the arguments; the server refuses it for
//! any other state or arguments, so that a client never mixes two lists.

use crate::EnvelopeMeta;
use serde::Serialize;
use shared_protocol::{Refusal, RefusalCode};

/// The maximum number of data bytes per answer. An envelope of this size stays below `MAX_ENVELOPE_BYTES`, also in a
/// message that carries it twice.
pub(crate) const MAX_DATA_BYTES: usize = 256 * 1024;
pub(crate) const DEFAULT_PAGE_ITEMS: usize = 100;
pub(crate) const MAX_PAGE_ITEMS: usize = 1_000;

/// A page request to a list tool.
#[derive(Debug, Clone)]
pub(crate) struct PageRequest {
    pub(crate) limit: Option<u64>,
    /// The default limit.
    pub(crate) default_limit: usize,
    pub(crate) cursor: Option<String>,
    pub(crate) offset: Option<u64>,
    /// Identifies the list: the tool and all arguments except limit and cursor.
    pub(crate) list_key: String,
    /// Identifies the state; a cursor of another state is stale.
    pub(crate) state_key: u64,
}

/// A page: the encoded JSON of each item.
#[derive(Debug)]
pub(crate) struct ListPage {
    pub(crate) items: Vec<String>,
    total: usize,
    pub(crate) start: usize,
    is_truncated: bool,
    request: PageRequest,
}

impl PageRequest {
    fn start(&self) -> Result<usize, Refusal> {
        let Some(cursor) = &self.cursor else {
            return Ok(usize::try_from(self.offset.unwrap_or(0)).unwrap_or(usize::MAX));
        };
        let wrong = |message: &str| {
            Refusal::new(RefusalCode::BadRequest, message)
                .field("cursor")
                .hint("Pass meta.cursor of the previous answer with the same arguments.")
        };
        if self.offset.is_some() {
            return Err(wrong("Give either cursor or offset, not both"));
        }
        let mut parts = cursor.split('.');
        let mut part = || parts.next().and_then(|part| u64::from_str_radix(part, 16).ok());
        let (Some(start), Some(state), Some(list), None) = (part(), part(), part(), part()) else {
            return Err(wrong("cursor is not a cursor of this server"));
        };
        if list != fingerprint(&self.list_key) {
            return Err(wrong("cursor belongs to another list or to other arguments"));
        }
        if state != self.state_key {
            return Err(Refusal::new(
                RefusalCode::Stale,
                "The list has changed since this cursor was issued",
            )
            .field("cursor")
            .hint("Start again without a cursor, or call get_changes_since to read only the changes."));
        }
        usize::try_from(start).map_err(|_| wrong("cursor is not a cursor of this server"))
    }

    fn limit(&self) -> Result<usize, Refusal> {
        match self.limit {
            None => Ok(self.default_limit),
            Some(limit) if (1..=MAX_PAGE_ITEMS as u64).contains(&limit) => Ok(limit as usize),
            Some(_) => Err(Refusal::new(
                RefusalCode::BadRequest,
                format!("limit must be between 1 and {MAX_PAGE_ITEMS}"),
            )
            .field("limit")),
        }
    }
}

/// Encodes one page. Items outside the page are counted and not encoded.
pub(crate) fn paginate<T, S: Serialize>(
    asked: PageRequest,
    items: impl ExactSizeIterator<Item = T>,
    write: impl Fn(T) -> S,
) -> Result<ListPage, Refusal> {
    let (start, limit) = (asked.start()?, asked.limit()?);
    let total = items.len();
    let (mut written, mut bytes, mut cut) = (Vec::new(), 0, false);
    for item in items.skip(start).take(limit) {
        let text = crate::envelope::to_json(&write(item))?;
        bytes += text.len() + 1;
        if !written.is_empty() && bytes > MAX_DATA_BYTES {
            cut = true;
            break;
        }
        written.push(text);
    }
    Ok(ListPage { items: written, total, start, is_truncated: cut, request: asked })
}

impl ListPage {
    pub(crate) fn json(&self) -> String {
        array(&self.items)
    }

    pub(crate) fn describe(&self, meta: &mut EnvelopeMeta) {
        let next = self.start.saturating_add(self.items.len());
        let has_more = next < self.total;
        meta.returned = Some(self.items.len());
        meta.total = Some(self.total);
        meta.has_more = Some(has_more);
        meta.cursor = has_more.then(|| {
            format!("{next:x}.{:x}.{:x}", self.request.state_key, fingerprint(&self.request.list_key))
        });
        meta.cut = self.is_truncated.then_some("the answer reached its byte limit");
    }
}

/// Joins encoded items into a JSON array.
pub(crate) fn array(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

/// Encodes an object and appends an already encoded list as its last field.
pub(crate) fn with_list(object: &impl Serialize, key: &str, list: &str) -> Result<String, Refusal> {
    let text = crate::envelope::to_json(object)?;
    let open = text.strip_suffix('}').unwrap_or(&text);
    Ok(format!(r#"{open},"{key}":{list}}}"#))
}

/// FNV-1a. It only distinguishes lists; nothing depends on its resistance to forgery.
fn fingerprint(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(cursor: Option<&str>, list: &str, state: u64) -> PageRequest {
        PageRequest {
            limit: Some(3),
            default_limit: DEFAULT_PAGE_ITEMS,
            cursor: cursor.map(str::to_owned),
            offset: None,
            list_key: list.to_owned(),
            state_key: state,
        }
    }

    fn page(asked: PageRequest) -> Result<(String, EnvelopeMeta), Refusal> {
        let page = paginate(asked, 0..10, |item| item)?;
        let mut meta = EnvelopeMeta::default();
        page.describe(&mut meta);
        Ok((page.json(), meta))
    }

    #[test]
    fn pages_lead_to_the_end_and_hold_everything_once() {
        let (mut cursor, mut seen) = (None, String::new());
        for _ in 0..4 {
            let (json, meta) = page(asked(cursor.as_deref(), "l", 7)).unwrap();
            seen.push_str(&json);
            cursor = meta.cursor;
            assert_eq!(meta.has_more, Some(cursor.is_some()));
        }
        assert_eq!((seen.as_str(), cursor), ("[0,1,2][3,4,5][6,7,8][9]", None));
    }

    #[test]
    fn a_foreign_or_stale_cursor_is_refused() {
        let cursor = page(asked(None, "l", 7)).unwrap().1.cursor.unwrap();
        assert_eq!(page(asked(Some(&cursor), "l", 8)).unwrap_err().code, RefusalCode::Stale);
        assert_eq!(page(asked(Some(&cursor), "other", 7)).unwrap_err().code, RefusalCode::BadRequest);
        for wrong in ["", "x", "1.2", "1.2.3.4", "ffffffffffffffffff.1.1", "☃"] {
            assert_eq!(
                page(asked(Some(wrong), "l", 7)).unwrap_err().code,
                RefusalCode::BadRequest,
                "{wrong}"
            );
        }
        let both = PageRequest { offset: Some(1), ..asked(Some(&cursor), "l", 7) };
        assert_eq!(page(both).unwrap_err().code, RefusalCode::BadRequest);
        for limit in [0, 1_001, u64::MAX] {
            assert!(page(PageRequest { limit: Some(limit), ..asked(None, "l", 7) }).is_err());
        }
        assert_eq!(page(PageRequest { offset: Some(u64::MAX), ..asked(None, "l", 7) }).unwrap().0, "[]");
    }

    #[test]
    fn the_byte_budget_cuts_a_page_and_says_so() {
        let asked = PageRequest { limit: Some(1_000), ..asked(None, "l", 1) };
        let page = paginate(asked, 0..1_000, |_| "x".repeat(1_000)).unwrap();
        let mut meta = EnvelopeMeta::default();
        page.describe(&mut meta);
        assert!(page.json().len() <= MAX_DATA_BYTES + 1_100 && meta.cut.is_some() && meta.cursor.is_some());
    }
}
