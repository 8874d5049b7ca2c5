//! The styles of one node in the file. Fixed values are checked during parsing, computed values during rendering.

use super::{ExpectedValue, Style, StyleKey};
use crate::{ComponentExpression, ExpressionError, expression::ExpressionScope};

#[derive(Debug, Default)]
pub struct StyleSheet {
    pub fixed: Style,
    pub computed: Vec<(StyleKey, ComponentExpression)>,
}

impl StyleSheet {
    pub fn is_empty(&self) -> bool {
        self.computed.is_empty() && self.fixed == Style::default()
    }

    /// Computes the style for these props. An expression that returns `none` or an empty string leaves its property
    /// unset.
    pub fn resolve(&self, scope: &ExpressionScope) -> Result<Style, ExpressionError> {
        let mut style = self.fixed.clone();
        for (key, expression) in &self.computed {
            let value = expression.eval(scope)?;
            if value.is_none() || value.as_str() == Some("") {
                continue;
            }
            style.set(*key, &value).map_err(|ExpectedValue(expected)| ExpressionError {
                expression: expression.text().to_owned(),
                reason: format!("returns {value:.60} for `{}`; expected {expected}", key.name()),
                place: expression.place(),
            })?;
        }
        Ok(style)
    }
}
