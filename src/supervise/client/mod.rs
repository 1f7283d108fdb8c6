//! The addon's side: its helper processes, and the commands that they run for it.

mod admission;
mod child;
mod helpers;
mod idle;
mod link;
mod ready;
mod start;

pub use admission::{Admission, Slot};
pub use child::{Child, News};
pub use helpers::{HelperError, Helpers};
pub use idle::Shells;
pub use link::{Link, LinkNews, Speaker, connect};
pub use start::{Begun, Order, Pipes, Started, Warm, warm_up};
