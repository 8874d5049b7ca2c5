//! With the fonts of this machine, characters of many scripts are drawn as glyphs instead of boxes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use egui::{
    FontDefinitions, FontId,
    epaint::text::{Fonts, TextOptions},
};
use std::collections::BTreeSet;
use system_fonts::{FallbackFonts, SCRIPT_SAMPLES, SystemFontList};
use test_support::requirements::FONTS;

/// One line of text for each script, and symbols.
const LINES: [(&str, &str); 9] = [
    ("Japanese", "日本語のラベル"),
    ("Chinese", "数据库、缓存"),
    ("Korean", "데이터베이스"),
    ("Arabic", "قاعدة البيانات"),
    ("Hebrew", "מסד נתונים"),
    ("Thai", "ฐานข้อมูล"),
    ("Devanagari", "डेटाबेस"),
    ("Tamil", "தரவுத்தளம்"),
    ("symbols", "⚗ ∰ ⊢ ⟶"),
];

/// Returns `false` and reports the skip when the required fonts are not installed.
fn are_fonts_there() -> bool {
    let fonts = SystemFontList::of_system();
    let is_there = fonts.covers('中') && fonts.covers('ع');
    if !is_there {
        FONTS.skip("no fonts for Chinese and Arabic are installed");
    }
    is_there
}

fn fonts_with(fallback: &FallbackFonts) -> Fonts {
    Fonts::new(TextOptions::default(), FontDefinitions::default())
        .with_font_providers(vec![fallback.provider()])
}

/// Characters without a glyph, in text order: a mark is drawn with the font of the letter before it.
fn missing(fonts: &mut Fonts, text: &str) -> Vec<char> {
    let families = [FontId::proportional(14.0), FontId::monospace(14.0)];
    let mut lacks = |c: &char| families.iter().any(|font| !fonts.has_glyph(font, *c));
    text.chars().filter(|c| !c.is_whitespace()).filter(|c| lacks(c)).collect()
}

#[test]
fn every_line_is_drawn_and_not_a_box() {
    if !are_fonts_there() {
        return;
    }
    let fallback = FallbackFonts::default();
    let mut fonts = fonts_with(&fallback);
    for (script, line) in LINES {
        assert!(!missing(&mut fonts, line).is_empty(), "{script}: the bundled fonts have it");
    }
    assert!(fallback.load_wanted());
    let mut fonts = fonts_with(&fallback);
    for (script, line) in LINES {
        assert_eq!(missing(&mut fonts, line), Vec::<char>::new(), "{script} with {:?}", fallback.names());
    }
    assert!(fallback.take_requested().is_empty(), "nothing is asked for twice");
    let names = fallback.names();
    assert!(names.len() <= 10, "one font for each script, not one for each character: {names:?}");
}

#[test]
fn ideographs_have_the_forms_of_the_region() {
    if !are_fonts_there() {
        return;
    }
    let noto = std::path::PathBuf::from("/usr/share/fonts");
    for (locale, text, family) in [
        ("ja_JP.UTF-8", "直", "Noto Sans CJK JP"),
        ("zh_CN.UTF-8", "直", "Noto Sans CJK SC"),
        ("zh_TW.UTF-8", "直", "Noto Sans CJK TC"),
        ("ko_KR.UTF-8", "直", "Noto Sans CJK KR"),
        ("en_US.UTF-8", "直のラベル", "Noto Sans CJK JP"),
        ("en_US.UTF-8", "直", "Noto Sans CJK SC"),
    ] {
        let list = SystemFontList::in_folders(std::slice::from_ref(&noto), locale.to_owned());
        let found = list.find(&text.chars().collect());
        let [font] = &found[..] else { panic!("{locale} {text}: {found:?}") };
        if font.name.starts_with("Noto Sans CJK") {
            assert_eq!(font.name, family, "{locale} {text}");
        }
        assert!(font.load().unwrap().has('直'), "the face at this place of the collection");
    }
}

#[test]
fn nothing_is_found_where_nothing_is() {
    let list = SystemFontList::in_folders(&[], "ja_JP".to_owned());
    assert_eq!(list.find(&BTreeSet::from(['日'])), []);
    assert!(SCRIPT_SAMPLES.iter().all(|script| !list.covers(script.sample)));
}

#[test]
fn a_file_that_is_no_font_is_refused() {
    let file = std::env::temp_dir().join(format!("no-font-{}.ttf", std::process::id()));
    std::fs::write(&file, vec![0_u8; 4096]).unwrap();
    let loaded = system_fonts::LoadedFont::read("none".to_owned(), std::fs::File::open(&file).unwrap(), 0);
    std::fs::remove_file(&file).unwrap();
    assert!(loaded.is_err());
}
