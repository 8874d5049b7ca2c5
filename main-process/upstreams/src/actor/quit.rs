//! Cancels a running start. The start ends its own processes before it returns.

use tokio::sync::watch;

/// The side that cancels.
pub(crate) struct Quit(watch::Sender<bool>);

/// The side that observes the cancellation.
#[derive(Clone)]
pub(crate) struct Wanted(watch::Receiver<bool>);

impl Quit {
    pub(crate) fn new() -> (Self, Wanted) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Wanted(receiver))
    }

    pub(crate) fn now(&self) {
        self.0.send_replace(true);
    }
}

impl Wanted {
    /// Completes when the start is cancelled, and immediately afterwards. Never completes when the sender is gone.
    pub(crate) async fn wanted(&self) {
        if self.0.clone().wait_for(|wanted| *wanted).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
