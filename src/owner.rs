//! Owners of worlds: tools, sessions and registries whose confined commands belong together.

use std::sync::atomic::{AtomicU32, Ordering};

use napi_derive::napi;

use runner::supervise::Helpers;

/// Number of the next owner in this process, over all threads. 0 is the host with its plain calls.
static NEXT: AtomicU32 = AtomicU32::new(1);

/// An owner of worlds. Its worlds end with it: at a call of `end`, when it is collected, or when its thread ends.
#[napi]
pub struct NativeOwner {
    number: u32,
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
        self.number
    }

    /// Ends the owner's worlds: the remaining processes in them are killed, and their temporary files are removed.
    /// Tasks that outlive the host keep their worlds. May be called again.
    #[napi]
    pub fn end(&self) {
        end(self.number.into());
    }
}

impl Default for NativeOwner {
    fn default() -> Self {
        Self { number: NEXT.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for NativeOwner {
    fn drop(&mut self) {
        self.end();
    }
}

fn end(owner: u64) {
    confine::forget(owner);
    if let Some(helpers) = Helpers::if_made() {
        helpers.end_worlds(owner);
    }
}
