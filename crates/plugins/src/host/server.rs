//! What the host does with the frames of a helper.

use super::answers::{Answer, Answers};
use super::error::PluginError;
use super::message::Told;
use super::wire::{Failure, Kind};

/// What is wanted after a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// More frames.
    Continue,
    /// That was the last one.
    Stop,
}

/// Takes the frames of a helper. What is the same for all plug-ins is done here, the rest by who speaks an interface.
pub trait Server<'a> {
    /// Answers what the plug-in asks.
    fn answers(&mut self) -> &mut Answers<'a>;

    /// Keeps what it delivers. `None` where the frame makes no sense, or comes at the wrong time.
    fn event(&mut self, kind: Kind, payload: &[u8]) -> Option<Result<(), PluginError>>;

    /// The error for a function that failed, by its number in the interface.
    fn failed(&self, failure: Failure, function: u32, code: i32, text: &[u8]) -> PluginError;

    /// All was told.
    fn done(&mut self) {}

    /// One frame; the payload of an answer, if it is a request, is appended to `answer`.
    ///
    /// # Errors
    /// Where it refuses to go on.
    fn frame(&mut self, kind: Kind, payload: &[u8], answer: &mut Answer) -> Result<Next, PluginError> {
        if self.answers().serve(kind, payload, answer)? {
            return Ok(Next::Continue);
        }
        match Told::read(kind, payload) {
            Some(Told::Failed { failure, function, code, text }) => {
                return Err(self.failed(failure, function, code, text));
            }
            Some(Told::Done {}) => {
                self.done();
                return Ok(Next::Stop);
            }
            _ => {}
        }
        let nonsense = "a message of the wrong length or at the wrong time";
        let served = self.event(kind, payload).unwrap_or_else(|| Err(self.answers().nonsense(nonsense)));
        served.map(|()| Next::Continue)
    }
}
