//! What a person may do with a run, and how the order reaches it.

use std::sync::Arc;

use super::tap::Tap;

/// An order for a running command.
#[derive(Debug)]
pub enum Order {
    /// End the whole tree.
    Stop,
    /// Give these bytes to its standard input.
    Input(Vec<u8>),
    /// Pass its output to this tap, beginning with what is still held.
    Follow(Arc<Tap>),
    /// Tell the last line, and whether it waits for a person.
    Look,
}

/// The way of orders to a running command.
pub trait Orders: Send + Sync {
    /// Sends an order. One that comes after the end of the command is dropped.
    fn send(&self, order: Order);
}

/// Why a run takes no input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// Nothing reads it.
    #[error("this run reads no input from a person")]
    None,
    /// Too much of it was not read.
    #[error("the run has not read its last input; try again later")]
    Full,
    /// The run has ended.
    #[error("this run has ended")]
    Gone,
}
