//! What the kernel offers, for `agent-bash doctor`.

use napi_derive::napi;

use crate::sys;

/// What the kernel offers a process like ours; all of it is Linux's.
#[napi(object, object_from_js = false)]
pub struct NativeOffers {
    /// A process can be held so that a signal never hits another one.
    pub pidfd: bool,
    /// All descriptors can be closed at once.
    pub close_range: bool,
    /// The version of Landlock's interface; 0 where there is none.
    pub landlock: u32,
    /// A child can have a user namespace of its own.
    pub user_namespaces: bool,
}

/// Asks the kernel.
#[napi]
#[must_use]
pub fn offers() -> NativeOffers {
    let sys::Offers { pidfd, close_range, landlock, user_namespaces } = sys::offers();
    NativeOffers { pidfd, close_range, landlock, user_namespaces }
}
