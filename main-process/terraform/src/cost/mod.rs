//! Monthly cost of a board.
//!
//! Owns: price books and sums over them. Must not know: the origin of prices; every price names its source. This
//! crate contains no prices: a workspace brings its own price book, and [`describe_missing`] generates a template. The
//! bundled example includes one with source and date.

mod book;
mod estimate;

pub use book::{PriceBook, PriceBookError, UnitPrice};
pub use estimate::{BoardCostEstimate, describe_missing, estimate, estimate_one};
