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

pub use child::{ChildPlan, MARK, StdinSource, WorldId, next_mark};
pub use environment::{CommandEnvironment, EnvironmentError, InheritMode, resolve};
pub use facts::facts;
pub use inherited::{InheritedDescriptor, closing};
pub use limits::{CommandLimits, LimitError, RawLimits, amount, number};
pub use record::{ChangeJournalLimits, ChangeJournalOutcome, ChangeJournalPlan, ChangeJournalPurpose};
pub use remembered::environment;
pub use secrets::{has_secret_shape, is_secret, is_secret_name};
pub use shapes::tokens;
pub use shell::{ShellNotFound, find, forget};
pub use startup::{ROOM, ShellBootCode, ShellStartup, boot_script, prologue, quoted, warm_script};
pub use wanted::{note, wanted};
pub use warm_shell::{WarmShellKind, can_be_warm, fits, shows_its_start};
