//! Desktop notifications about requests that change real resources. Without a desktop, or without a notification service, the
//! log says so and nothing else happens.

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use std::{collections::HashMap, time::Duration};
use zbus::{
    blocking::{Connection, connection::Builder},
    zvariant::Value,
};

/// Notices that may wait for the desktop.
const MAX_WAITING_NOTICES: usize = 8;
const CALL_LIMIT: Duration = Duration::from_secs(10);
const MAX_NOTICE_CHARS: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DesktopNotification {
    pub(super) title: String,
    pub(super) body: String,
}

/// Starts a thread with the first notice, because a desktop may respond late.
#[derive(Default)]
pub(super) struct DesktopNotifier {
    to: Option<Sender<DesktopNotification>>,
}

impl DesktopNotifier {
    pub(super) fn notify(&mut self, notice: DesktopNotification) {
        tracing::info!(title = notice.title, "the user is notified");
        let to = self.to.get_or_insert_with(|| {
            let (to, waiting) = bounded(MAX_WAITING_NOTICES);
            let spawned =
                std::thread::Builder::new().name("notify".to_owned()).spawn(move || show_all(&waiting));
            if let Err(error) = spawned {
                tracing::warn!(%error, "the thread for notifications did not start");
            }
            to
        });
        match to.try_send(notice) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => tracing::info!("the desktop is slow; a notification was dropped"),
            Err(TrySendError::Disconnected(_)) => tracing::debug!("there is no notification service"),
        }
    }
}

fn show_all(waiting: &Receiver<DesktopNotification>) {
    let mut open = None;
    for notice in waiting {
        let shown = match open.take() {
            Some(connection) => Ok(connection),
            None => connect(),
        }
        .and_then(|connection: Connection| {
            show(&connection, &notice)?;
            Ok(connection)
        });
        match shown {
            Ok(connection) => open = Some(connection),
            Err(error) => tracing::info!(%error, "the desktop did not show a notification"),
        }
    }
}

fn connect() -> zbus::Result<Connection> {
    Builder::session()?.method_timeout(CALL_LIMIT).build()
}

fn show(connection: &Connection, notice: &DesktopNotification) -> zbus::Result<()> {
    let hints: HashMap<&str, Value<'_>> =
        HashMap::from([("urgency", Value::U8(2)), ("desktop-entry", Value::from("draftboard"))]);
    let nothing: [&str; 0] = [];
    let (title, body) = (plain(&notice.title), plain(&notice.body));
    connection.call_method(
        Some("org.freedesktop.Notifications"),
        "/org/freedesktop/Notifications",
        Some("org.freedesktop.Notifications"),
        "Notify",
        &("Draftboard", 0_u32, "", title.as_str(), body.as_str(), &nothing[..], hints, -1_i32),
    )?;
    Ok(())
}

/// Escapes the markup that desktops read: the name of an agent must not add any.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for c in mcp_server::escape_hidden(text).chars().take(MAX_NOTICE_CHARS) {
        match c {
            '&' => plain.push_str("&amp;"),
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            c if c.is_control() => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn what_an_agent_calls_itself_is_text() {
        assert_eq!(plain("<b>a</b> & b"), "&lt;b&gt;a&lt;/b&gt; &amp; b");
        assert!(plain("\u{202e}x").chars().all(|c| c != '\u{202e}'));
        assert!(plain(&"x".repeat(1_000)).len() <= 200);
    }
}
