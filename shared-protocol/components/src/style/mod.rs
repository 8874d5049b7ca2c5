//! Styles: a closed set of keys, each with a closed set of tokens or a bounded number. Only lengths are in points here;
//! the theme resolves tokens.

mod colour;
mod keys;
mod sheet;
mod values;

pub use colour::{Colour, ColourToken, TOKENS};
pub use keys::StyleKey;
pub use sheet::StyleSheet;
pub use values::{
    Align, Border, Count, ExpectedValue, Justify, Leading, Opacity, Placement, RadiusStep, Ratio, Shadow,
    Share, StyleInsets, StyleLength, StyleRadius, StyleSpacing, TextAlign, TypeStep, Weight,
};

use minijinja::Value;

macro_rules! style {
    ($($(#[$doc:meta])* $field:ident: $type:ty = $key:ident,)+) => {
        /// The style properties that are set. The element's default or inheritance supplies the others.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Style {
            $($(#[$doc])* pub $field: Option<$type>,)+
        }

        impl Style {
            /// Overrides properties with those that `over` sets.
            pub fn overlay(&mut self, over: &Self) {
                $(if let Some(value) = &over.$field { self.$field = Some(value.clone()); })+
            }

            /// Sets one property from a value in a file or from an expression.
            pub fn set(&mut self, key: StyleKey, value: &Value) -> Result<(), ExpectedValue> {
                match key {
                    $(StyleKey::$key => self.$field = Some(<$type as values::FromStyleValue>::from_value(value)?),)+
                }
                Ok(())
            }
        }
    };
}

style! {
    /// The distance between children.
    gap: StyleSpacing = Gap,
    padding: StyleInsets = Padding,
    margin: StyleInsets = Margin,
    width: StyleLength = Width,
    height: StyleLength = Height,
    min_width: StyleLength = MinWidth,
    max_width: StyleLength = MaxWidth,
    min_height: StyleLength = MinHeight,
    max_height: StyleLength = MaxHeight,
    /// Width over height.
    aspect: Ratio = Aspect,
    grow: Share = Grow,
    shrink: Share = Shrink,
    align: Align = Align,
    justify: Justify = Justify,
    align_self: Align = AlignSelf,
    wrap: bool = Wrap,
    columns: Count = Columns,
    span: Count = Span,
    /// The position of a child in a stack.
    place: Placement = Place,
    background: Colour = Background,
    /// The colour of text and icons; inherited.
    colour: Colour = Colour,
    /// Inherited.
    text: TypeStep = Text,
    /// Inherited.
    weight: Weight = Weight,
    text_align: TextAlign = TextAlign,
    /// The maximum number of text lines; further text is truncated.
    lines: Count = Lines,
    line_height: Leading = LineHeight,
    radius: StyleRadius = Radius,
    border: Border = Border,
    border_colour: Colour = BorderColour,
    shadow: Shadow = Shadow,
    opacity: Opacity = Opacity,
    /// Clips children at the edge.
    clip: bool = Clip,
}
