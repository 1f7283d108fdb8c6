//! What JavaScript sees of the core.

mod bridge;
mod calls;
mod events;
mod registry;
mod request;
mod result;
mod safety;
mod session;
mod shells;

pub use bridge::Bridge;
pub use events::{NativeEvent, NativeGrowth};
pub use registry::{NativeRegistry, NativeRegistryOptions, NativeWait};
pub use request::{NativeOptions, NativeRequest, NativeSpill, NativeTruncate};
pub use result::{
    BackgroundCheck, BackgroundTask, BashResult, BashSnapshot, BashTruncation, BashUsage, NativeError, OutputChunk,
    Survivor, Truncation,
};
pub use safety::{NativeSafety, analyze, decide, safety_rules};
pub use session::{NativeGiven, NativeSession};
pub use shells::{WarmShells, warm_shells};
