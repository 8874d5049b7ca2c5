//! The theme, light and dark. Every pair of text and background colour has a contrast of at least 4.5.

use super::fonts::BOLD;
use components::{Colour, ColourToken, RadiusStep, Shadow, StyleRadius, TypeStep, Weight};
use egui::{Color32, FontFamily, FontId, epaint};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PreviewTheme {
    pub(crate) dark: bool,
}

const fn rgb(hex: u32) -> Color32 {
    Color32::from_rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

impl PreviewTheme {
    pub(crate) fn colour(self, colour: Colour) -> Color32 {
        match colour {
            Colour::Rgba([r, g, b, a]) => Color32::from_rgba_unmultiplied(r, g, b, a),
            Colour::Token(token) => self.token(token),
        }
    }

    pub(crate) fn token(self, token: ColourToken) -> Color32 {
        let (light, dark) = match token {
            ColourToken::Transparent => return Color32::TRANSPARENT,
            ColourToken::Overlay => return Color32::from_black_alpha(if self.dark { 150 } else { 105 }),
            ColourToken::Hover if self.dark => return Color32::from_white_alpha(16),
            ColourToken::Hover => return Color32::from_black_alpha(11),
            ColourToken::Pressed if self.dark => return Color32::from_white_alpha(28),
            ColourToken::Pressed => return Color32::from_black_alpha(22),
            ColourToken::Background => (0xf5f6f8, 0x0f1217),
            ColourToken::Surface => (0xffffff, 0x171b22),
            ColourToken::Raised => (0xffffff, 0x1e242d),
            ColourToken::Sunken => (0xeceff3, 0x11151b),
            ColourToken::Inverse => (0x1b212b, 0xe9edf3),
            ColourToken::OnInverse => (0xf7f8fa, 0x171b22),
            ColourToken::Border => (0xe0e4ea, 0x2a323d),
            ColourToken::BorderStrong => (0xc3cbd6, 0x414c5b),
            ColourToken::Focus => (0x7c9bff, 0x6f8fff),
            ColourToken::Text => (0x161b24, 0xe9edf3),
            ColourToken::Muted => (0x566172, 0x9eaabb),
            ColourToken::Faint => (0x6d7889, 0x7f8b9b),
            ColourToken::Primary => (0x3257e8, 0x4668ee),
            ColourToken::PrimaryStrong => (0x2645c4, 0x3858d8),
            ColourToken::OnPrimary => (0xffffff, 0xffffff),
            ColourToken::PrimarySoft => (0xe7ecfe, 0x1d2748),
            ColourToken::OnPrimarySoft => (0x2440b4, 0xaabcff),
            ColourToken::Success => (0x157a3f, 0x1d8649),
            ColourToken::SuccessStrong => (0x0f6332, 0x15743c),
            ColourToken::OnSuccess => (0xffffff, 0xffffff),
            ColourToken::SuccessSoft => (0xdef5e6, 0x12301f),
            ColourToken::OnSuccessSoft => (0x11602f, 0x86d8a4),
            ColourToken::Warning => (0xf2b01e, 0xf2b01e),
            ColourToken::WarningStrong => (0xdb9b0c, 0xffc23d),
            ColourToken::OnWarning => (0x2e2104, 0x2e2104),
            ColourToken::WarningSoft => (0xfdf1d3, 0x33280f),
            ColourToken::OnWarningSoft => (0x7a4f04, 0xf0c468),
            ColourToken::Danger => (0xcf2f3a, 0xd13a45),
            ColourToken::DangerStrong => (0xb0222c, 0xbb2933),
            ColourToken::OnDanger => (0xffffff, 0xffffff),
            ColourToken::DangerSoft => (0xfde7e8, 0x3a181c),
            ColourToken::OnDangerSoft => (0xa31d27, 0xff9ba2),
            ColourToken::Info => (0x0b74a8, 0x147bb0),
            ColourToken::InfoStrong => (0x085d88, 0x0e6796),
            ColourToken::OnInfo => (0xffffff, 0xffffff),
            ColourToken::InfoSoft => (0xdff2fb, 0x10293a),
            ColourToken::OnInfoSoft => (0x0a5a83, 0x8bcdf0),
        };
        rgb(if self.dark { dark } else { light })
    }
}

/// Returns the font and the line height.
pub(crate) fn type_style(step: TypeStep, weight: Weight) -> (FontId, f32) {
    let (size, line) = match step {
        TypeStep::Display => (32.0, 40.0),
        TypeStep::Title => (24.0, 32.0),
        TypeStep::Heading => (19.0, 26.0),
        TypeStep::Subtitle => (16.0, 24.0),
        TypeStep::Body => (14.5, 21.0),
        TypeStep::Label => (13.5, 19.0),
        TypeStep::Small => (13.0, 18.0),
        TypeStep::Caption => (11.5, 16.0),
        TypeStep::Code => (13.0, 19.0),
    };
    let family = match (step, weight) {
        (TypeStep::Code, _) => FontFamily::Monospace,
        (_, Weight::Bold) => FontFamily::Name(BOLD.into()),
        (_, Weight::Regular) => FontFamily::Proportional,
    };
    (FontId::new(size, family), line)
}

/// Returns the radius in points. `full` is the largest radius that the box allows.
pub(crate) fn corner(radius: StyleRadius, size: egui::Vec2) -> f32 {
    let most = size.x.min(size.y) / 2.0;
    let wanted = match radius {
        StyleRadius::Points(points) => points,
        StyleRadius::Step(RadiusStep::None) => 0.0,
        StyleRadius::Step(RadiusStep::Small) => 4.0,
        StyleRadius::Step(RadiusStep::Medium) => 8.0,
        StyleRadius::Step(RadiusStep::Large) => 12.0,
        StyleRadius::Step(RadiusStep::Huge) => 18.0,
        StyleRadius::Step(RadiusStep::Full) => most,
    };
    wanted.min(most)
}

/// Two layers: one close and sharp, one wide and soft.
pub(crate) fn shadows(shadow: Shadow, dark: bool) -> Vec<epaint::Shadow> {
    let layer = |y: i8, blur: u8, spread: u8, alpha: u8| epaint::Shadow {
        offset: [0, y],
        blur,
        spread,
        color: Color32::from_black_alpha(if dark { alpha.saturating_mul(3) } else { alpha }),
    };
    match shadow {
        Shadow::None => Vec::new(),
        Shadow::Small => vec![layer(1, 3, 0, 22)],
        Shadow::Medium => vec![layer(1, 4, 0, 16), layer(5, 18, 0, 14)],
        Shadow::Large => vec![layer(2, 8, 0, 14), layer(10, 32, 0, 18)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(colour: Color32) -> f32 {
        let linear = |channel: u8| {
            let value = f32::from(channel) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(colour.r()) + 0.7152 * linear(colour.g()) + 0.0722 * linear(colour.b())
    }

    #[test]
    fn text_can_be_read_in_light_and_dark() {
        use ColourToken as T;
        let pairs = [
            (T::Text, T::Background),
            (T::Text, T::Surface),
            (T::Text, T::Raised),
            (T::Text, T::Sunken),
            (T::Muted, T::Background),
            (T::Muted, T::Surface),
            (T::Muted, T::Sunken),
            (T::OnInverse, T::Inverse),
            (T::OnPrimary, T::Primary),
            (T::OnPrimary, T::PrimaryStrong),
            (T::OnPrimarySoft, T::PrimarySoft),
            (T::OnSuccess, T::Success),
            (T::OnSuccess, T::SuccessStrong),
            (T::OnSuccessSoft, T::SuccessSoft),
            (T::OnWarning, T::Warning),
            (T::OnWarning, T::WarningStrong),
            (T::OnWarningSoft, T::WarningSoft),
            (T::OnDanger, T::Danger),
            (T::OnDanger, T::DangerStrong),
            (T::OnDangerSoft, T::DangerSoft),
            (T::OnInfo, T::Info),
            (T::OnInfo, T::InfoStrong),
            (T::OnInfoSoft, T::InfoSoft),
            (T::Faint, T::Surface),
        ];
        for dark in [false, true] {
            let theme = PreviewTheme { dark };
            for (text, ground) in pairs {
                let (a, b) = (luminance(theme.token(text)), luminance(theme.token(ground)));
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                let least = if text == T::Faint { 4.0 } else { 4.5 };
                assert!(contrast >= least, "{text:?} on {ground:?}, dark {dark}: {contrast:.2}");
            }
        }
    }
}
