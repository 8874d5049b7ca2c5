//! Recognises keys whose values are hidden from agents, logs and reports.

/// Returns whether a key names a secret, judged by its words alone.
pub fn looks_secret(key: &str) -> bool {
    const WORDS: [&str; 12] = [
        "password",
        "passwd",
        "passphrase",
        "secret",
        "token",
        "credential",
        "private_key",
        "privatekey",
        "access_key",
        "api_key",
        "apikey",
        "connection_string",
    ];
    let key = key.to_lowercase().replace('-', "_");
    WORDS.iter().any(|word| key.contains(word)) || key == "subscription_id" || key == "key"
}
