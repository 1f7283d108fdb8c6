//! All that describes a child before it exists: its shell, its environment, the plan.

mod child;
#[cfg(feature = "addon")]
mod environment;
#[cfg(feature = "addon")]
mod glob;
#[cfg(feature = "addon")]
mod host;
#[cfg(feature = "addon")]
mod locale;
#[cfg(feature = "addon")]
mod remembered;
#[cfg(feature = "addon")]
mod secrets;
#[cfg(feature = "addon")]
mod shell;
#[cfg(feature = "addon")]
mod unattended;
#[cfg(feature = "addon")]
mod wanted;

pub use child::{Lifetime, Plan, Stdin};
#[cfg(feature = "addon")]
pub use environment::{Environment, EnvironmentError, Inherit};
#[cfg(feature = "addon")]
pub use remembered::environment;
#[cfg(feature = "addon")]
pub use shell::{ShellNotFound, find, forget};
#[cfg(feature = "addon")]
pub use wanted::{note, wanted};
