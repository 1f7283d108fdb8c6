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
pub use environment::{CommandEnvironment, EnvironmentError, InheritMode, resolve_environment};
pub use facts::facts;
pub use inherited::{InheritedDescriptor, closing_code};
pub use limits::{CommandLimits, LimitError, RawLimits, format_bytes, number};
pub use record::{ChangeJournalLimits, ChangeJournalOutcome, ChangeJournalPlan, ChangeJournalPurpose};
pub use remembered::cached_environment;
pub use secrets::{has_secret_shape, is_secret, is_secret_name};
pub use shapes::find_tokens;
pub use shell::{ShellNotFound, find_shell, forget_shells};
pub use startup::{ROOM, ShellBootCode, ShellStartup, boot_script, prologue, shell_quoted, warm_script};
pub use wanted::{find_wanted_names, note_of_withheld};
pub use warm_shell::{WarmShellKind, can_be_warm, fits_warm_shell, shows_its_start};
