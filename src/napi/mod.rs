//! What JavaScript sees of the core.

mod bridge;
mod calls;
mod events;
mod folders;
mod offers;
mod prompt;
mod registry;
mod request;
mod result;
mod safety;
mod session;
mod shells;
mod terminal;
mod text;

pub use bridge::Bridge;
pub use events::{NativeEvent, NativeGrowth};
pub use folders::{remove_at_end, remove_no_more};
pub use offers::{NativeOffers, offers};
pub use prompt::BashPrompt;
pub use registry::{NativeRegistry, NativeRegistryOptions, NativeWait};
pub use request::{NativeOptions, NativeRequest, NativeSpill, NativeTruncate};
pub use result::{
    BackgroundCheck, BackgroundTask, BashResult, BashSnapshot, BashTruncation, BashUsage, NativeError, OutputChunk,
    Survivor, Truncation,
};
pub use safety::{NativeSafety, analyze, decide, safety_rules};
pub use session::{NativeGiven, NativeSession};
pub use shells::{WarmShells, warm_shells};
pub use terminal::{NativeTerminal, TerminalCursor, TerminalModes, TerminalScreen, TerminalWaited};
pub use text::{NativeText, NativeTextEnd};
