//! A page before and after a proposal, drawn by previews that nobody else sees.

use super::aside::Laid;
use crate::preview;
use authority::Snapshot;
use crossbeam_channel::Receiver;
use shared_protocol::{
    Code, NodeId, Refusal,
    preview::Screen,
    previews::Pixels,
    request::Responder,
    review::{PageLook, PagePictures, ReviewAnswer},
};
use std::time::Duration;

/// How long a reviewer waits for a page to be drawn; a preview gives up before that.
const PAGE_LIMIT: Duration = Duration::from_secs(25);
/// Pixels of one picture: enough to see a difference, and little enough to send.
const MOST_PIXELS: usize = 1_600 * 1_000;

enum Drawing {
    Absent,
    Failed(Refusal),
    Waits(Receiver<Result<Pixels, Refusal>>),
}

impl Laid {
    pub(super) fn page_pictures(
        &self,
        previews: &preview::Link,
        page: NodeId,
        screen: Screen,
    ) -> Result<ReviewAnswer, Refusal> {
        let [width, height] = screen.pixels();
        if !screen.is_valid() || width * height > MOST_PIXELS {
            return Err(Refusal::new(Code::BadRequest, "there is no picture of this size").field("screen"));
        }
        // Both at a time.
        let now = draw(previews, &self.before, page, screen);
        let proposed = draw(previews, &self.overlay.state, page, screen);
        Ok(ReviewAnswer::PagePictures(Box::new(PagePictures {
            proposal: self.proposal.id,
            hash: self.hash,
            page,
            now: now.look(),
            proposed: proposed.look(),
        })))
    }
}

fn draw(previews: &preview::Link, state: &Snapshot, page: NodeId, screen: Screen) -> Drawing {
    let Some(ground) = previews.ground().map(|ground| ground.with(state.clone())) else {
        return Drawing::Failed(Refusal::new(Code::NoWorkspace, "no workspace is open"));
    };
    if ground.page(page).is_none() {
        return Drawing::Absent;
    }
    let (done, answered) = crossbeam_channel::bounded(1);
    previews.picture(ground, page, screen, Responder::new(move |result| drop(done.send(result))));
    Drawing::Waits(answered)
}

impl Drawing {
    fn look(self) -> PageLook {
        let drawn = match self {
            Self::Absent => return PageLook::Absent,
            Self::Failed(refusal) => Err(refusal),
            Self::Waits(answered) => answered
                .recv_timeout(PAGE_LIMIT)
                .unwrap_or_else(|_| Err(Refusal::new(Code::Timeout, "the page was not drawn in time"))),
        };
        match drawn {
            Ok(pixels) => PageLook::Drawn(pixels),
            Err(refusal) => PageLook::Failed(refusal.message),
        }
    }
}
