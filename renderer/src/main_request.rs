//! A request to main together with the message that its response becomes. The request names the type of the response, so no
//! response can be taken for that of another request.

use shared_protocol::{
    Refusal,
    decisions::WindowRequest,
    framing::{FramingError, decode},
    request::Request,
};
use std::{fmt, rc::Rc};

/// A response as main sends it.
pub(crate) type EncodedResponse = Result<Vec<u8>, Refusal>;

/// Decodes a response and turns it into the message of its sender, if there is one.
pub(crate) type ResponseHandler<M> = Rc<dyn Fn(EncodedResponse) -> Result<Option<M>, FramingError>>;

pub(crate) struct MainRequest<M> {
    pub(crate) request: Box<WindowRequest>,
    pub(crate) handler: ResponseHandler<M>,
}

impl<M: 'static> MainRequest<M> {
    pub(crate) fn new<R: Request>(
        request: R,
        then: impl Fn(Result<R::Response, Refusal>) -> Option<M> + 'static,
    ) -> Self
    where
        WindowRequest: From<R::Frame>,
    {
        let handler = move |response: EncodedResponse| match response {
            Ok(bytes) => decode(&bytes).map(|response| then(Ok(response))),
            Err(refusal) => Ok(then(Err(refusal))),
        };
        Self { request: Box::new(R::Frame::from(request).into()), handler: Rc::new(handler) }
    }

    pub(crate) fn map<N: 'static>(self, convert: impl Fn(M) -> N + 'static) -> MainRequest<N> {
        let Self { request, handler } = self;
        MainRequest {
            request,
            handler: Rc::new(move |response| handler(response).map(|message| message.map(&convert))),
        }
    }
}

impl<M> Clone for MainRequest<M> {
    fn clone(&self) -> Self {
        Self { request: self.request.clone(), handler: Rc::clone(&self.handler) }
    }
}

impl<M> fmt::Debug for MainRequest<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.request.fmt(f)
    }
}
