//! A cache of laid out texts, by text, style and width.

use crate::{look, scene::SceneElement};
use components::{TextAlign, TypeStep, Weight};
use egui::{
    Align, Color32,
    epaint::text::{FontsView, Galley, LayoutJob, TextFormat, TextWrapping},
};
use std::{collections::HashMap, sync::Arc};

/// The maximum bytes of cached texts. Exceeding it clears the cache.
const MAX_CACHED_TEXT_BYTES: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct GalleyCacheKey {
    text: Arc<str>,
    step: TypeStep,
    weight: Weight,
    align: Option<TextAlign>,
    lines: Option<u16>,
    /// The bits of the line height.
    leading: Option<u32>,
    /// The bits of the width, which may be infinite.
    room: u32,
}

#[derive(Default)]
pub(crate) struct GalleyCache {
    galleys: HashMap<GalleyCacheKey, Arc<Galley>>,
    bytes: usize,
}

impl GalleyCache {
    /// Clears the cache. Called when glyphs moved in the atlas or changed size.
    pub(crate) fn clear(&mut self) {
        self.galleys.clear();
        self.bytes = 0;
    }

    /// Lays out the text of an element in the given width.
    pub(crate) fn set(
        &mut self,
        fonts: &mut FontsView<'_>,
        element: &SceneElement,
        text: &Arc<str>,
        room: f32,
    ) -> Arc<Galley> {
        let key = GalleyCacheKey {
            text: Arc::clone(text),
            step: element.text,
            weight: element.weight,
            align: element.style.text_align,
            lines: element.style.lines.map(|lines| lines.0),
            leading: element.style.line_height.map(|leading| leading.0.to_bits()),
            room: room.to_bits(),
        };
        if let Some(galley) = self.galleys.get(&key) {
            return Arc::clone(galley);
        }
        let galley = fonts.layout_job(layout_job(element, text, room));
        self.bytes += text.len() + 64;
        if self.bytes > MAX_CACHED_TEXT_BYTES {
            self.clear();
        }
        self.galleys.insert(key, Arc::clone(&galley));
        galley
    }
}

fn layout_job(element: &SceneElement, text: &Arc<str>, room: f32) -> LayoutJob {
    let (font_id, line_height) = look::type_style(element.text, element.weight);
    let line_height = element.style.line_height.map_or(line_height, |leading| leading.0 * font_id.size);
    let format = TextFormat {
        font_id,
        line_height: Some(line_height),
        // The colour is applied when the text is drawn, so that a colour change needs no new layout.
        color: Color32::PLACEHOLDER,
        ..TextFormat::default()
    };
    let mut job = LayoutJob::single_section(text.to_string(), format);
    let lines = element.style.lines.map(|lines| usize::from(lines.0));
    job.wrap = TextWrapping {
        max_width: room,
        max_rows: lines.unwrap_or(usize::MAX),
        break_anywhere: lines == Some(1),
        ..TextWrapping::default()
    };
    job.halign = match element.style.text_align {
        None | Some(TextAlign::Left) => Align::LEFT,
        Some(TextAlign::Center) => Align::Center,
        Some(TextAlign::Right) => Align::RIGHT,
    };
    job.round_output_to_gui = false;
    job
}
