//! Suggestions for a misspelled id.

use shared_protocol::limits::MAX_SUGGESTIONS;

/// Returns at most [`MAX_SUGGESTIONS`] known ids that are similar to the wanted one, best match first.
pub fn similar<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let last = |id: &str| id.rsplit(['/', '.']).next().unwrap_or_default().to_lowercase();
    let wanted_last = last(&wanted);
    let mut scored: Vec<(f64, &str)> = known
        .map(|id| {
            let lower = id.to_lowercase();
            let whole = strsim::jaro_winkler(&wanted, &lower);
            let part = strsim::jaro_winkler(&wanted_last, &last(&lower));
            let contained = if wanted_last.len() > 2 && lower.contains(&wanted_last) { 0.3 } else { 0.0 };
            (whole.max(part) + contained, id)
        })
        .filter(|(score, _)| *score > 0.72)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(MAX_SUGGESTIONS).map(|(_, id)| id.to_owned()).collect()
}
