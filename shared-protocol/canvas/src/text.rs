//! A cache of laid-out text. A text is laid out again when its content, its zoom step or the fonts change, never just
//! because a frame is drawn.

use crate::{
    lod::{text_zoom_step, zoom_of_step},
    theme::size,
};
use egui::{Align, Color32, FontId, Galley, Painter, text::LayoutJob, text::TextWrapping};
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

/// The role of a text on an element; part of the cache key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TextRole {
    Label,
    Kind,
    Note,
    EdgeLabel,
    Landmark,
}

/// The maximum number of texts to lay out per frame. The others reuse a layout that is at most two zoom steps away, or
/// wait for the next frame.
const MAX_LAYOUTS_PER_FRAME: usize = 160;
const MAX_REUSED_ZOOM_STEPS: u32 = 2;
/// While zooming, text is laid out at every fourth step only and sharpened when the zoom rests, because each size
/// rasterises every glyph again.
const COARSE_ZOOM_STEPS: i32 = 4;
/// The time limit for laying out text per frame. A debug build is too slow for a useful limit.
const MAX_LAYOUT_TIME_PER_FRAME: Option<Duration> =
    if cfg!(debug_assertions) { None } else { Some(Duration::from_micros(2_500)) };

/// The maximum number of characters of a note to lay out.
const MAX_NOTE_CHARS: usize = 4_000;

/// The maximum number of cached texts, more than fit on a screen; beyond it the cache is cleared.
const MAX_CACHED_TEXTS: usize = 16_384;

struct CachedGalley {
    generation: u32,
    bucket: i32,
    width: u32,
    galley: Arc<Galley>,
}

#[derive(Default)]
pub(crate) struct TextCache {
    /// Laid out in every frame to detect font changes: the fonts' own cache returns another galley after glyphs moved in
    /// the font texture, which invalidates all cached galleys.
    sentinel: Option<Arc<Galley>>,
    entries: HashMap<(u64, TextRole), CachedGalley>,
    left: usize,
    until: Option<Instant>,
    zoom: f32,
    is_zooming: bool,
    is_behind: bool,
}

/// One text to lay out; sizes are in board units.
pub(crate) struct TextSpec<'a> {
    pub(crate) key: u64,
    pub(crate) part: TextRole,
    pub(crate) generation: u32,
    pub(crate) text: &'a str,
    pub(crate) size: f32,
    pub(crate) width: f32,
    pub(crate) rows: usize,
    pub(crate) align: Align,
}

impl<'a> TextSpec<'a> {
    pub(crate) fn line(
        key: u64,
        part: TextRole,
        generation: u32,
        text: &'a str,
        size: f32,
        width: f32,
    ) -> Self {
        Self { key, part, generation, text, size, width, rows: 1, align: Align::LEFT }
    }
}

impl TextCache {
    /// Begins a frame. `patient`: there is no later frame, so all texts are laid out now.
    pub(crate) fn begin_frame(&mut self, painter: &Painter, zoom: f32, patient: bool) {
        self.left = if patient { usize::MAX } else { MAX_LAYOUTS_PER_FRAME };
        self.until = MAX_LAYOUT_TIME_PER_FRAME.filter(|_| !patient).map(|time| Instant::now() + time);
        self.is_zooming = !patient && self.sentinel.is_some() && self.zoom != zoom;
        self.zoom = zoom;
        self.is_behind = false;
        let job = LayoutJob::simple_singleline(
            "…".to_owned(),
            FontId::proportional(size::LABEL),
            Color32::PLACEHOLDER,
        );
        let sentinel = painter.layout_job(job);
        let same = self.sentinel.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, &sentinel));
        if !same || self.entries.len() > MAX_CACHED_TEXTS {
            self.entries.clear();
        }
        self.sentinel = Some(sentinel);
    }

    /// Whether texts remain for the next frame.
    pub(crate) fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Returns the text at this zoom, at most as wide as its place; the painter sets the colour. Returns `None` when the
    /// limit of this frame is reached.
    pub(crate) fn lay_out(
        &mut self,
        painter: &Painter,
        zoom: f32,
        words: &TextSpec<'_>,
    ) -> Option<Arc<Galley>> {
        let exact = text_zoom_step(zoom);
        let bucket =
            if self.is_zooming { exact.div_euclid(COARSE_ZOOM_STEPS) * COARSE_ZOOM_STEPS } else { exact };
        let width = words.width.max(0.0).round() as u32;
        let key = (words.key, words.part);
        if let Some(entry) = self.entries.get(&key)
            && entry.generation == words.generation
            && entry.width == width
        {
            // While zooming, a slightly smaller layout is good enough.
            let fits = self.is_zooming && (bucket..=exact).contains(&entry.bucket);
            self.is_behind |= fits && entry.bucket != exact;
            if entry.bucket == exact || fits {
                return Some(Arc::clone(&entry.galley));
            }
            if self.is_frame_budget_spent() && entry.bucket.abs_diff(bucket) <= MAX_REUSED_ZOOM_STEPS {
                self.is_behind = true;
                return Some(Arc::clone(&entry.galley));
            }
        }
        if self.is_frame_budget_spent() {
            self.is_behind = true;
            return None;
        }
        self.is_behind |= bucket != exact;
        self.left -= 1;
        let galley = painter.layout_job(layout_job(words, zoom_of_step(bucket)));
        let kept = CachedGalley { generation: words.generation, bucket, width, galley: Arc::clone(&galley) };
        self.entries.insert(key, kept);
        Some(galley)
    }

    /// Whether the limit of this frame is reached.
    fn is_frame_budget_spent(&self) -> bool {
        self.left == 0 || self.until.is_some_and(|until| Instant::now() > until)
    }
}

fn layout_job(words: &TextSpec<'_>, zoom: f32) -> LayoutJob {
    let font = FontId::proportional(words.size * zoom);
    let mut job = if words.rows == 1 {
        // Shows a line break in a label as a space.
        let line = words.text.replace(['\n', '\r', '\t'], " ");
        LayoutJob::simple_singleline(line, font, Color32::PLACEHOLDER)
    } else {
        let shown: String = words.text.chars().take(MAX_NOTE_CHARS).collect();
        LayoutJob::simple(shown, font, Color32::PLACEHOLDER, f32::INFINITY)
    };
    job.wrap = TextWrapping {
        max_width: (words.width * zoom).max(1.0),
        max_rows: words.rows.max(1),
        break_anywhere: words.rows == 1,
        overflow_character: Some('…'),
    };
    job.halign = words.align;
    job
}
