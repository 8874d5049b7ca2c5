//! The lifecycle of a preview session: its states with their data, and every transition between them.
//!
//! ```text
//!           start         hello      each component shown once         frame of the present page
//! Stopped ───────▶ Starting ─┬─▶ Probing ─────────────────────▶ Loading ─────────▶ Ready ◀──▶ Reloading
//!    ▲                │      └──────── no crash before ────────▶   │                 │            │
//!    │                └───────────────────┬────────────────────────┴─────────────────┴────────────┘
//!    │                                    │ the process ends, misses a deadline or violates the protocol
//!    │                                    ▼
//!    │                    quarantine the culprit, if one is found
//!    │                      │                           │
//!    │                      │ restart policy agrees     │ too many crashes, or the only component is in quarantine
//!    │                      ▼                           ▼
//!    │                 Restarting ── due ──▶ Starting   Failed ── a person restarts it, or the ──▶ Starting
//!    │                      │                           │         quarantined file changes
//!    └──────── stop ────────┴───────────────────────────┘   (also from every state with a process)
//! ```
//!
//! Example: a page with a card and a badge crashes its process while it loads. The session goes to `Restarting`, then
//! `Starting` and, because it crashed before, `Probing`: it shows the card alone, then the card and the badge. The process
//! ends during the second step, so the badge is the culprit: it enters quarantine, and the next process shows the page
//! without it, ending in `Ready`.

use crate::peer::PreviewPeer;
use shared_protocol::{
    preview_sessions::{PreviewFailure, PreviewSessionStatus},
    preview_wire::InstanceBox,
};
use std::time::{Duration, Instant};

/// From the hello to the first frame of the requested page, beyond the limit of each step.
const LOAD_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) enum SessionLifecycle {
    /// A process runs.
    Live(Box<LivePreview>),
    /// The process ended and the next one starts at `at`.
    Restarting {
        at: Instant,
        /// The process ended by a crash; one that could not be started did not crash.
        after_crash: bool,
        failure: PreviewFailure,
    },
    /// The process ended, and no other starts until a person restarts the session or a quarantined file changes.
    Failed(PreviewFailure),
    Stopped,
}

/// A running process and what it shows.
pub(crate) struct LivePreview {
    pub(crate) peer: PreviewPeer,
    phase: LoadPhase,
    /// The process before this one crashed, and this one was not ready yet.
    after_crash: bool,
    pub(crate) boxes: Vec<InstanceBox>,
    pub(crate) hovered: Option<String>,
    /// Generation and sequence number of the newest frame.
    pub(crate) frame: Option<(u32, u64)>,
    pub(crate) font_delivery: FontDelivery,
    /// The page that the process was sent is not the newest.
    pub(crate) is_stale: bool,
    pub(crate) next_picture_check: Instant,
}

enum LoadPhase {
    /// Waits for the hello.
    Starting(Option<ComponentProbe>),
    Probing {
        since: Instant,
        probe: ComponentProbe,
    },
    Loading {
        since: Instant,
    },
    Ready,
    Reloading {
        since: Instant,
    },
}

/// Shows the components of a page one after the other, to find the one that crashes the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ComponentProbe {
    order: Vec<String>,
    shown_count: usize,
}

impl ComponentProbe {
    /// `None` when there is nothing to show.
    pub(crate) fn new(order: Vec<String>) -> Option<Self> {
        (!order.is_empty()).then_some(Self { order, shown_count: 0 })
    }

    /// The components that are on the page in this step.
    pub(crate) fn visible_components(&self) -> &[String] {
        self.order.get(..=self.shown_count).unwrap_or(&self.order)
    }

    /// The component that this step adds.
    pub(crate) fn current(&self) -> Option<&String> {
        self.order.get(self.shown_count)
    }
}

/// The fonts that a process lacks. A screenshot waits until they are on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum FontDelivery {
    #[default]
    Complete,
    Searching,
    /// Sent; the pong with this number says that the process has them.
    Sent(u64),
    /// The next frame shows them.
    Received,
}

impl SessionLifecycle {
    pub(crate) fn state(&self) -> PreviewSessionStatus {
        match self {
            Self::Live(live) => match live.phase {
                LoadPhase::Starting(_) => PreviewSessionStatus::Creating,
                LoadPhase::Probing { .. } | LoadPhase::Loading { .. } => PreviewSessionStatus::Loading,
                LoadPhase::Ready => PreviewSessionStatus::Ready,
                LoadPhase::Reloading { .. } => PreviewSessionStatus::Reloading,
            },
            Self::Restarting { failure, .. } | Self::Failed(failure) => {
                PreviewSessionStatus::Failed(failure.clone())
            }
            Self::Stopped => PreviewSessionStatus::Stopped,
        }
    }

    /// Any state to `Starting`.
    pub(crate) fn start(
        &mut self,
        peer: PreviewPeer,
        probe: Option<ComponentProbe>,
        after_crash: bool,
        now: Instant,
    ) {
        *self = Self::Live(Box::new(LivePreview {
            peer,
            phase: LoadPhase::Starting(probe),
            after_crash,
            boxes: Vec::new(),
            hovered: None,
            frame: None,
            font_delivery: FontDelivery::default(),
            is_stale: true,
            next_picture_check: now,
        }));
    }

    /// Any state to `Restarting`, or to `Failed` without a time for the restart.
    pub(crate) fn fail(&mut self, failure: PreviewFailure, restart_at: Option<Instant>, after_crash: bool) {
        *self = match restart_at {
            Some(at) => Self::Restarting { at, after_crash, failure },
            None => Self::Failed(failure),
        };
    }

    /// Any state to `Stopped`. Ends the process, if one runs.
    pub(crate) fn stop(&mut self) {
        *self = Self::Stopped;
    }

    pub(crate) fn live_preview(&self) -> Option<&LivePreview> {
        if let Self::Live(live) = self { Some(live) } else { None }
    }

    pub(crate) fn live_mut(&mut self) -> Option<&mut LivePreview> {
        if let Self::Live(live) = self { Some(live) } else { None }
    }

    pub(crate) fn deadline(&self, now: Instant) -> Option<Instant> {
        match self {
            Self::Live(live) => {
                let loading = live.loading_since().map(|since| since + LOAD_TIMEOUT);
                loading.into_iter().chain([live.peer.deadline(now)]).min()
            }
            Self::Restarting { at, .. } => Some(*at),
            Self::Failed(_) | Self::Stopped => None,
        }
    }
}

impl LivePreview {
    /// `Starting` to `Probing` or `Loading`: the process is in its sandbox and said hello.
    pub(crate) fn record_hello(&mut self, now: Instant) {
        if let LoadPhase::Starting(probe) = &mut self.phase {
            self.phase = match probe.take() {
                Some(probe) => LoadPhase::Probing { since: now, probe },
                None => LoadPhase::Loading { since: now },
            };
        }
    }

    /// Next step of `Probing`, or `Probing` to `Loading` after the last one. Returns true for the latter.
    pub(crate) fn advance_probe(&mut self) -> bool {
        let LoadPhase::Probing { since, probe } = &mut self.phase else { return false };
        probe.shown_count += 1;
        self.is_stale = true;
        let is_last = probe.shown_count >= probe.order.len();
        if is_last {
            self.phase = LoadPhase::Loading { since: *since };
        }
        is_last
    }

    /// `Loading` or `Reloading` to `Ready`: a frame shows the present page.
    pub(crate) fn page_shown(&mut self) {
        if matches!(self.phase, LoadPhase::Loading { .. } | LoadPhase::Reloading { .. }) {
            self.phase = LoadPhase::Ready;
            self.after_crash = false;
        }
    }

    /// `Ready` to `Reloading`: files or the page changed.
    pub(crate) fn reload(&mut self, now: Instant) {
        if matches!(self.phase, LoadPhase::Ready) {
            self.phase = LoadPhase::Reloading { since: now };
        }
    }

    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.phase, LoadPhase::Ready)
    }

    pub(crate) fn is_loading_too_long(&self, now: Instant) -> bool {
        self.loading_since().is_some_and(|since| now.saturating_duration_since(since) > LOAD_TIMEOUT)
    }

    fn loading_since(&self) -> Option<Instant> {
        match self.phase {
            LoadPhase::Probing { since, .. }
            | LoadPhase::Loading { since }
            | LoadPhase::Reloading { since } => Some(since),
            LoadPhase::Starting(_) | LoadPhase::Ready => None,
        }
    }

    pub(crate) fn is_after_crash(&self) -> bool {
        self.after_crash
    }

    pub(crate) fn probe(&self) -> Option<&ComponentProbe> {
        if let LoadPhase::Probing { probe, .. } = &self.phase { Some(probe) } else { None }
    }

    pub(crate) fn shows_instance(&self, id: &str) -> bool {
        self.boxes.iter().any(|found| found.id == id)
    }
}
