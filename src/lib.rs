//! The addon: the crates of `crates/` as JavaScript sees them. Values come in, are checked, and become calls of
//! [`runner`]; events and results go out.
//!
//! Runs in the host. `bridge.rs` is the way from JavaScript to a command, `native_event.rs` the way back.

mod access;
mod any_task_registry;
mod bridge;
mod checks;
mod confinement;
mod counts;
mod draft;
mod event_emitter;
mod evidence;
mod facts;
mod folders;
mod highlight;
mod host;
mod ledger;
mod ledger_calls;
mod native_event;
mod offers;
mod owner;
mod pool;
mod prompt;
mod recall;
mod receipt;
mod redact;
mod reduce;
mod registry;
mod registry_options;
mod request;
mod result;
mod safety;
mod session;
mod shells;
mod signals;
mod target;
mod target_files;
mod target_run;
mod terminal;
mod text;
mod thread_calls;
mod undo;
mod undo_calls;

pub use access::{check_access, confinement_reach};
pub use bridge::Bridge;
pub use confinement::{ConfineMissing, Confinement, Denial, DenialGrant, GrantedNetwork};
pub use counts::read_tests;
pub use facts::facts;
pub use folders::{own_name, remove_at_end, remove_left, remove_no_more};
pub use highlight::highlight;
pub use host::{hosts_directory, page_answers};
pub use ledger::NativeLedgerBatch;
pub use ledger_calls::NativeLedger;
pub use native_event::NativeEvent;
pub use offers::{NativeOffers, has_unread_input, offers};
pub use owner::NativeOwner;
pub use pool::NativePool;
pub use prompt::BashPrompt;
pub use recall::{NativeRecall, read_recall, recalled};
pub use receipt::{Change, ChangeCounts, GitChange, Port, PortChanges, Receipt, Rename, UndoCoverage};
pub use redact::redact;
pub use reduce::{
    ElidedLines, NativeOutput, NativeRuleFile, NativeView, ViewTokens, WholeStreams, estimate_tokens, line_behind_view,
    read_rules, reduce_text,
};
pub use registry::{NativeRegistry, NativeWait};
pub use registry_options::NativeRegistryOptions;
pub use request::NativeRequest;
pub use result::{
    BackgroundTask, BashResult, BashSnapshot, BashTruncation, BashUsage, NativeAnswer, NativeCheck, NativeError,
    OutputChunk, Survivor, TerminalWaited, Truncation,
};
pub use safety::{analyze, command_outline, decide, safety_rules, undoable};
pub use session::NativeSession;
pub use shells::{WarmShells, warm_shells};
pub use signals::{NativeSignal, signal_of};
pub use target::{NativeForm, NativeProgram, NativeTarget, NativeTargetOptions, target_id};
pub use target_run::NativeSessionThere;
pub use terminal::{NativeTerminal, TerminalCursor, TerminalModes, TerminalScreen};
pub use text::{NativeCut, NativeLines, NativeText, NativeTextEnd, NativeWhereabouts, notice_of_cut};
pub use undo::{UndoConflict, UndoPoint, Undone};
pub use undo_calls::NativeUndoOptions;
