//! Pictures of a page before and after a proposal, drawn by previews of their own.

use super::overlay::ProposalComparison;
use authority::Snapshot;
use crossbeam_channel::Receiver;
use shared_protocol::{
    NodeId, Refusal, RefusalCode,
    preview_sessions::PreviewImage,
    preview_wire::PreviewScreen,
    request::Responder,
    review::{PageRendering, ProposedPagePictures},
};
use std::time::Duration;

/// A reviewer waits this long for a page; a preview gives up before that.
const PAGE_LIMIT: Duration = Duration::from_secs(25);
/// Enough to see a difference, and few enough to send.
const MAX_PICTURE_PIXELS: usize = 1_600 * 1_000;

enum PendingPagePicture {
    Absent,
    Failed(Refusal),
    Waits(Receiver<Result<PreviewImage, Refusal>>),
}

impl ProposalComparison {
    pub(crate) fn page_pictures(
        &self,
        previews: &preview_sessions::PreviewsHandle,
        page: NodeId,
        screen: PreviewScreen,
    ) -> Result<ProposedPagePictures, Refusal> {
        let [width, height] = screen.pixels();
        if !screen.is_valid() || width * height > MAX_PICTURE_PIXELS {
            return Err(
                Refusal::new(RefusalCode::BadRequest, "the image size is out of range").field("screen")
            );
        }
        // Both are drawn at the same time.
        let now = draw(previews, &self.before, page, screen);
        let proposed = draw(previews, &self.overlay.state, page, screen);
        Ok(ProposedPagePictures {
            proposal: self.proposal.id,
            hash: self.hash,
            page,
            now: now.render(),
            proposed: proposed.render(),
        })
    }
}

fn draw(
    previews: &preview_sessions::PreviewsHandle,
    state: &Snapshot,
    page: NodeId,
    screen: PreviewScreen,
) -> PendingPagePicture {
    let Some(ground) = previews.workspace().map(|ground| ground.with_snapshot(state.clone())) else {
        return PendingPagePicture::Failed(Refusal::new(RefusalCode::NoWorkspace, "no workspace is open"));
    };
    if ground.page(page).is_none() {
        return PendingPagePicture::Absent;
    }
    let (done, answered) = crossbeam_channel::bounded(1);
    previews.picture(ground, page, screen, Responder::new(move |result| drop(done.send(result))));
    PendingPagePicture::Waits(answered)
}

impl PendingPagePicture {
    fn render(self) -> PageRendering {
        let drawn = match self {
            Self::Absent => return PageRendering::Absent,
            Self::Failed(refusal) => Err(refusal),
            Self::Waits(answered) => answered.recv_timeout(PAGE_LIMIT).unwrap_or_else(|_| {
                Err(Refusal::new(RefusalCode::Timeout, "the page was not rendered in time"))
            }),
        };
        match drawn {
            Ok(pixels) => PageRendering::Drawn(pixels),
            Err(refusal) => PageRendering::Failed(refusal.message),
        }
    }
}
