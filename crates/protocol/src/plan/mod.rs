//! The description of a child before it exists: its shell, its environment, the plan.

pub mod bytes;
mod child;
mod environment;
mod facts;
mod glob;
mod host;
mod inherited;
mod limits;
mod locale;
mod record;
mod remembered;
mod secrets;
mod shapes;
mod shell;
mod startup;
mod unattended;
mod wanted;
mod warm_shell;

pub use child::{MARK, Plan, Stdin, WorldId, next_mark};
pub use environment::{Environment, EnvironmentError, Inherit, resolve};
pub use facts::facts;
pub use inherited::{Inherited, closing};
pub use limits::{LimitError, Limits, RawLimits, amount, number};
pub use record::{Record, RecordLimits, RecordPurpose, Recorded};
pub use remembered::environment;
pub use secrets::{has_secret_shape, is_secret, is_secret_name};
pub use shapes::tokens;
pub use shell::{ShellNotFound, find, forget};
pub use startup::{Boot, ROOM, Startup, boot_script, prologue, quoted, warm_script};
pub use wanted::{note, wanted};
pub use warm_shell::{ShellKind, can_be_warm, fits, shows_its_start};
