//! Somebody wants a start to end before it is done. Whoever has started a process sees to it that it is gone first.

use tokio::sync::watch;

/// Held by the one who may want it.
pub(crate) struct Quit(watch::Sender<bool>);

/// Asked by those who do the work.
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
    /// Ready once it is wanted, and at once from then on; never when nobody can want it any more.
    pub(crate) async fn wanted(&self) {
        if self.0.clone().wait_for(|wanted| *wanted).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
