//! The supported scripts: preferred font families, and Debian packages that provide them.

use unicode_script::UnicodeScript as _;

/// A script that `draftboard doctor` checks.
#[derive(Debug, Clone, Copy)]
pub struct ScriptFontSample {
    pub name: &'static str,
    /// A character that every font of this script covers.
    pub sample: char,
    /// The Debian package that provides a font.
    pub package: &'static str,
}

const fn script(name: &'static str, sample: char, package: &'static str) -> ScriptFontSample {
    ScriptFontSample { name, sample, package }
}

const NOTO_CORE_PACKAGE: &str = "fonts-noto-core";
const NOTO_CJK_PACKAGE: &str = "fonts-noto-cjk";

pub const SCRIPT_SAMPLES: [ScriptFontSample; 23] = [
    script("Arabic", 'ع', NOTO_CORE_PACKAGE),
    script("Armenian", 'Ա', NOTO_CORE_PACKAGE),
    script("Bengali", 'ক', NOTO_CORE_PACKAGE),
    script("Chinese", '中', NOTO_CJK_PACKAGE),
    script("Devanagari", 'क', NOTO_CORE_PACKAGE),
    script("Ethiopic", 'አ', NOTO_CORE_PACKAGE),
    script("Georgian", 'ა', NOTO_CORE_PACKAGE),
    script("Gujarati", 'ક', NOTO_CORE_PACKAGE),
    script("Gurmukhi", 'ਕ', NOTO_CORE_PACKAGE),
    script("Hebrew", 'א', NOTO_CORE_PACKAGE),
    script("Japanese", 'あ', NOTO_CJK_PACKAGE),
    script("Kannada", 'ಕ', NOTO_CORE_PACKAGE),
    script("Khmer", 'ក', NOTO_CORE_PACKAGE),
    script("Korean", '한', NOTO_CJK_PACKAGE),
    script("Lao", 'ກ', NOTO_CORE_PACKAGE),
    script("Malayalam", 'ക', NOTO_CORE_PACKAGE),
    script("Mathematical symbols", '∰', "fonts-noto-core or fonts-symbola"),
    script("Myanmar", 'က', NOTO_CORE_PACKAGE),
    script("Sinhala", 'ක', NOTO_CORE_PACKAGE),
    script("Symbols", '⚗', "fonts-noto-core or fonts-symbola"),
    script("Tamil", 'க', NOTO_CORE_PACKAGE),
    script("Telugu", 'క', NOTO_CORE_PACKAGE),
    script("Thai", 'ก', NOTO_CORE_PACKAGE),
];

/// The group of characters that a font is chosen for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ScriptGroup {
    /// Chinese, Japanese and Korean: one file covers all of them, in the glyph forms of one region.
    Cjk,
    /// Characters of one script, named as in the Noto font families: `Canadian Aboriginal`.
    Named(String),
    /// Punctuation and symbols, which many fonts cover.
    Common,
}

pub(crate) fn group_of(character: char) -> ScriptGroup {
    use unicode_script::Script as S;
    match character.script() {
        S::Han | S::Hiragana | S::Katakana | S::Hangul | S::Bopomofo => ScriptGroup::Cjk,
        // Ideographic punctuation and full-width forms.
        _ if matches!(character, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}') => ScriptGroup::Cjk,
        S::Common | S::Inherited | S::Unknown => ScriptGroup::Common,
        script => ScriptGroup::Named(script.full_name().replace('_', " ")),
    }
}

/// The regional glyph forms of ideographs, as used in font family names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CjkRegion {
    Japan,
    Korea,
    China,
    Taiwan,
    HongKong,
}

impl CjkRegion {
    /// Determines the region from the locale, otherwise from neighbouring characters, otherwise mainland China.
    pub(crate) fn for_locale(locale: &str, characters: impl IntoIterator<Item = char>) -> Self {
        use unicode_script::Script as S;
        if let Some(region) = Self::of_locale(locale) {
            return region;
        }
        let mut region = Self::China;
        for character in characters {
            match character.script() {
                S::Hiragana | S::Katakana => return Self::Japan,
                S::Hangul => region = Self::Korea,
                _ => {}
            }
        }
        region
    }

    /// Parses a POSIX locale such as `zh_TW.UTF-8`.
    fn of_locale(locale: &str) -> Option<Self> {
        let name = locale.split(['.', '@']).next()?.to_lowercase().replace('-', "_");
        match name.split('_').next()? {
            "ja" => Some(Self::Japan),
            "ko" => Some(Self::Korea),
            "zh" if name.contains("hk") || name.contains("mo") => Some(Self::HongKong),
            "zh" if name.contains("tw") || name.contains("hant") => Some(Self::Taiwan),
            "zh" => Some(Self::China),
            _ => None,
        }
    }

    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Japan => "JP",
            Self::Korea => "KR",
            Self::China => "SC",
            Self::Taiwan => "TC",
            Self::HongKong => "HK",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ideographs_take_the_forms_of_the_locale_then_of_the_text() {
        let region = |locale: &str, text: &str| CjkRegion::for_locale(locale, text.chars());
        assert_eq!(region("ja_JP.UTF-8", "中文"), CjkRegion::Japan);
        assert_eq!(region("zh_TW.UTF-8", "中文"), CjkRegion::Taiwan);
        assert_eq!(region("zh_HK", "中文"), CjkRegion::HongKong);
        assert_eq!(region("zh_CN.UTF-8", "日本のラベル"), CjkRegion::China);
        assert_eq!(region("de_DE.UTF-8", "日本のラベル"), CjkRegion::Japan);
        assert_eq!(region("C.UTF-8", "漢字 한국어"), CjkRegion::Korea);
        assert_eq!(region("", "漢字"), CjkRegion::China);
    }

    #[test]
    fn characters_are_grouped_by_who_has_a_font_for_them() {
        for (character, group) in [
            ('日', ScriptGroup::Cjk),
            ('ラ', ScriptGroup::Cjk),
            ('한', ScriptGroup::Cjk),
            ('、', ScriptGroup::Cjk),
            ('ع', ScriptGroup::Named("Arabic".to_owned())),
            ('ᐃ', ScriptGroup::Named("Canadian Aboriginal".to_owned())),
            ('⚗', ScriptGroup::Common),
        ] {
            assert_eq!(group_of(character), group, "{character}");
        }
    }
}
