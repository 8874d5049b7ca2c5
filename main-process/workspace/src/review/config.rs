//! Guarded settings of `draftboard.toml`: those that decide what is run, and where data is kept or sent. A setting counts as
//! guarded unless it is known to be harmless.

use std::collections::BTreeSet;
use toml::{Table, Value};

/// Harmless fields at the top level: names, looks, and paths within the workspace.
const HARMLESS: [&str; 5] = ["name", "description", "modules", "bundles", "types"];
/// Harmless fields of `[infrastructure]` and of its boards: values that only end up in generated files.
const HARMLESS_INFRASTRUCTURE: [&str; 5] = ["tags", "naming", "values", "required-version", "currency"];

/// The guarded settings that differ, such as `infrastructure.backend`. No standing approval covers a change of one.
pub fn guarded_settings(before: &str, after: &str) -> Vec<String> {
    let (Ok(before), Ok(after)) = (before.parse::<Table>(), after.parse::<Table>()) else {
        return vec!["a file that cannot be read".to_owned()];
    };
    let mut found = Vec::new();
    for key in differing_keys(&before, &after) {
        if key == "infrastructure" {
            of_infrastructure(key, (before.get(key), after.get(key)), &mut found);
        } else if !HARMLESS.contains(&key) {
            found.push(key.to_owned());
        }
    }
    found
}

/// Whether a setting names the program to run. It is ignored, because a workspace does not choose the program.
pub fn names_program(setting: &str) -> bool {
    setting.rsplit('.').next() == Some("program")
}

fn of_infrastructure(path: &str, (before, after): (Option<&Value>, Option<&Value>), found: &mut Vec<String>) {
    let none = Table::new();
    let table = |value: Option<&Value>| match value {
        None => Some(none.clone()),
        Some(value) => value.as_table().cloned(),
    };
    let (Some(before), Some(after)) = (table(before), table(after)) else {
        return found.push(path.to_owned());
    };
    for key in differing_keys(&before, &after) {
        let both = (before.get(key), after.get(key));
        match (key, both.0.or(both.1)) {
            ("boards", Some(Value::Table(_))) => {
                let of = |value: Option<&Value>| value.and_then(Value::as_table).cloned().unwrap_or_default();
                let (before, after) = (of(both.0), of(both.1));
                for board in differing_keys(&before, &after) {
                    let path = format!("{path}.boards.{board}");
                    of_infrastructure(&path, (before.get(board), after.get(board)), found);
                }
            }
            (key, _) if HARMLESS_INFRASTRUCTURE.contains(&key) => {}
            (key, _) => found.push(format!("{path}.{key}")),
        }
    }
}

fn differing_keys<'a>(before: &'a Table, after: &'a Table) -> BTreeSet<&'a str> {
    let keys = before.keys().chain(after.keys()).map(String::as_str);
    keys.filter(|key| before.get(*key) != after.get(*key)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_what_is_run_is_named_and_the_rest_is_plain() {
        let before = "name = 'x'\n[infrastructure]\ntags = { a = '1' }\nprogram = 'terraform'\n";
        let check = |after: &str, expected: &[&str]| assert_eq!(guarded_settings(before, after), expected);
        check(before, &[]);
        check(&before.replace("'x'", "'y'"), &[]);
        check(&before.replace("'1'", "'2'"), &[]);
        check(&before.replace("'terraform'", "'/tmp/x'"), &["infrastructure.program"]);
        check("name = 'x'\n", &["infrastructure.program"]);
        let more = format!(
            "{before}backend = {{ type = 's3' }}\nproviders = {{ aws = {{}} }}\n[infrastructure.boards.main]\nprogram = 'x'\ncurrency = 'EUR'\n[else]\n"
        );
        check(
            &more,
            &[
                "else",
                "infrastructure.backend",
                "infrastructure.boards.main.program",
                "infrastructure.providers",
            ],
        );
        check("name = 'x'\ninfrastructure = 3\n", &["infrastructure"]);
        check("= what", &["a file that cannot be read"]);
        assert!(
            names_program("infrastructure.boards.main.program") && !names_program("infrastructure.backend")
        );
    }
}
