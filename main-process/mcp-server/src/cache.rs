//! Caches answers that depend only on the generation of the view and the arguments, until the next generation.

use crate::envelope::EncodedAnswer;
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

const MOST_ENTRIES: usize = 64;
const MOST_BYTES: usize = 8 << 20;

#[derive(Default)]
pub(crate) struct Cache {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    generation: u64,
    bytes: usize,
    /// Only looked up; never iterated.
    kept: HashMap<String, EncodedAnswer>,
}

impl Cache {
    pub(crate) fn get(&self, generation: u64, question: &str) -> Option<EncodedAnswer> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        (inner.generation == generation).then(|| inner.kept.get(question).cloned()).flatten()
    }

    /// Ignores an answer of an older generation, which a slow call produced.
    pub(crate) fn put(&self, generation: u64, question: String, kept: EncodedAnswer) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if generation < inner.generation {
            return;
        }
        let size = kept.json.len() + kept.text.len() + question.len();
        let is_full = inner.kept.len() >= MOST_ENTRIES || inner.bytes + size > MOST_BYTES;
        if generation > inner.generation || is_full {
            *inner = Inner { generation, ..Inner::default() };
        }
        if size <= MOST_BYTES {
            inner.bytes += size;
            inner.kept.insert(question, kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_lives_as_long_as_its_generation() {
        let cache = Cache::default();
        let kept = |text: &str| EncodedAnswer::new(text.to_owned());
        cache.put(3, "q".to_owned(), kept("a"));
        assert_eq!(cache.get(3, "q").unwrap().json, "a");
        assert!(cache.get(2, "q").is_none() && cache.get(4, "q").is_none());
        cache.put(2, "q".to_owned(), kept("old"));
        assert_eq!(cache.get(3, "q").unwrap().json, "a");
        cache.put(4, "other".to_owned(), kept("b"));
        assert!(cache.get(4, "q").is_none());
        for index in 0..10 * MOST_ENTRIES {
            cache.put(4, index.to_string(), kept("x"));
        }
        assert!(cache.inner.lock().unwrap().kept.len() <= MOST_ENTRIES);
    }
}
