//! Colours: tokens with a light and a dark value from the theme, or literal colours.

use super::values::{ExpectedValue, FromStyleValue};
use minijinja::Value;

macro_rules! tokens {
    ($($token:ident = $name:literal,)+) => {
        /// A colour token, named by its purpose.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ColourToken { $($token,)+ }

        /// Every token with its name.
        pub const TOKENS: &[(ColourToken, &str)] = &[$((ColourToken::$token, $name),)+];
    };
}

tokens! {
    Transparent = "transparent",
    // Page, surface on it, raised above it, sunken into it.
    Background = "background",
    Surface = "surface",
    Raised = "raised",
    Sunken = "sunken",
    Overlay = "overlay",
    Inverse = "inverse",
    OnInverse = "onInverse",
    // Translucent overlays.
    Hover = "hover",
    Pressed = "pressed",
    Border = "border",
    BorderStrong = "borderStrong",
    Focus = "focus",
    Text = "text",
    Muted = "muted",
    Faint = "faint",
    // Each tone: base, stronger, text on the base, soft tint, text on the tint.
    Primary = "primary",
    PrimaryStrong = "primaryStrong",
    OnPrimary = "onPrimary",
    PrimarySoft = "primarySoft",
    OnPrimarySoft = "onPrimarySoft",
    Success = "success",
    SuccessStrong = "successStrong",
    OnSuccess = "onSuccess",
    SuccessSoft = "successSoft",
    OnSuccessSoft = "onSuccessSoft",
    Warning = "warning",
    WarningStrong = "warningStrong",
    OnWarning = "onWarning",
    WarningSoft = "warningSoft",
    OnWarningSoft = "onWarningSoft",
    Danger = "danger",
    DangerStrong = "dangerStrong",
    OnDanger = "onDanger",
    DangerSoft = "dangerSoft",
    OnDangerSoft = "onDangerSoft",
    Info = "info",
    InfoStrong = "infoStrong",
    OnInfo = "onInfo",
    InfoSoft = "infoSoft",
    OnInfoSoft = "onInfoSoft",
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    Token(ColourToken),
    /// Red, green, blue, alpha; not premultiplied.
    Rgba([u8; 4]),
}

impl Colour {
    /// Parses a token, `#rgb`, `#rrggbb`, `#rrggbbaa`, `rgb(1, 2, 3)` or `hsl(120, 50%, 40%)`.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some((token, _)) = TOKENS.iter().find(|(_, name)| *name == text) {
            return Some(Self::Token(*token));
        }
        if let Some(hex) = text.strip_prefix('#') {
            return hex_colour(hex).map(Self::Rgba);
        }
        let (form, arguments) = text.strip_suffix(')')?.split_once('(')?;
        let parts: Vec<f32> = arguments
            .split(',')
            .take(4)
            .map(|part| part.trim().trim_end_matches('%').parse::<f32>().ok().filter(|part| part.is_finite()))
            .collect::<Option<_>>()?;
        match (form, &parts[..]) {
            ("rgb", &[red, green, blue]) => {
                let channel = |value: f32| (0.0..=255.0).contains(&value).then_some(value.round() as u8);
                Some(Self::Rgba([channel(red)?, channel(green)?, channel(blue)?, 255]))
            }
            ("hsl", &[hue, saturation, lightness]) => {
                let share = |value: f32| (0.0..=100.0).contains(&value).then_some(value / 100.0);
                Some(Self::Rgba(hsl(hue.rem_euclid(360.0), share(saturation)?, share(lightness)?)))
            }
            _ => None,
        }
    }
}

impl FromStyleValue for Colour {
    fn from_value(value: &Value) -> Result<Self, ExpectedValue> {
        let expected = || {
            ExpectedValue(
                "a colour token such as primary, surface or muted, or a colour such as #2b6cb0".to_owned(),
            )
        };
        value.as_str().and_then(Self::parse).ok_or_else(expected)
    }
}

fn hex_colour(hex: &str) -> Option<[u8; 4]> {
    let digits: Vec<u8> = hex
        .chars()
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    match digits[..] {
        [r, g, b] => Some([r * 17, g * 17, b * 17, 255]),
        [r, r2, g, g2, b, b2] => Some([r * 16 + r2, g * 16 + g2, b * 16 + b2, 255]),
        [r, r2, g, g2, b, b2, a, a2] => Some([r * 16 + r2, g * 16 + g2, b * 16 + b2, a * 16 + a2]),
        _ => None,
    }
}

fn hsl(hue: f32, saturation: f32, lightness: f32) -> [u8; 4] {
    let chroma = saturation * lightness.min(1.0 - lightness);
    let channel = |offset: f32| {
        let k = (offset + hue / 30.0) % 12.0;
        let value = lightness - chroma * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (value * 255.0).round() as u8
    };
    [channel(0.0), channel(8.0), channel(4.0), 255]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_in_every_form() {
        let check = |text: &str, expected: Option<[u8; 4]>| {
            assert_eq!(Colour::parse(text), expected.map(Colour::Rgba), "{text}");
        };
        check("#fff", Some([255; 4]));
        check("#2b6cb0", Some([0x2b, 0x6c, 0xb0, 255]));
        check("#2b6cb080", Some([0x2b, 0x6c, 0xb0, 128]));
        check("rgb(1, 2, 3)", Some([1, 2, 3, 255]));
        check("hsl(0, 100%, 50%)", Some([255, 0, 0, 255]));
        check("hsl(120, 100%, 25%)", Some([0, 128, 0, 255]));
        for wrong in
            ["#ff", "#ggg", "#é00", "rgb(1,2)", "rgb(NaN,1,1)", "rgb(256,0,0)", "red", "", "rgb(", "()"]
        {
            check(wrong, None);
        }
        assert_eq!(Colour::parse("primary"), Some(Colour::Token(ColourToken::Primary)));
    }
}
