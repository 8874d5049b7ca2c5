//! HCL output: expressions, bodies, and the layout of `terraform fmt`.
//!
//! Owns: quoting, spaces and line breaks. Must not know: nodes, types, providers.

mod body;
mod expression;
mod quote;

pub use body::{HclBody, HclStatement};
pub use expression::HclExpression;
pub use quote::{is_identifier, quote};
