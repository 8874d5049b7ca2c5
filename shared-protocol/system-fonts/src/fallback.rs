//! The egui font provider for characters that no bundled font covers.

use crate::{LoadedFont, MAX_FONTS, MAX_MISSING_CHARS, MAX_TOTAL_FONT_BYTES};
use egui::{
    FontPriority, InsertFontFamily,
    epaint::text::{FallbackRequest, FontInsert, FontProvider},
};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The added fallback fonts, and the characters that none of them covers.
#[derive(Clone, Default)]
pub struct FallbackFonts {
    state: Arc<Mutex<FallbackFontState>>,
    notify: Option<Arc<dyn Fn() + Send + Sync>>,
}

#[derive(Default)]
struct FallbackFontState {
    fonts: Vec<LoadedFont>,
    missing: BTreeSet<char>,
    /// Characters that were already returned by `take_requested`; each is requested once.
    requested: BTreeSet<char>,
}

impl FallbackFonts {
    /// Calls `notify` when a character is missing. egui calls it during text layout, so it must not block or call egui.
    pub fn notifying(notify: impl Fn() + Send + Sync + 'static) -> Self {
        Self { notify: Some(Arc::new(notify)), ..Self::default() }
    }

    fn state(&self) -> MutexGuard<'_, FallbackFontState> {
        // A panic cannot leave the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the provider for `egui::Context::set_font_providers` and `Fonts::with_font_providers`. Set it again after
    /// [`Self::add`], because egui caches characters without a font.
    pub fn provider(&self) -> Arc<dyn FontProvider> {
        Arc::new(self.clone())
    }

    /// Returns the characters that were drawn as boxes and that no earlier call returned.
    pub fn take_requested(&self) -> BTreeSet<char> {
        let mut state = self.state();
        let wanted = std::mem::take(&mut state.missing);
        state.requested.extend(wanted.iter().copied());
        wanted
    }

    /// Adds a font unless it is already there or a limit is reached. Returns whether text may look different now.
    pub fn add(&self, font: LoadedFont) -> bool {
        let mut state = self.state();
        let bytes: u64 = state.fonts.iter().map(LoadedFont::bytes).sum();
        let is_known = state.fonts.iter().any(|known| known.name() == font.name());
        if is_known || state.fonts.len() >= MAX_FONTS || bytes + font.bytes() > MAX_TOTAL_FONT_BYTES {
            return false;
        }
        state.fonts.push(font);
        true
    }

    /// The names of the fonts, in lookup order.
    pub fn names(&self) -> Vec<String> {
        self.state().fonts.iter().map(|font| font.name().to_owned()).collect()
    }
}

impl FontProvider for FallbackFonts {
    fn font_for(&self, request: &FallbackRequest<'_>) -> Option<FontInsert> {
        let character = request.cluster.chars().next()?;
        let mut state = self.state();
        let Some(font) = state.fonts.iter().find(|font| font.has(character)) else {
            if state.missing.len() < MAX_MISSING_CHARS && !state.requested.contains(&character) {
                let is_new = state.missing.insert(character);
                drop(state);
                if let Some(notify) = self.notify.as_ref().filter(|_| is_new) {
                    notify();
                }
            }
            return None;
        };
        let family = InsertFontFamily { family: request.family.clone(), priority: FontPriority::Lowest };
        Some(FontInsert::new(font.name(), font.data().clone(), vec![family]))
    }
}
