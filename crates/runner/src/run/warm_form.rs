//! Decides which commands a warm shell can run without a visible difference.

use std::sync::Arc;

use crate::request::PlannedRun;
use crate::supervise::HelperProcesses;
use protocol::WarmCommand;
use protocol::plan::{self, ChildPlan, InheritedDescriptor, WarmShellKind};

/// Returns the command in the form for a warm shell. `None` if the command has to start cold.
pub(super) fn of(request: &PlannedRun, plan: &ChildPlan, helpers: &HelperProcesses) -> Option<WarmCommand> {
    if !request.warm || request.background || !request.args.is_empty() || !helpers.can_warm_shells(plan.world) {
        return None;
    }
    let name = plan.argv.first().map(|name| String::from_utf8_lossy(name))?;
    if !plan::can_be_warm(&name, &request.environment) {
        return None;
    }
    let startup = request.startup.as_ref();
    let (text, mut prologue) = (request.shell_text(), plan::prologue(&request.command, startup));
    if plan.has_tap() && !request.wants_tap() {
        prologue.splice(0..0, plan::closing_code(&InheritedDescriptor::TAP).into_bytes());
    }
    if !plan::fits_warm_shell(&text, &prologue) || (startup.is_none() && plan::shows_its_start(&text)) {
        return None;
    }
    let boot = startup.map(|startup| startup.boot.clone()).unwrap_or_default();
    let kind = Arc::new(WarmShellKind { plan: plan.without_command(&request.mark), boot, recorded: false });
    Some(WarmCommand { kind, command: text.into_owned().into_bytes(), prologue, prestarts: startup.is_some() })
}
