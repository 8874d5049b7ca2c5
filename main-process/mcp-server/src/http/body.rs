//! Response bodies: an answer in pieces or an event stream, with placeholders replaced on the way out.

use super::{ProtocolBody, permits::RequestPermit};
use crate::splice::PreEncodedAnswers;
use bytes::Bytes;
use http::{Response, header::CONTENT_TYPE};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

pub(super) struct SplicedBody {
    ready: VecDeque<Bytes>,
    stream: Option<(ProtocolBody, Arc<PreEncodedAnswers>)>,
    /// Released when the body is sent or dropped.
    _permit: Option<RequestPermit>,
}

impl SplicedBody {
    pub(super) fn from_pieces(pieces: Vec<Bytes>) -> Self {
        let ready = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        Self { ready, stream: None, _permit: None }
    }

    pub(super) async fn respond(
        response: Response<ProtocolBody>,
        splices: Arc<PreEncodedAnswers>,
        permit: Option<RequestPermit>,
    ) -> Response<Self> {
        let (parts, body) = response.into_parts();
        let is_stream = parts
            .headers
            .get(CONTENT_TYPE)
            .is_some_and(|mime| mime.as_bytes().starts_with(b"text/event-stream"));
        let body = if is_stream {
            Self { ready: VecDeque::new(), stream: Some((body, splices)), _permit: permit }
        } else {
            let Ok(collected) = body.collect().await;
            Self { _permit: permit, ..Self::from_pieces(splices.fill(collected.to_bytes())) }
        };
        Response::from_parts(parts, body)
    }
}

impl Body for SplicedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        loop {
            if let Some(piece) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(Frame::data(piece))));
            }
            let Some((stream, splices)) = &mut this.stream else { return Poll::Ready(None) };
            match Pin::new(stream).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    // The protocol library writes each event as one frame.
                    Ok(data) => {
                        let pieces = splices.fill(data);
                        this.ready.extend(pieces.into_iter().filter(|piece| !piece.is_empty()));
                    }
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                Poll::Ready(None) => {
                    this.stream = None;
                    this._permit = None;
                }
                Poll::Ready(Some(Err(never))) => match never {},
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.ready.is_empty() && self.stream.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.stream {
            None => SizeHint::with_exact(self.ready.iter().map(|piece| piece.len() as u64).sum()),
            Some(_) => SizeHint::default(),
        }
    }
}
