//! The person at this machine.

/// The login name, or nothing when the environment has none.
pub(crate) fn user_name() -> String {
    std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_default()
}
