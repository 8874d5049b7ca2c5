//! Debounces presence updates to main. Presence lets a restarted window return to the same board and viewport.

use std::time::Duration;

/// The debounce delay in seconds: one update for a drag of the view, and recent enough after a crash.
const PRESENCE_DELAY_SECONDS: f64 = 0.15;

/// The time at which the next presence update is due.
#[derive(Debug, Default)]
pub(crate) struct PresenceDebounce {
    due: Option<f64>,
}

impl PresenceDebounce {
    /// Records a change at `now` (seconds). Further changes do not postpone an update that is already scheduled.
    pub(crate) fn schedule(&mut self, now: f64, context: &egui::Context) {
        if self.due.is_none() {
            self.due = Some(now + PRESENCE_DELAY_SECONDS);
            context.request_repaint_after(Duration::from_secs_f64(PRESENCE_DELAY_SECONDS));
        }
    }

    /// Returns whether the update is due, and clears it in that case.
    pub(crate) fn is_due(&mut self, now: f64, context: &egui::Context) -> bool {
        match self.due {
            Some(due) if now >= due => {
                self.due = None;
                true
            }
            Some(due) => {
                context.request_repaint_after(Duration::from_secs_f64(due - now));
                false
            }
            None => false,
        }
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.due.is_some()
    }
}
