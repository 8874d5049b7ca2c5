//! `draftboard report`: the text for a problem report.

use super::format;
use crash_reports as crash;
use std::process::ExitCode;

/// As *Help → Report a problem…* shows it.
pub(super) fn run(json: bool) -> ExitCode {
    let text = crash::problem_report();
    let folder = crash::folder();
    if json {
        let data = serde_json::json!({ "report": text, "folder": folder });
        format::print_json(&serde_json::json!({ "ok": true, "data": data }));
    } else {
        format::print_visible(&text);
        format::print(&format!(
            "\nAll reports: {}\nNothing was sent. Read the report, then paste it into a new issue on the project's issue tracker.",
            folder.display()
        ));
    }
    ExitCode::SUCCESS
}
