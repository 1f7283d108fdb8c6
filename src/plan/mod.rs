//! All that describes a child before it exists: its shell, its environment, the plan.

mod child;
mod environment;
mod glob;
mod host;
mod limits;
mod locale;
mod remembered;
mod secrets;
mod shell;
mod startup;
mod unattended;
mod waiting;
mod wanted;

pub use child::{MARK, Plan, Stdin, next_mark};
pub use environment::{Environment, EnvironmentError, Inherit, resolve};
pub use limits::{Limits, RawLimits, amount};
pub use remembered::environment;
pub use secrets::{is_secret, shaped_so};
pub use shell::{ShellNotFound, find, forget};
pub use startup::{Boot, Startup, boot_script, prologue, quoted, waiting_script};
pub use waiting::{Kind, ROOM, can_wait, fits, shows_its_start};
pub use wanted::{note, wanted};
