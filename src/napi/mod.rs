//! What JavaScript sees of the core.

mod bridge;
mod events;
mod request;
mod result;

pub use bridge::Bridge;
pub use events::NativeEvent;
pub use request::{NativeOptions, NativeRequest, NativeSpill, NativeTruncate};
pub use result::{BashResult, BashSnapshot, BashTruncation, BashUsage, NativeError, OutputChunk, Survivor, Truncation};
