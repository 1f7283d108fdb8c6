//! The addon's side: its helper processes, and the commands that they run for it.

mod admission;
mod child;
mod drain;
mod helpers;
mod start;

pub use admission::{Admission, Slot};
pub use child::{Child, News};
pub use drain::Drain;
pub use helpers::{HelperError, Helpers};
pub use start::{Begun, Order, Pipes};
