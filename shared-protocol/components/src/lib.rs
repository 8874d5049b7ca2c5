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

mod expression;
mod library;
mod limits;
mod position;
mod problem;
mod prop;
mod read;
mod source;
mod style;
mod text;
mod view;

pub use expression::{ComponentExpression, ExpressionError, ExpressionScope};
pub use library::{BUILT_IN_FOLDER, ComponentLibrary, is_built_in};
pub use limits::{
    MAX_EXPRESSION_CHARS, MAX_FILE_BYTES, MAX_FILES, MAX_NESTING_DEPTH, MAX_NODES, MAX_PROBLEMS, MAX_PROPS,
    MAX_TEXT, MAX_VARIANTS,
};
pub use position::SourcePosition;
pub use problem::{ComponentProblem, ComponentProblems};
pub use prop::{ComponentProp, ComponentVariant};
pub use read::{COMPONENT_FILE_SUFFIXES, Component, is_component_file, read};
pub use style::{
    Align, Border, Colour, ColourToken, Count, ExpectedValue, Justify, Leading, Opacity, Placement,
    RadiusStep, Ratio, Shadow, Share, Style, StyleInsets, StyleKey, StyleLength, StyleRadius, StyleSheet,
    StyleSpacing, TOKENS, TextAlign, TypeStep, Weight,
};
pub use text::{invisible, visible_text};
pub use view::{BoundValue, ComponentPart, ComponentUse, StateStyles, ViewKindName, ViewNode, ViewNodeKind};

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
