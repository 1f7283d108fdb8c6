//! `ansible hosts -m shell -a 'script'`.

use super::inner_command::InnerCommand;
use crate::options::parse;
use crate::programs;
use crate::simple_command_view::SimpleCommandView;

/// Most settings before ansible's script.
const MAX_SETTINGS: usize = 8;

/// Reads `ansible hosts -m shell -a 'script'`. Without `-m`, the module is `command`.
pub(super) fn ansible(command: &SimpleCommandView) -> Vec<InnerCommand> {
    let parsed = parse(command.args(), &programs::of("ansible").options);
    let module = parsed.value("m module-name").map_or("command", |module| module.known().unwrap_or_default());
    if !matches!(module.rsplit('.').next(), Some("shell" | "command" | "raw" | "script"))
        || parsed.has("C check list-hosts h")
    {
        return Vec::new();
    }
    let Some(mut script) = parsed.value("a args").cloned() else { return Vec::new() };
    // `chdir=/srv script`, `cmd='script'`
    for _ in 0..MAX_SETTINGS {
        let text = script.prefix();
        let blanks = text.len() - text.trim_start().len();
        let text = &text[blanks..];
        let setting =
            ["chdir=", "creates=", "removes=", "executable=", "warn="].iter().any(|name| text.starts_with(name));
        let length = match text.find(' ') {
            Some(blank) if setting => blank + 1,
            _ if text.starts_with("cmd=") => 4,
            _ => break,
        };
        script = script.after(blanks + length);
    }
    let mut inner = InnerCommand::script(script, format!("ansible -m {module}"));
    if let Some(InnerCommand::Script { elsewhere, .. }) = &mut inner {
        *elsewhere = true;
    }
    inner.into_iter().collect()
}
