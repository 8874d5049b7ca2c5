//! The styles of one node as written: what is fixed is checked when the file is read, what is computed when it is drawn.

use super::{Expected, Style, StyleKey};
use crate::{EvalError, Expression, expression::Scope};

#[derive(Debug, Default)]
pub struct StyleSheet {
    pub fixed: Style,
    pub computed: Vec<(StyleKey, Expression)>,
}

impl StyleSheet {
    pub fn is_empty(&self) -> bool {
        self.computed.is_empty() && self.fixed == Style::default()
    }

    /// The style for these props. An expression that gives `none` or an empty text leaves its key unset.
    pub fn resolve(&self, scope: &Scope) -> Result<Style, EvalError> {
        let mut style = self.fixed.clone();
        for (key, expression) in &self.computed {
            let value = expression.eval(scope)?;
            if value.is_none() || value.as_str() == Some("") {
                continue;
            }
            style.set(*key, &value).map_err(|Expected(expected)| EvalError {
                expression: expression.text().to_owned(),
                reason: format!("gives {value:.60} for `{}`; expected {expected}", key.name()),
                place: expression.place(),
            })?;
        }
        Ok(style)
    }
}
