//! Cancels a running start. The start ends its own processes before it returns.

use tokio::sync::watch;

/// The side that cancels.
pub(crate) struct StartCanceller(watch::Sender<bool>);

/// The side that observes the cancellation.
#[derive(Clone)]
pub(crate) struct StartCancellation(watch::Receiver<bool>);

impl StartCanceller {
    pub(crate) fn new() -> (Self, StartCancellation) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), StartCancellation(receiver))
    }

    pub(crate) fn cancel(&self) {
        self.0.send_replace(true);
    }
}

impl StartCancellation {
    /// Completes when the start is cancelled, and immediately afterwards. Never completes when the sender is gone.
    pub(crate) async fn cancelled(&self) {
        if self.0.clone().wait_for(|wanted| *wanted).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
