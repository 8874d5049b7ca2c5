//! Component files, which describe the components of a user interface, and their strict parser.
//!
//! Owns: the format (props, variants, view tree, styles as tokens, expressions), its limits, and a problem report with
//! position and expectation for every mistake. `schemas/component.schema.json` states the same rules as a JSON Schema.
//! Must not know: files on a disk, layout, pixels, messages, processes. Parsing any text ends quickly, with a component
//! or with problems, and never panics.
//!
//! ```
//! let text = "format: 1\nid: ui.hello\ntitle: Hello\nview: { type: text, text: Hello }\n";
//! let component = components::read("components/hello.component.yaml", text).unwrap();
//! assert_eq!(component.id, "ui.hello");
//! ```

mod bounds;
mod expression;
mod library;
mod place;
mod problem;
mod prop;
mod read;
mod source;
mod style;
mod text;
mod view;

pub use bounds::{
    MAX_DEPTH, MAX_EXPRESSION, MAX_FILE_BYTES, MAX_FILES, MAX_NODES, MAX_PROBLEMS, MAX_PROPS, MAX_TEXT,
    MAX_VARIANTS,
};
pub use expression::{EvalError, Expression, FILTERS, Scope, TESTS};
pub use library::{BUILT_IN, Library, is_built_in};
pub use place::Place;
pub use problem::{Problem, Problems};
pub use prop::{Prop, Variant};
pub use read::{Component, SUFFIXES, is_component_file, read};
pub use style::{
    Align, Border, Colour, Count, Expected, Justify, Leading, Length, Opacity, Placement, Radius, RadiusStep,
    Ratio, Shadow, Share, Sides, Space, Style, StyleKey, StyleSheet, TOKENS, TextAlign, Token, TypeStep,
    Weight,
};
pub use text::{invisible, visible};
pub use view::{Bound, Kind, KindName, Node, Part, States, Use};

/// The value type of expressions.
pub use minijinja::Value;

/// Converts a JSON value for use in expressions.
pub fn from_json(json: &serde_json::Value) -> Value {
    Value::from(minijinja::value::Serde(json))
}

/// Converts the result of an expression to JSON. Values without a JSON form become null.
pub fn to_json(value: &Value) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_default()
}
