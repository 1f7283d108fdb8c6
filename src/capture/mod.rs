//! From the bytes of a stream to the text that is kept of it: decode, sanitize, bound, cut, and write out what does not
//! fit. Synchronous, without tokio or napi, since helper processes use it too.

mod captured;
mod cells;
mod collect;
mod decode;
mod escape;
mod line;
mod notice;
mod policy;
mod sanitize;
mod scan;
mod spill;
mod spill_dir;
mod truncate;
mod window;
mod writer;

#[cfg(test)]
mod tests;

pub use captured::{Captured, Keep, Truncation};
pub use collect::{Capture, SNAPSHOT};
pub use policy::{HARD_KEEP, Limits, Progress, Sanitize, Stream, Truncate};
pub use sanitize::{Cleaner, Sink};
pub use spill::{SpillError, SpillFile};
pub use spill_dir::{SpillDir, open_private, private_parent, sweep};
pub use truncate::By;
