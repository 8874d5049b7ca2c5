//! The keys of styles.

macro_rules! keys {
    ($($key:ident = $name:literal,)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum StyleKey { $($key,)+ }

        impl StyleKey {
            pub const ALL: &'static [Self] = &[$(Self::$key,)+];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$key => $name,)+ }
            }
        }
    };
}

keys! {
    Gap = "gap",
    Padding = "padding",
    Margin = "margin",
    Width = "width",
    Height = "height",
    MinWidth = "minWidth",
    MaxWidth = "maxWidth",
    MinHeight = "minHeight",
    MaxHeight = "maxHeight",
    Aspect = "aspect",
    Grow = "grow",
    Shrink = "shrink",
    Align = "align",
    Justify = "justify",
    AlignSelf = "alignSelf",
    Wrap = "wrap",
    Columns = "columns",
    Span = "span",
    Place = "place",
    Background = "background",
    Colour = "colour",
    Text = "text",
    Weight = "weight",
    TextAlign = "textAlign",
    Lines = "lines",
    LineHeight = "lineHeight",
    Radius = "radius",
    Border = "border",
    BorderColour = "borderColour",
    Shadow = "shadow",
    Opacity = "opacity",
    Clip = "clip",
}

impl StyleKey {
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|key| key.name() == name)
    }
}
