//! Caches answers that depend only on the generation of the view and the arguments, until the next generation.

use crate::envelope::EncodedEnvelope;
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

const MAX_CACHED_REPLIES: usize = 64;
const MAX_CACHE_BYTES: usize = 8 << 20;

#[derive(Default)]
pub(crate) struct ReplyCache {
    inner: Mutex<CachedReplies>,
}

#[derive(Default)]
struct CachedReplies {
    generation: u64,
    bytes: usize,
    /// Only looked up; never iterated.
    replies: HashMap<String, EncodedEnvelope>,
}

impl ReplyCache {
    pub(crate) fn get(&self, generation: u64, question: &str) -> Option<EncodedEnvelope> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        (inner.generation == generation).then(|| inner.replies.get(question).cloned()).flatten()
    }

    /// Ignores an answer of an older generation, which a slow call produced.
    pub(crate) fn insert(&self, generation: u64, question: String, kept: EncodedEnvelope) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if generation < inner.generation {
            return;
        }
        let size = kept.json.len() + kept.text.len() + question.len();
        let is_full = inner.replies.len() >= MAX_CACHED_REPLIES || inner.bytes + size > MAX_CACHE_BYTES;
        if generation > inner.generation || is_full {
            *inner = CachedReplies { generation, ..CachedReplies::default() };
        }
        if size <= MAX_CACHE_BYTES {
            inner.bytes += size;
            inner.replies.insert(question, kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_lives_as_long_as_its_generation() {
        let cache = ReplyCache::default();
        let kept = |text: &str| EncodedEnvelope::new(text.to_owned());
        cache.insert(3, "q".to_owned(), kept("a"));
        assert_eq!(cache.get(3, "q").unwrap().json, "a");
        assert!(cache.get(2, "q").is_none() && cache.get(4, "q").is_none());
        cache.insert(2, "q".to_owned(), kept("old"));
        assert_eq!(cache.get(3, "q").unwrap().json, "a");
        cache.insert(4, "other".to_owned(), kept("b"));
        assert!(cache.get(4, "q").is_none());
        for index in 0..10 * MAX_CACHED_REPLIES {
            cache.insert(4, index.to_string(), kept("x"));
        }
        assert!(cache.inner.lock().unwrap().replies.len() <= MAX_CACHED_REPLIES);
    }
}
