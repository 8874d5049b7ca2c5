//! Detects exposed secrets: in program arguments, which all programs of this machine can read, and in URLs, which
//! servers write to their logs.

/// The last words of secret names.
const SECRET_WORDS: [&str; 13] = [
    "KEY",
    "APIKEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "CREDENTIAL",
    "CREDENTIALS",
    "PAT",
    "AUTH",
    "AUTHORIZATION",
    "BEARER",
    "JWT",
];
/// The prefixes of secrets of well-known services.
const SECRET_PREFIXES: [&str; 13] = [
    "sk-",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "AIza",
    "hf_",
    "eyJ",
];
/// The minimum length of such a secret; shorter texts are ordinary words.
const MIN_MARKED_SECRET_BYTES: usize = 16;

/// Returns whether a variable, option or query parameter of this name holds a secret. The last word decides, so that
/// `--token-limit` and `--key-file` do not match.
pub(super) fn is_secret_name(name: &str) -> bool {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for character in name.chars() {
        let begins = character.is_ascii_uppercase() && was_small;
        was_small = character.is_ascii_lowercase();
        if begins || !character.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| character.is_ascii_alphanumeric()) {
            word.push(character.to_ascii_uppercase());
        }
    }
    words.iter().rfind(|word| !word.is_empty()).is_some_and(|word| SECRET_WORDS.contains(&word.as_str()))
}

/// Returns whether a value looks like the secret of a well-known service, or contains one.
fn looks_secret(value: &str) -> bool {
    let marked =
        SECRET_PREFIXES.iter().any(|mark| value.starts_with(mark)) && value.len() >= MIN_MARKED_SECRET_BYTES;
    let carried = value.split_once("Bearer ").is_some_and(|(_, token)| is_literal(token));
    (marked && !value.contains(char::is_whitespace)) || carried
}

/// Returns whether a value is literal: not a placeholder of another program and not a file path.
fn is_literal(value: &str) -> bool {
    let is_path = ["/", "~/", "./", "../"].iter().any(|start| value.starts_with(start));
    !value.is_empty() && !value.contains("${") && !is_path
}

/// Returns the part of a URL that holds a secret.
pub(super) fn find_in_url(address: &str) -> Option<String> {
    let (_, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if let Some((user, _)) = authority.rsplit_once('@')
        && user.split_once(':').is_some_and(|(_, password)| is_literal(password))
    {
        return Some("a password before the @".to_owned());
    }
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    let query = query.split('#').next().unwrap_or_default();
    query.split('&').filter_map(|part| part.split_once('=')).find_map(|(name, value)| {
        let is_secret = is_literal(value) && (is_secret_name(name) || looks_secret(value));
        is_secret.then(|| format!("{name:.64} in its query"))
    })
}

/// Returns the argument that holds a secret, without the secret.
pub(super) fn find_in_arguments(arguments: &[String]) -> Option<String> {
    for (place, argument) in arguments.iter().enumerate() {
        let number = place + 1;
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (argument.as_str(), None),
        };
        let is_option = name.starts_with('-');
        let before = place.checked_sub(1).and_then(|before| arguments.get(before)).map(String::as_str);
        let sets_variable = matches!(before, Some("-e" | "--env"));
        if let Some(value) = value
            && (is_option || sets_variable)
            && is_literal(value)
            && (is_secret_name(name) || looks_secret(value))
        {
            return Some(format!("{name:.64} (argument {number})"));
        }
        let next = arguments.get(place + 1).filter(|next| !next.starts_with('-'));
        if is_option && value.is_none() && is_secret_name(name) && next.is_some_and(|next| is_literal(next)) {
            return Some(format!("{name:.64} (argument {number})"));
        }
        if let Some(part) = find_in_url(argument).or_else(|| value.and_then(find_in_url)) {
            return Some(format!("a URL with {part} (argument {number})"));
        }
        if looks_secret(argument) {
            return Some(format!("argument {number}"));
        }
    }
    None
}

/// Extracts the values of secret variables from `docker run -e NAME=VALUE`. With only the name, the Docker client
/// passes the value from its own environment.
pub(super) fn extract_container_secrets(arguments: &mut [String]) -> Vec<(String, String)> {
    let mut taken = Vec::new();
    let mut follows = false;
    for argument in arguments {
        let (option, setting) = match argument.strip_prefix("--env=") {
            Some(setting) => ("--env=", Some(setting.to_owned())),
            None => ("", follows.then(|| argument.clone())),
        };
        follows = matches!(argument.as_str(), "-e" | "--env");
        let Some((name, value)) = setting.as_deref().and_then(|setting| setting.split_once('=')) else {
            continue;
        };
        if is_literal(value) && (is_secret_name(name) || looks_secret(value)) {
            taken.push((name.to_owned(), value.to_owned()));
            *argument = format!("{option}{name}");
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn names_are_secret_by_their_last_word() {
        for name in ["API_KEY", "--api-key", "apiKey", "GITHUB_PAT", "--token", "x-auth", "DB_PASSWORD"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["--token-limit", "--key-file", "AUTHOR", "--monkey", "KEYBOARD", "--path", "-e", ""] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn secrets_in_arguments_are_found_and_not_repeated() {
        for (texts, place) in [
            (vec!["--api-key", "hunter2"], "--api-key (argument 1)"),
            (vec!["--token=hunter2"], "--token (argument 1)"),
            (vec!["-v", "-e", "KEY=hunter2"], "KEY (argument 3)"),
            (vec!["sk-hunter2hunter2hunter2"], "argument 1"),
            (vec!["--header", "Authorization: Bearer hunter2"], "argument 2"),
            (vec!["https://example.org/mcp?api_key=hunter2"], "a URL with api_key in its query (argument 1)"),
            (vec!["postgres://me:hunter2@db/x"], "a URL with a password before the @ (argument 1)"),
        ] {
            let found = find_in_arguments(&arguments(&texts)).unwrap_or_else(|| panic!("{texts:?}"));
            assert_eq!(found, place);
        }
        for texts in [
            vec!["--api-key", "${input:key}"],
            vec!["--token", "--verbose"],
            vec!["--ssh-key", "~/.ssh/id"],
            vec!["--token-limit=100", "--author", "Ada", "sk-ip"],
            vec!["-e", "REGION=eu", "https://example.org/mcp?page=2"],
        ] {
            assert_eq!(find_in_arguments(&arguments(&texts)), None, "{texts:?}");
        }
    }

    #[test]
    fn a_container_takes_its_secrets_from_the_environment() {
        let mut texts =
            arguments(&["run", "-e", "TOKEN=hunter2", "--env=KEY=hunter3", "-e", "REGION=eu", "image"]);
        let taken = extract_container_secrets(&mut texts);
        assert_eq!(texts, ["run", "-e", "TOKEN", "--env=KEY", "-e", "REGION=eu", "image"]);
        let taken: Vec<(&str, &str)> =
            taken.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(taken, [("TOKEN", "hunter2"), ("KEY", "hunter3")]);
    }
}
