//! The shell state that a command begins with, unless it begins with a plain shell.

use std::future::Future;

use super::command_listener::CallerReplies;
use crate::error::RunError;
use crate::request::{PlannedRun, RawOptions};

/// A shell state that commands may begin with, and that may have to be read first: the snapshot of the user's shell.
pub trait ShellStateSource: Sized + Send + 'static {
    /// The state, after it was read.
    type State: Send;

    /// Returns the state that a command with these options begins with.
    ///
    /// # Errors
    /// If the options name a state that cannot be read.
    fn of(raw: &RawOptions) -> Result<StartingShellState<Self>, RunError>;

    /// Reads the state.
    fn read(self) -> impl Future<Output = Self::State> + Send;

    /// Lets the shell of a command begin with the state.
    fn apply(state: Self::State, request: &mut PlannedRun);
}

/// The state that a command begins with.
pub enum StartingShellState<B: ShellStateSource> {
    /// A plain shell.
    Plain,
    /// A state that is known.
    Known(B::State),
    /// A state that has to be read first.
    Unread(B),
}

impl<B: ShellStateSource> StartingShellState<B> {
    /// Returns the state, with `None` for a plain shell. An error is the base that has to be read first.
    ///
    /// # Errors
    /// The base, if it is not read yet.
    pub fn into_known(self) -> Result<Option<B::State>, B> {
        match self {
            Self::Plain => Ok(None),
            Self::Known(state) => Ok(Some(state)),
            Self::Unread(base) => Err(base),
        }
    }

    /// Reads the state if necessary. A command that is aborted meanwhile gets no state.
    pub async fn resolve(self, raw: &mut RawOptions, replies: &mut CallerReplies) -> Option<B::State> {
        match self.into_known() {
            Ok(state) => state,
            Err(base) => tokio::select! {
                biased;
                () = replies.aborted() => {
                    raw.aborted = true;
                    None
                }
                state = base.read() => Some(state),
            },
        }
    }
}

/// Returns the request of a command, once the state that it begins with is read.
///
/// # Errors
/// As [`PlannedRun::check`], and if the options name a state that cannot be read.
pub async fn request_of<B: ShellStateSource>(raw: RawOptions) -> Result<PlannedRun, RunError> {
    let state = match B::of(&raw)?.into_known() {
        Ok(state) => state,
        Err(base) => Some(base.read().await),
    };
    request_with_state::<B>(raw, state)
}

/// Returns the request of a command, as far as the state that it begins with is known. A state is not read, and no warm
/// shell can have it then.
///
/// # Errors
/// As [`request_of`].
pub fn known_request<B: ShellStateSource>(raw: RawOptions) -> Result<PlannedRun, RunError> {
    let state = B::of(&raw)?.into_known();
    let is_known = state.is_ok();
    let mut request = request_with_state::<B>(raw, state.ok().flatten())?;
    request.warm &= is_known;
    Ok(request)
}

/// Returns the request of a command that begins with this state.
///
/// # Errors
/// As [`PlannedRun::check`].
pub fn request_with_state<B: ShellStateSource>(
    raw: RawOptions,
    state: Option<B::State>,
) -> Result<PlannedRun, RunError> {
    let mut request = PlannedRun::check(raw)?;
    if let Some(state) = state {
        B::apply(state, &mut request);
    }
    Ok(request)
}
