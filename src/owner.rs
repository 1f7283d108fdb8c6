//! Owners of worlds: tools, sessions and registries whose confined commands belong together.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use napi_derive::napi;

use super::request::NativeRequest;
use super::session::NativeSession;
use remote::client::RemoteTarget;
use runner::run::{WorldOwner, known_request, runtime};
use runner::session::first_request;
use runner::snapshot::SnapshotRequest;

/// The targets with worlds of owners, by the owners' numbers.
static TARGETS: Mutex<BTreeMap<u64, Vec<Weak<RemoteTarget>>>> = Mutex::new(BTreeMap::new());

/// Adds a target on which an owner has a world from now on.
pub fn add_target(owner: u64, target: &Arc<RemoteTarget>) {
    let mut targets = TARGETS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = targets.entry(owner).or_default();
    if !known.iter().any(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(target))) {
        known.retain(|known| known.strong_count() > 0);
        known.push(Arc::downgrade(target));
    }
}

/// Ends the worlds that an owner has on targets.
fn end_on_targets(owner: u64) {
    let known = TARGETS.lock().unwrap_or_else(PoisonError::into_inner).remove(&owner);
    for target in known.into_iter().flatten().filter_map(|target| target.upgrade()) {
        let Ok(runtime) = runtime() else { return };
        target.end_worlds(owner, runtime);
    }
}

/// An owner of worlds. Its worlds end with it, those on targets too: at a call of `end`, when it is collected, or when
/// its thread ends.
#[napi]
pub struct NativeOwner {
    owner: Arc<WorldOwner>,
}

#[napi]
impl NativeOwner {
    /// Makes a new owner, without worlds so far.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the owner's number, for the option `owner`.
    #[napi(getter)]
    pub fn number(&self) -> u32 {
        u32::try_from(self.owner.number()).unwrap_or(u32::MAX)
    }

    /// Begins the world of the owner's first command in the background. `request` is a command like it, of the session
    /// if there is one. What fails, the first command tries again.
    #[napi]
    pub fn begin(&self, request: NativeRequest, session: Option<&NativeSession>) {
        let Ok(raw) = request.read() else { return };
        let session = session.map(|session| Arc::clone(&session.session));
        self.owner.begin_world(move || match session {
            Some(session) => first_request(&session, raw),
            None => known_request::<SnapshotRequest>(raw),
        });
    }

    /// Ends the owner's worlds: the remaining processes in them are killed, and their temporary files are removed.
    /// Tasks that outlive the host keep their worlds. May be called again.
    #[napi]
    pub fn end(&self) {
        self.owner.end();
        end_on_targets(self.owner.number());
    }
}

impl Default for NativeOwner {
    fn default() -> Self {
        Self { owner: WorldOwner::new() }
    }
}

impl Drop for NativeOwner {
    fn drop(&mut self) {
        self.end();
    }
}
