//! Price books: JSON files with prices, each with its source and date.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The format version that this build reads.
const PRICE_BOOK_FORMAT: u32 = 1;
const MAX_PRICES: usize = 200_000;

/// The content of a price book file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceBookFile {
    format: u32,
    currency: String,
    #[serde(default)]
    prices: Vec<UnitPrice>,
}

/// The price of one unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitPrice {
    /// `azurerm` or `aws`.
    pub provider: String,
    /// The region; `*` matches every region without its own price.
    pub region: String,
    pub service: String,
    pub sku: String,
    pub unit: String,
    pub price: f64,
    /// The origin of the price, such as the URL of a price list.
    pub source: String,
    /// The date when the price was read there, such as 2026-01-31.
    pub date: String,
}

#[derive(Debug, thiserror::Error)]
pub enum PriceBookError {
    #[error("{file}: {message}")]
    Malformed { file: String, message: String },
    #[error("{file} uses {found}, but another price book uses {expected}: use one currency")]
    Currency { file: String, found: String, expected: String },
}

/// All known prices, in one currency.
#[derive(Debug, Clone, Default)]
pub struct PriceBook {
    currency: Option<String>,
    prices: HashMap<[String; 5], UnitPrice>,
}

impl PriceBook {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the prices of a JSON file; later prices replace earlier ones.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), PriceBookError> {
        let malformed = |message: String| PriceBookError::Malformed { file: file.to_owned(), message };
        let book: PriceBookFile = serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
        if book.format != PRICE_BOOK_FORMAT {
            return Err(malformed(format!(
                "`format` {} is not supported (expected {PRICE_BOOK_FORMAT}): update Draftboard",
                book.format
            )));
        }
        if book.currency.len() != 3 || !book.currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(malformed(format!(
                "`currency` {:?} is not a currency code such as EUR",
                book.currency
            )));
        }
        if let Some(expected) = self.currency.as_ref().filter(|own| **own != book.currency) {
            return Err(PriceBookError::Currency {
                file: file.to_owned(),
                found: book.currency,
                expected: expected.clone(),
            });
        }
        if self.prices.len() + book.prices.len() > MAX_PRICES {
            return Err(malformed(format!("more than {MAX_PRICES} prices")));
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

    /// Returns the price for a region, or the price for all regions.
    pub(crate) fn find(
        &self,
        provider: &str,
        region: &str,
        service: &str,
        sku: &str,
        unit: &str,
    ) -> Option<&UnitPrice> {
        let key = |region: &str| [provider, region, service, sku, unit].map(str::to_owned);
        self.prices.get(&key(region)).or_else(|| self.prices.get(&key("*")))
    }
}

impl UnitPrice {
    fn key(&self) -> [String; 5] {
        [&self.provider, &self.region, &self.service, &self.sku, &self.unit].map(Clone::clone)
    }

    /// Refuses a price without a verifiable source and date.
    fn check(&self) -> Result<(), String> {
        if !self.price.is_finite() || self.price < 0.0 {
            return Err(format!("`price` {} is not a valid price", self.price));
        }
        if self.source.trim().is_empty() {
            return Err("`source` is missing: name the origin of the price".to_owned());
        }
        let parts: Vec<&str> = self.date.split('-').collect();
        let is_date = matches!(parts[..], [year, month, day] if year.len() == 4 && month.len() == 2 && day.len() == 2)
            && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        if is_date { Ok(()) } else { Err(format!("`date` {:?} is not a date such as 2026-01-31", self.date)) }
    }
}
