//! Generates `docs/SHORTCUTS.md` from the command table. A test compares them; `UPDATE_DOCS=1` rewrites the file.

use super::{COMMANDS, CommandId, CommandMenu};
use std::{fmt::Write as _, path::Path};

/// `AlignLeft` is written `align-left`, `Nudge(Left, Ten)` is `nudge-left-ten`.
fn describe_shortcut(id: CommandId) -> String {
    let mut text = String::new();
    for sign in format!("{id:?}").chars() {
        match sign {
            '(' | ',' => text.push('-'),
            ')' | ' ' => {}
            sign if sign.is_uppercase() => {
                if !text.is_empty() && !text.ends_with('-') {
                    text.push('-');
                }
                text.extend(sign.to_lowercase());
            }
            sign => text.push(sign),
        }
    }
    text
}

fn page() -> String {
    let mut page = String::from(
        "# Commands and shortcuts\n\n\
         Generated from the command table (`renderer/src/commands/table.rs`), which menus, shortcuts, the command \
         palette (Ctrl+K) and the\nshortcut sheet (`?`) share. `UPDATE_DOCS=1 cargo test -p renderer` regenerates \
         this page.\n",
    );
    for menu in CommandMenu::SHOWN.into_iter().chain([CommandMenu::None]) {
        let _ = write!(page, "\n## {}\n\n| Command | Label | Keys |\n|---|---|---|\n", menu.title());
        for def in COMMANDS.iter().filter(|def| def.menu == menu) {
            let keys: Vec<String> = def.keys.iter().map(|keys| format!("`{}`", keys.text())).collect();
            let _ =
                writeln!(page, "| `{}` | {} | {} |", describe_shortcut(def.id), def.text, keys.join(" or "));
        }
    }
    page
}

#[test]
fn the_page_of_shortcuts_is_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/SHORTCUTS.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(stored, page(), "docs/SHORTCUTS.md is out of date; run the test with UPDATE_DOCS=1");
}

#[test]
fn ids_are_written_as_words() {
    use super::{NudgeDirection, NudgeDistance};
    assert_eq!(describe_shortcut(CommandId::AlignLeft), "align-left");
    assert_eq!(describe_shortcut(CommandId::Nudge(NudgeDirection::Up, NudgeDistance::Ten)), "nudge-up-ten");
}
