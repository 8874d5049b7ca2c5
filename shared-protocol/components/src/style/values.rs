//! Style values, parsed from tokens and bounded numbers.

use minijinja::{Value, value::ValueKind};

/// The expected value, phrased to follow "expected".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedValue(pub String);

pub(crate) trait FromStyleValue: Sized {
    fn from_value(value: &Value) -> Result<Self, ExpectedValue>;
}

/// One step of the spacing scale, in points.
const POINTS_PER_STEP: f32 = 4.0;
const MAX_SPACING_STEPS: f64 = 64.0;
const MAX_LENGTH_POINTS: f64 = 10_000.0;

fn number(value: &Value, from: f64, to: f64, what: &str) -> Result<f32, ExpectedValue> {
    let expected = || ExpectedValue(format!("{what} from {from} to {to}"));
    if value.kind() != ValueKind::Number {
        return Err(expected());
    }
    let number = f64::try_from(value.clone()).map_err(|_| expected())?;
    // NaN is in no range.
    if (from..=to).contains(&number) { Ok(number as f32) } else { Err(expected()) }
}

impl FromStyleValue for bool {
    fn from_value(value: &Value) -> Result<Self, ExpectedValue> {
        match value.kind() {
            ValueKind::Bool => Ok(value.is_true()),
            _ => Err(ExpectedValue("true or false".to_owned())),
        }
    }
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident($inner:ty), $from:literal, $to:literal, $what:literal;)+) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $name(pub $inner);

        impl FromStyleValue for $name {
            fn from_value(value: &Value) -> Result<Self, ExpectedValue> {
                number(value, $from, $to, $what).map(|number| Self(number as $inner))
            }
        }
    )+ };
}

numbers! {
    /// Width over height.
    Ratio(f32), 0.01, 100.0, "a ratio";
    /// The share of the free or missing space.
    Share(f32), 0.0, 1000.0, "a share";
    /// A number of items.
    Count(u16), 1.0, 1000.0, "a count";
    Opacity(f32), 0.0, 1.0, "an opacity";
    /// The line height as a multiple of the font size.
    Leading(f32), 0.5, 4.0, "a line height";
}

/// A distance in points, written in steps of four.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct StyleSpacing(pub f32);

impl FromStyleValue for StyleSpacing {
    fn from_value(value: &Value) -> Result<Self, ExpectedValue> {
        number(value, 0.0, MAX_SPACING_STEPS, "steps of the spacing scale (4 points each)")
            .map(|steps| Self(steps * POINTS_PER_STEP))
    }
}

/// Distances on four sides, in points.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StyleInsets {
    pub top: f32,
    pub right: f32,
    pub bottom: f32,
    pub left: f32,
}

impl FromStyleValue for StyleInsets {
    /// Parses one number for all sides, `[vertical, horizontal]`, or `[top, right, bottom, left]`.
    fn from_value(value: &Value) -> Result<Self, ExpectedValue> {
        if value.kind() != ValueKind::Seq {
            let StyleSpacing(all) = StyleSpacing::from_value(value)?;
            return Ok(Self { top: all, right: all, bottom: all, left: all });
        }
        let expected = || {
            ExpectedValue(
                "one number, [vertical, horizontal] or [top, right, bottom, left], in steps of 4 points"
                    .to_owned(),
            )
        };
        let parts: Vec<f32> = value
            .try_iter()
            .map_err(|_| expected())?
            .take(5)
            .map(|part| StyleSpacing::from_value(&part).map(|StyleSpacing(points)| points))
            .collect::<Result<_, _>>()?;
        match parts[..] {
            [y, x] => Ok(Self { top: y, right: x, bottom: y, left: x }),
            [top, right, bottom, left] => Ok(Self { top, right, bottom, left }),
            _ => Err(expected()),
        }
    }
}

/// A width or a height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StyleLength {
    Auto,
    Points(f32),
    /// A fraction of the parent's space; 1 is all of it.
    Share(f32),
}

impl FromStyleValue for StyleLength {
    fn from_value(value: &Value) -> Result<Self, ExpectedValue> {
        let expected = || {
            ExpectedValue(format!(
                "points from 0 to {MAX_LENGTH_POINTS}, a share such as \"50%\", \"fill\" or \"auto\""
            ))
        };
        match value.as_str() {
            None => number(value, 0.0, MAX_LENGTH_POINTS, "points").map(Self::Points).map_err(|_| expected()),
            Some("auto") => Ok(Self::Auto),
            Some("fill") => Ok(Self::Share(1.0)),
            Some(text) => {
                let percent: f32 =
                    text.strip_suffix('%').and_then(|text| text.parse().ok()).ok_or_else(expected)?;
                if (0.0..=100.0).contains(&percent) {
                    Ok(Self::Share(percent / 100.0))
                } else {
                    Err(expected())
                }
            }
        }
    }
}

macro_rules! tokens {
    ($($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal,)+ })+) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($variant,)+ }

        impl $name {
            pub const NAMES: &'static [&'static str] = &[$($text,)+];
        }

        impl FromStyleValue for $name {
            fn from_value(value: &Value) -> Result<Self, ExpectedValue> {
                match value.as_str() {
                    $(Some($text) => Ok(Self::$variant),)+
                    _ => Err(ExpectedValue(format!("one of {}", Self::NAMES.join(", ")))),
                }
            }
        }
    )+ };
}

tokens! {
    /// Alignment across the layout direction.
    Align { Start = "start", Center = "center", End = "end", Stretch = "stretch", Baseline = "baseline", }
    /// Distribution along the layout direction.
    Justify { Start = "start", Center = "center", End = "end", Between = "between", Around = "around", Evenly = "evenly", }
    /// The position of a child in a stack.
    Placement {
        Fill = "fill", Center = "center", Top = "top", Bottom = "bottom", Left = "left", Right = "right",
        TopLeft = "topLeft", TopRight = "topRight", BottomLeft = "bottomLeft", BottomRight = "bottomRight",
    }
    /// The type scale.
    TypeStep {
        Display = "display", Title = "title", Heading = "heading", Subtitle = "subtitle", Body = "body",
        Label = "label", Small = "small", Caption = "caption", Code = "code",
    }
    Weight { Regular = "regular", Bold = "bold", }
    TextAlign { Left = "left", Center = "center", Right = "right", }
    RadiusStep { None = "none", Small = "small", Medium = "medium", Large = "large", Huge = "huge", Full = "full", }
    Border { None = "none", Thin = "thin", Thick = "thick", }
    Shadow { None = "none", Small = "small", Medium = "medium", Large = "large", }
}

/// The corner radius: a step of the scale, or points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StyleRadius {
    Step(RadiusStep),
    Points(f32),
}

impl FromStyleValue for StyleRadius {
    fn from_value(value: &Value) -> Result<Self, ExpectedValue> {
        if value.kind() == ValueKind::Number {
            return number(value, 0.0, 255.0, "points").map(Self::Points);
        }
        let step = RadiusStep::from_value(value).map(Self::Step);
        step.map_err(|ExpectedValue(expected)| ExpectedValue(format!("{expected}, or points from 0 to 255")))
    }
}
