//! Design tokens: colours for light and dark, the type scale, corners, shadows, icons and fonts.

mod fonts;
mod icons;
mod theme;

pub(crate) use fonts::fonts;
pub use icons::ICONS;
pub(crate) use icons::{IconPathStroke, IconStrokes, icon};
pub(crate) use theme::{PreviewTheme, corner, shadows, type_style};
