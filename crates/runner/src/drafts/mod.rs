//! Drafts, for callers: opened in this process, used by commands, looked at, committed and removed.
//!
//! | step | where |
//! |---|---|
//! | opening, and commands | `open_draft.rs` |
//! | secrets and the ssh agent | `draft_credentials.rs` |
//! | all that is asked of a draft | `draft_calls.rs` |
//! | ports | `draft_ports.rs` |
//! | errors | `draft_fault.rs` |

mod draft_calls;
mod draft_credentials;
mod draft_entry;
mod draft_fault;
mod draft_ports;
mod open_draft;

pub use draft_calls::{
    CommittedDraft, DraftChanges, DraftDescription, DraftSide, OpenDraftOptions, changes, commit, diff, discard, fork,
    list, open, port, read,
};
pub use draft_credentials::DraftCredentials;
pub use draft_fault::{DraftFault, DraftReason};
pub use open_draft::{BeforeInDraft, DraftName, DraftUse};
