//! What a command runs in its turn: `sudo rm`, `bash -c '…'`, `xargs rm`, `python -c '…'`.

mod inner;

pub use inner::{Custom, Inner, WrapperKind};
