//! The description of a child before it exists: its shell, its environment, the plan.

pub mod bytes;
mod change_journal_plan;
mod child_plan;
mod command_environment;
mod command_limits;
mod facts;
mod host_variables;
mod inherited_descriptor;
mod last_environment;
mod locale;
mod name_pattern;
mod secret_variables;
mod shell_search;
mod shell_startup;
mod token_shapes;
mod unattended_defaults;
mod warm_shell_kind;
mod withheld_names;

pub use change_journal_plan::{ChangeJournalLimits, ChangeJournalOutcome, ChangeJournalPlan, ChangeJournalPurpose};
pub use child_plan::{ChildPlan, MARK, StdinSource, WorldId, next_mark};
pub use command_environment::{CommandEnvironment, EnvironmentError, InheritMode, resolve_environment};
pub use command_limits::{CommandLimits, format_bytes};
pub use facts::facts;
pub use inherited_descriptor::{InheritedDescriptor, closing_code};
pub use last_environment::cached_environment;
pub use secret_variables::{has_secret_shape, is_secret, is_secret_name};
pub use shell_search::{ShellNotFound, find_shell, forget_shells};
pub use shell_startup::{ROOM, ShellBootCode, ShellStartup, boot_script, prologue, shell_quoted, warm_script};
pub use token_shapes::find_tokens;
pub use warm_shell_kind::{WarmShellKind, can_be_warm, fits_warm_shell, shows_its_start};
pub use withheld_names::{find_wanted_names, note_of_withheld};
