//! The fonts: bundled fonts first, then system fonts passed by main. The sandbox opens no files.

use egui::{
    FontData, FontDefinitions, FontFamily,
    epaint::text::{Fonts, TextOptions},
};
use std::sync::Arc;
use system_fonts::FallbackFonts;

pub(super) const BOLD: &str = "bold";

pub(crate) fn fonts(fallback: &FallbackFonts) -> Fonts {
    let mut definitions = FontDefinitions::default();
    let add = |definitions: &mut FontDefinitions, name: &str, bytes: &'static [u8]| {
        definitions.font_data.insert(name.to_owned(), Arc::new(FontData::from_static(bytes)));
    };
    add(&mut definitions, "fira-regular", include_bytes!("../../fonts/FiraSans-Regular.ttf"));
    add(&mut definitions, "fira-bold", include_bytes!("../../fonts/FiraSans-Bold.ttf"));
    // Characters missing from Fira, such as symbols and emoji, come from egui's default fonts.
    let others = definitions.families.get(&FontFamily::Proportional).cloned().unwrap_or_default();
    let first = |name: &str| [name.to_owned()].into_iter().chain(others.iter().cloned()).collect::<Vec<_>>();
    definitions.families.insert(FontFamily::Name(BOLD.into()), first("fira-bold"));
    definitions.families.insert(FontFamily::Proportional, first("fira-regular"));
    let options = TextOptions { max_texture_side: 4096, ..TextOptions::default() };
    Fonts::new(options, definitions).with_font_providers(vec![fallback.provider()])
}
