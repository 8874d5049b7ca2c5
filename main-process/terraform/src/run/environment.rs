//! The environment variables that are passed to a run: those needed to find programs, proxies, certificates and
//! credentials.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

const PASSED_NAMES: [&str; 24] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TMPDIR",
    "TZ",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSH_AUTH_SOCK",
    "KUBECONFIG",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
];
const PASSED_PREFIXES: [&str; 6] = ["TF_", "AWS_", "ARM_", "AZURE_", "GOOGLE_", "OPENTOFU_"];
/// Variables that would change the meaning of a run.
const BLOCKED_NAMES: [&str; 5] = ["TF_CLI_ARGS", "TF_LOG", "TF_LOG_PATH", "TF_INPUT", "TF_DATA_DIR"];

/// Returns the environment of a run.
pub fn environment(
    ours: impl IntoIterator<Item = (OsString, OsString)>,
    secrets: &BTreeMap<String, String>,
) -> Vec<(OsString, OsString)> {
    let mut kept: Vec<(OsString, OsString)> = ours.into_iter().filter(|(name, _)| is_kept(name)).collect();
    kept.extend(
        [("TF_IN_AUTOMATION", "1"), ("TF_INPUT", "0"), ("CHECKPOINT_DISABLE", "1")]
            .map(|(name, value)| (OsString::from(name), OsString::from(value))),
    );
    kept.extend(
        secrets.iter().map(|(name, value)| (OsString::from(format!("TF_VAR_{name}")), OsString::from(value))),
    );
    kept
}

fn is_kept(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    if BLOCKED_NAMES.iter().any(|never| name == *never || name.starts_with(&format!("{never}_"))) {
        return false;
    }
    PASSED_NAMES.contains(&name) || PASSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_run_needs_is_passed() {
        let ours = [
            "PATH",
            "AWS_PROFILE",
            "ARM_CLIENT_SECRET",
            "DATABASE_PASSWORD",
            "TF_CLI_ARGS_apply",
            "TF_VAR_size",
        ]
        .map(|name| (OsString::from(name), OsString::from("x")));
        let secrets = BTreeMap::from([("key".to_owned(), "secret".to_owned())]);
        let names: Vec<String> =
            environment(ours, &secrets).into_iter().map(|(name, _)| name.into_string().unwrap()).collect();
        for name in
            ["PATH", "AWS_PROFILE", "ARM_CLIENT_SECRET", "TF_VAR_size", "TF_VAR_key", "TF_IN_AUTOMATION"]
        {
            assert!(names.contains(&name.to_owned()), "{name}");
        }
        assert!(!names.contains(&"DATABASE_PASSWORD".to_owned()));
        assert!(!names.contains(&"TF_CLI_ARGS_apply".to_owned()));
    }
}
