//! Price books: files with prices, each with its source and the day it was read.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The version of the format that this build reads.
const FORMAT: u32 = 1;
const MOST_PRICES: usize = 200_000;

/// Prices as they stand in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    currency: String,
    #[serde(default)]
    prices: Vec<Price>,
}

/// What one unit costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// `azurerm` or `aws`.
    pub provider: String,
    /// The region; `*` holds for all that have no line of their own.
    pub region: String,
    pub service: String,
    pub sku: String,
    pub unit: String,
    pub price: f64,
    /// Where the price is from, such as the address of a price list.
    pub source: String,
    /// The day it was read there, such as 2026-01-31.
    pub date: String,
}

#[derive(Debug, thiserror::Error)]
pub enum BookError {
    #[error("{file}: {message}")]
    Malformed { file: String, message: String },
    #[error("{file} is in {found} and another book in {expected}: use one currency")]
    Currency { file: String, found: String, expected: String },
}

/// All prices that are known, in one currency.
#[derive(Debug, Clone, Default)]
pub struct PriceBook {
    currency: Option<String>,
    prices: HashMap<[String; 5], Price>,
}

impl PriceBook {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the prices of a file (JSON); later ones take the place of earlier ones.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), BookError> {
        let malformed = |message: String| BookError::Malformed { file: file.to_owned(), message };
        let book: File = serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
        if book.format != FORMAT {
            return Err(malformed(format!("format {} is not {FORMAT}: update Draftboard", book.format)));
        }
        if book.currency.len() != 3 || !book.currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(malformed(format!("{:?} is not a currency such as EUR", book.currency)));
        }
        if let Some(expected) = self.currency.as_ref().filter(|own| **own != book.currency) {
            return Err(BookError::Currency {
                file: file.to_owned(),
                found: book.currency,
                expected: expected.clone(),
            });
        }
        if self.prices.len() + book.prices.len() > MOST_PRICES {
            return Err(malformed(format!("more than {MOST_PRICES} prices")));
        }
        for (line, price) in book.prices.into_iter().enumerate() {
            price.check().map_err(|problem| malformed(format!("price {}: {problem}", line + 1)))?;
            self.prices.insert(price.key(), price);
        }
        self.currency = Some(book.currency);
        Ok(())
    }

    pub fn currency(&self) -> Option<&str> {
        self.currency.as_deref()
    }

    /// The price in a region, or the one that holds for all.
    pub(crate) fn find(
        &self,
        provider: &str,
        region: &str,
        service: &str,
        sku: &str,
        unit: &str,
    ) -> Option<&Price> {
        let key = |region: &str| [provider, region, service, sku, unit].map(str::to_owned);
        self.prices.get(&key(region)).or_else(|| self.prices.get(&key("*")))
    }
}

impl Price {
    fn key(&self) -> [String; 5] {
        [&self.provider, &self.region, &self.service, &self.sku, &self.unit].map(Clone::clone)
    }

    /// A price that nobody can check is none.
    fn check(&self) -> Result<(), String> {
        if !self.price.is_finite() || self.price < 0.0 {
            return Err(format!("{} is not a price", self.price));
        }
        if self.source.trim().is_empty() {
            return Err("the source is missing: say where the price is from".to_owned());
        }
        let parts: Vec<&str> = self.date.split('-').collect();
        let is_date = matches!(parts[..], [year, month, day] if year.len() == 4 && month.len() == 2 && day.len() == 2)
            && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        if is_date { Ok(()) } else { Err(format!("{:?} is not a day such as 2026-01-31", self.date)) }
    }
}
