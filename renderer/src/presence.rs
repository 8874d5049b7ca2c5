//! Where the designer is, told to main a moment after it changed, so that a killed window comes back there.

use std::time::Duration;

/// Long enough for a drag of the view to be told once, short enough to be true after a crash.
const DELAY: f64 = 0.15;

/// When presence is due to be told.
#[derive(Debug, Default)]
pub(crate) struct Debounce {
    due: Option<f64>,
}

impl Debounce {
    /// Something changed at `now` (seconds); the telling is put off no further than the first change wants.
    pub(crate) fn changed(&mut self, now: f64, context: &egui::Context) {
        if self.due.is_none() {
            self.due = Some(now + DELAY);
            context.request_repaint_after(Duration::from_secs_f64(DELAY));
        }
    }

    /// Whether it is time; if it is, the next change starts anew.
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
