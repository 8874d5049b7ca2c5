//! Formats amounts of money.

use shared_protocol::terraform::{CostBasis, CostView};

/// `$312`, `€8.75`, `CHF 40`: without cents from one hundred on.
pub(crate) fn amount(currency: Option<&str>, value: f64) -> String {
    let number = match value {
        value if value > 0.0 && value < 0.01 => return format!("under {}", amount(currency, 0.01)),
        value if value >= 99.995 => group_digits(value.round()),
        value => format!("{value:.2}"),
    };
    match currency {
        Some("USD") => format!("${number}"),
        Some("EUR") => format!("€{number}"),
        Some("GBP") => format!("£{number}"),
        Some(other) => format!("{other} {number}"),
        None => number,
    }
}

/// `12,345`.
fn group_digits(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn basis_word(basis: CostBasis) -> &'static str {
    match basis {
        CostBasis::Priced => "priced",
        CostBasis::Free => "free",
        CostBasis::UsageBased => "usage-based",
        CostBasis::Unknown => "unknown",
    }
}

/// The text of the status bar: the known sum, and the number of unpriced resources. An unknown cost is never zero.
pub(crate) fn short_cost(cost: &CostView) -> Option<String> {
    let open = |words: &str| {
        let mut parts = Vec::new();
        if cost.unknown > 0 {
            parts.push(format!("{} unpriced", cost.unknown));
        }
        if cost.usage_based > 0 {
            parts.push(format!("{} usage-based", cost.usage_based));
        }
        (!parts.is_empty()).then(|| format!("{words}{}", parts.join(" · ")))
    };
    match cost.monthly.filter(|_| cost.priced > 0) {
        Some(monthly) => {
            let sum = format!("{}/mo", amount(cost.currency.as_deref(), monthly));
            Some(open(&format!("{sum} · ")).unwrap_or(sum))
        }
        None => open("Cost: ").or_else(|| (cost.free > 0).then(|| "No monthly cost".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::{BoardId, Revision};

    #[test]
    fn amounts_read_as_people_write_them() {
        for (currency, value, text) in [
            (Some("USD"), 312.4, "$312"),
            (Some("USD"), 99.996, "$100"),
            (Some("EUR"), 8.75, "€8.75"),
            (Some("GBP"), 1_234_567.0, "£1,234,567"),
            (Some("CHF"), 40.0, "CHF 40.00"),
            (Some("USD"), 0.004, "under $0.01"),
            (Some("USD"), 0.0, "$0.00"),
            (None, 5.0, "5.00"),
        ] {
            assert_eq!(amount(currency, value), text);
        }
    }

    #[test]
    fn what_is_unknown_is_never_zero() {
        let cost = |monthly, priced, free, usage_based, unknown| {
            short_cost(&CostView {
                board: BoardId::from_bits(1),
                revision: Revision(1),
                currency: Some("USD".to_owned()),
                monthly,
                priced,
                free,
                usage_based,
                unknown,
                nodes: Vec::new(),
            })
        };
        let check = |found: Option<String>, words: &str| assert_eq!(found.as_deref(), Some(words));
        check(cost(Some(312.0), 4, 1, 0, 0), "$312/mo");
        check(cost(Some(312.0), 4, 1, 0, 5), "$312/mo · 5 unpriced");
        check(cost(Some(312.0), 4, 1, 2, 5), "$312/mo · 5 unpriced · 2 usage-based");
        check(cost(None, 0, 3, 0, 5), "Cost: 5 unpriced");
        check(cost(Some(0.0), 0, 3, 1, 0), "Cost: 1 usage-based");
        check(cost(Some(0.0), 0, 3, 0, 0), "No monthly cost");
        assert_eq!(cost(None, 0, 0, 0, 0), None, "nothing that could cost anything");
    }
}
