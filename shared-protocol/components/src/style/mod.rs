//! Styles: a closed set of keys, each with a closed set of tokens or a bounded number. Nothing here is a pixel yet but
//! lengths; what a token looks like is the theme's business.

mod colour;
mod keys;
mod sheet;
mod values;

pub use colour::{Colour, TOKENS, Token};
pub use keys::StyleKey;
pub use sheet::StyleSheet;
pub use values::{
    Align, Border, Count, Expected, Justify, Leading, Length, Opacity, Placement, Radius, RadiusStep, Ratio,
    Shadow, Share, Sides, Space, TextAlign, TypeStep, Weight,
};

use minijinja::Value;

macro_rules! style {
    ($($(#[$doc:meta])* $field:ident: $type:ty = $key:ident,)+) => {
        /// What is set; the rest is left to the element or inherited.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Style {
            $($(#[$doc])* pub $field: Option<$type>,)+
        }

        impl Style {
            /// What `over` sets wins.
            pub fn overlay(&mut self, over: &Self) {
                $(if let Some(value) = &over.$field { self.$field = Some(value.clone()); })+
            }

            /// Sets one key from a value of a file or an expression.
            pub fn set(&mut self, key: StyleKey, value: &Value) -> Result<(), Expected> {
                match key {
                    $(StyleKey::$key => self.$field = Some(<$type as values::FromValue>::from_value(value)?),)+
                }
                Ok(())
            }
        }
    };
}

style! {
    /// Between children.
    gap: Space = Gap,
    padding: Sides = Padding,
    margin: Sides = Margin,
    width: Length = Width,
    height: Length = Height,
    min_width: Length = MinWidth,
    max_width: Length = MaxWidth,
    min_height: Length = MinHeight,
    max_height: Length = MaxHeight,
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
    /// Where a child of a stack lies.
    place: Placement = Place,
    background: Colour = Background,
    /// Of text and icons, inherited.
    colour: Colour = Colour,
    /// Inherited.
    text: TypeStep = Text,
    /// Inherited.
    weight: Weight = Weight,
    text_align: TextAlign = TextAlign,
    /// A text is cut after so many.
    lines: Count = Lines,
    line_height: Leading = LineHeight,
    radius: Radius = Radius,
    border: Border = Border,
    border_colour: Colour = BorderColour,
    shadow: Shadow = Shadow,
    opacity: Opacity = Opacity,
    /// Children are cut at the edge.
    clip: bool = Clip,
}
