//! The secret that proves that a local client can read our discovery record.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

const BYTES: usize = 32;

/// 256 random bits as hexadecimal text. Never shown by `Debug`.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InstanceToken(String);

impl InstanceToken {
    pub fn generate() -> io::Result<Self> {
        let mut bytes = [0_u8; BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(hex(&bytes)))
    }

    /// The text for a client that may see it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares in constant time.
    pub fn matches(&self, presented: &str) -> bool {
        constant_time_eq(self.0.as_bytes(), presented.as_bytes())
    }
}

impl fmt::Debug for InstanceToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(hidden)")
    }
}

impl TryFrom<String> for InstanceToken {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.len() == BYTES * 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            Ok(Self(text))
        } else {
            Err("a token is 64 hexadecimal digits")
        }
    }
}

impl From<InstanceToken> for String {
    fn from(token: InstanceToken) -> Self {
        token.0
    }
}

/// Compares in a time that does not depend on the position of the first difference. The length is no secret.
pub fn constant_time_eq(left: &[u8], right: &[u8]) -> bool {
    let difference = left.iter().zip(right).fold(0_u8, |difference, (left, right)| {
        // Hidden from the optimiser, which could otherwise stop at the first difference.
        std::hint::black_box(difference | (left ^ right))
    });
    left.len() == right.len() && difference == 0
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::{InstanceToken, constant_time_eq};

    #[test]
    fn a_token_matches_itself_and_nothing_near() {
        let token = InstanceToken::generate().unwrap();
        let text = token.reveal().to_owned();
        assert_eq!(text.len(), 64);
        assert!(token.matches(&text));
        let last = if text.ends_with('0') { '1' } else { '0' };
        assert!(!token.matches(&format!("{}{last}", &text[..63])));
        assert!(!token.matches(&text[..63]));
        assert!(!token.matches(&format!("{text}0")));
        assert!(!token.matches(""));
        assert!(!token.matches(InstanceToken::generate().unwrap().reveal()));
    }

    #[test]
    fn comparison() {
        assert!(constant_time_eq(b"", b""));
        assert!(constant_time_eq(b"abc", b"abc"));
        assert!(!constant_time_eq(b"abc", b"abd"));
        assert!(!constant_time_eq(b"abc", b"ab"));
        assert!(!constant_time_eq(b"", b"a"));
    }

    #[test]
    fn the_secret_is_never_shown_and_only_tokens_are_read() {
        let token = InstanceToken::generate().unwrap();
        assert_eq!(format!("{token:?}"), "Token(hidden)");
        let json = serde_json::to_string(&token).unwrap();
        assert!(serde_json::from_str::<InstanceToken>(&json).unwrap().matches(token.reveal()));
        assert!(serde_json::from_str::<InstanceToken>("\"short\"").is_err());
    }
}
