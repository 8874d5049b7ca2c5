//! The supported scripts: preferred font families, and Debian packages that provide them.

use unicode_script::UnicodeScript as _;

/// A script that `draftboard doctor` checks.
#[derive(Debug, Clone, Copy)]
pub struct Script {
    pub name: &'static str,
    /// A character that every font of this script covers.
    pub sample: char,
    /// The Debian package that provides a font.
    pub package: &'static str,
}

const fn script(name: &'static str, sample: char, package: &'static str) -> Script {
    Script { name, sample, package }
}

const CORE: &str = "fonts-noto-core";
const CJK: &str = "fonts-noto-cjk";

pub const SCRIPTS: [Script; 23] = [
    script("Arabic", 'ع', CORE),
    script("Armenian", 'Ա', CORE),
    script("Bengali", 'ক', CORE),
    script("Chinese", '中', CJK),
    script("Devanagari", 'क', CORE),
    script("Ethiopic", 'አ', CORE),
    script("Georgian", 'ა', CORE),
    script("Gujarati", 'ક', CORE),
    script("Gurmukhi", 'ਕ', CORE),
    script("Hebrew", 'א', CORE),
    script("Japanese", 'あ', CJK),
    script("Kannada", 'ಕ', CORE),
    script("Khmer", 'ក', CORE),
    script("Korean", '한', CJK),
    script("Lao", 'ກ', CORE),
    script("Malayalam", 'ക', CORE),
    script("Mathematical symbols", '∰', "fonts-noto-core or fonts-symbola"),
    script("Myanmar", 'က', CORE),
    script("Sinhala", 'ක', CORE),
    script("Symbols", '⚗', "fonts-noto-core or fonts-symbola"),
    script("Tamil", 'க', CORE),
    script("Telugu", 'క', CORE),
    script("Thai", 'ก', CORE),
];

/// The group of characters that a font is chosen for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    /// Chinese, Japanese and Korean: one file covers all of them, in the glyph forms of one region.
    Cjk,
    /// Characters of one script, named as in the Noto font families: `Canadian Aboriginal`.
    Named(String),
    /// Punctuation and symbols, which many fonts cover.
    Common,
}

pub(crate) fn group_of(character: char) -> Group {
    use unicode_script::Script as S;
    match character.script() {
        S::Han | S::Hiragana | S::Katakana | S::Hangul | S::Bopomofo => Group::Cjk,
        // Ideographic punctuation and full-width forms.
        _ if matches!(character, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}') => Group::Cjk,
        S::Common | S::Inherited | S::Unknown => Group::Common,
        script => Group::Named(script.full_name().replace('_', " ")),
    }
}

/// The regional glyph forms of ideographs, as used in font family names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Region {
    Japan,
    Korea,
    China,
    Taiwan,
    HongKong,
}

impl Region {
    /// Determines the region from the locale, otherwise from neighbouring characters, otherwise mainland China.
    pub(crate) fn of(locale: &str, characters: impl IntoIterator<Item = char>) -> Self {
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
        let region = |locale: &str, text: &str| Region::of(locale, text.chars());
        assert_eq!(region("ja_JP.UTF-8", "中文"), Region::Japan);
        assert_eq!(region("zh_TW.UTF-8", "中文"), Region::Taiwan);
        assert_eq!(region("zh_HK", "中文"), Region::HongKong);
        assert_eq!(region("zh_CN.UTF-8", "日本のラベル"), Region::China);
        assert_eq!(region("de_DE.UTF-8", "日本のラベル"), Region::Japan);
        assert_eq!(region("C.UTF-8", "漢字 한국어"), Region::Korea);
        assert_eq!(region("", "漢字"), Region::China);
    }

    #[test]
    fn characters_are_grouped_by_who_has_a_font_for_them() {
        for (character, group) in [
            ('日', Group::Cjk),
            ('ラ', Group::Cjk),
            ('한', Group::Cjk),
            ('、', Group::Cjk),
            ('ع', Group::Named("Arabic".to_owned())),
            ('ᐃ', Group::Named("Canadian Aboriginal".to_owned())),
            ('⚗', Group::Common),
        ] {
            assert_eq!(group_of(character), group, "{character}");
        }
    }
}
