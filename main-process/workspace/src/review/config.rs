//! Which changes of the project's file decide what is run and where it keeps or sends things. What is not known to be plain
//! counts as one of them.

use std::collections::BTreeSet;
use toml::{Table, Value};

/// Fields at the top that say how things are called, drawn and found within the workspace.
const PLAIN: [&str; 5] = ["name", "description", "modules", "bundles", "types"];
/// The same of `[infrastructure]` and of its boards: words and figures that end up in files.
const PLAIN_OF_INFRASTRUCTURE: [&str; 5] = ["tags", "naming", "values", "required-version", "currency"];

/// The settings that differ and are not plain, such as `infrastructure.backend`. No standing approval covers a change of
/// one.
pub fn guarded_settings(before: &str, after: &str) -> Vec<String> {
    let (Ok(before), Ok(after)) = (before.parse::<Table>(), after.parse::<Table>()) else {
        return vec!["a file that cannot be read".to_owned()];
    };
    let mut found = Vec::new();
    for key in differing(&before, &after) {
        if key == "infrastructure" {
            of_infrastructure(key, (before.get(key), after.get(key)), &mut found);
        } else if !PLAIN.contains(&key) {
            found.push(key.to_owned());
        }
    }
    found
}

/// A workspace does not choose the program that runs; what it says about that is ignored.
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
    for key in differing(&before, &after) {
        let both = (before.get(key), after.get(key));
        match (key, both.0.or(both.1)) {
            ("boards", Some(Value::Table(_))) => {
                let of = |value: Option<&Value>| value.and_then(Value::as_table).cloned().unwrap_or_default();
                let (before, after) = (of(both.0), of(both.1));
                for board in differing(&before, &after) {
                    let path = format!("{path}.boards.{board}");
                    of_infrastructure(&path, (before.get(board), after.get(board)), found);
                }
            }
            (key, _) if PLAIN_OF_INFRASTRUCTURE.contains(&key) => {}
            (key, _) => found.push(format!("{path}.{key}")),
        }
    }
}

fn differing<'a>(before: &'a Table, after: &'a Table) -> BTreeSet<&'a str> {
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
