//! Turns a request into an order: the plan of the process, and the files that travel with it.

use std::borrow::Cow;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::warm_form;
use crate::drafts::DraftUse;
use crate::error::RunError;
use crate::pty::{CommandTerminal, TerminalError};
use crate::request::{CommandRequest, MAX_ARGUMENT, PlannedRun, RequestError};
use crate::supervise::{EvidenceWatch, Failure, HelperProcesses, WorldFailure};
use confine_policy::{
    ConfinementPart, ConfinementPolicy, MissingPart, NetworkScope, PolicyError, ReportedWorldError, TmpPlacement,
    WorldFacts,
};
use confine_world::{JAVA_OPTIONS, remedy_of};
use protocol::CommandOrder;
use protocol::plan::{self, ChildPlan, InheritedDescriptor, MARK, ShellStartup, StdinSource, WorldId};
use protocol::task::TaskSpec;
use sys::LaunchStep;

/// Returns the order of a command. `task` is set if the command is a task from its start.
///
/// # Errors
/// If there is no shell, or a file or a terminal cannot be made.
pub fn order_of(
    request: &PlannedRun,
    helpers: &'static HelperProcesses,
    task: Option<TaskSpec>,
) -> Result<CommandOrder, RunError> {
    let input = match (&task, &request.stdin) {
        (Some(_), Some(bytes)) => Some(Arc::new(
            sys::anonymous_file(bytes)
                .map_err(|error| RunError::system("the standard input could not be kept", error, &request.command))?,
        )),
        _ => None,
    };
    let plan = plan_of(request, helpers)?;
    let warm = warm_form::of(request, &plan, helpers);
    let files = request.inherited_files.iter().map(|(_, file)| Arc::clone(file)).collect();
    let terminal = request.terminal.as_ref().filter(|_| !request.aborted);
    let terminal = terminal.map(|terminal| open_terminal(terminal)).transpose()?;
    let evidence = request.evidence.is_some();
    let tap = request.wants_tap();
    let draft = request.draft.as_ref().map(|draft| Arc::clone(&draft.lock));
    Ok(CommandOrder { plan, script: None, files, evidence, tap, task, input, warm, terminal, opening: None, draft })
}

/// Returns the plan of a command.
///
/// # Errors
/// [`RunError::ShellNotFound`]
pub fn plan_of(request: &PlannedRun, helpers: &'static HelperProcesses) -> Result<ChildPlan, RunError> {
    let registry =
        request.registry.as_ref().filter(|_| request.joins_registry_world).map(|registry| registry.store().path());
    plan_in(request, || request.confine.as_ref().map(|confine| helpers.world(confine, registry)))
}

/// Returns the plan of a command in a world.
///
/// # Errors
/// [`RunError::ShellNotFound`]
pub fn plan_in(request: &PlannedRun, world: impl FnOnce() -> Option<WorldId>) -> Result<ChildPlan, RunError> {
    let shell = plan::find_shell(request.shell.as_deref(), request.environment.host_path.as_deref(), &request.cwd)?;
    let (argv, script_at) = request.argv();
    let directory = start_directory(request);
    let directory = directory.as_os_str().as_bytes();
    let watched = request.evidence.is_some()
        && !request.is_script()
        && EvidenceWatch::is_possible(&shell)
        && !hides_descriptors(request);
    let own_witness = watched.then_some(InheritedDescriptor::Witness);
    // A warm shell has it whatever its command will be.
    let tap = InheritedDescriptor::TAP.into_iter().filter(|_| watched && request.keeps_tap);
    let own_files = request.inherited_files.iter().map(|(file, _)| *file);
    let mut plan = ChildPlan {
        program: shell.as_os_str().as_bytes().to_vec(),
        argv,
        script_at,
        env: request.environment.block(directory),
        cwd: directory.to_vec(),
        umask: request.umask,
        stdin: if request.stdin.is_some() { StdinSource::Pipe } else { StdinSource::Null },
        merge: request.merge,
        terminal: request.terminal.as_ref().map(|terminal| terminal.size()),
        limit: request.shim_limit(),
        grace: request.grace,
        limits: request.limits,
        world: world(),
        files: own_witness.into_iter().chain(tap).chain(own_files).collect(),
        record: None,
    };
    if let Some(confine) = &request.confine {
        confine_environment(&mut plan, &confine.policy);
    }
    plan.add_mark(&request.mark);
    Ok(plan)
}

/// Returns whether a command's own descriptors have no paths, so that its shell could not load a witness.
fn hides_descriptors(request: &CommandRequest) -> bool {
    let hidden = request.confine.iter().flat_map(|confine| &confine.policy.hide);
    hidden.into_iter().any(|path| path.starts_with("/proc") || path == Path::new("/"))
}

/// Returns the directory in which a command starts. Links in the host's places for temporary files do not exist in a
/// world with its own, so a confined command gets the directory they lead to.
fn start_directory(request: &CommandRequest) -> Cow<'_, Path> {
    let cwd = Path::new(&request.cwd);
    let is_covered = request.confine.as_ref().is_some_and(|confine| confine.policy.is_under_private_tmp(cwd));
    let resolved = is_covered.then(|| cwd.canonicalize().ok()).flatten();
    resolved.map_or(Cow::Borrowed(cwd), Cow::Owned)
}

/// Changes the variables of a confined command that name unreachable things: the directory for temporary files, and
/// proxies, which the world's own way to the allowed hosts replaces.
fn confine_environment(plan: &mut ChildPlan, policy: &ConfinementPolicy) {
    const PROXIES: [&str; 16] = [
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "ftp_proxy",
        "grpc_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "FTP_PROXY",
        "GRPC_PROXY",
        "PIP_PROXY",
        "CARGO_HTTP_PROXY",
        "npm_config_proxy",
        "npm_config_http_proxy",
        "npm_config_https_proxy",
        "YARN_HTTPS_PROXY",
    ];
    if policy.network != NetworkScope::Full {
        for name in PROXIES {
            plan.take_variable(name);
        }
    }
    if policy.tmp == TmpPlacement::Private {
        for name in ["TMP", "TEMP"] {
            if plan.take_variable(name).is_some() {
                plan.set_variable(name, b"/tmp");
            }
        }
        plan.take_variable("TMPDIR");
        plan.set_variable("TMPDIR", b"/tmp");
    }
    if policy.draft.is_some() {
        // A drafted directory is a file system of its own, at which git would end its search for a repository.
        let own = plan.take_variable(ACROSS_FILE_SYSTEMS);
        plan.set_variable(ACROSS_FILE_SYSTEMS, own.as_deref().unwrap_or(b"1"));
    }
}

/// Lets git search for a repository in directories above that are on other file systems.
const ACROSS_FILE_SYSTEMS: &str = "GIT_DISCOVERY_ACROSS_FILESYSTEM";

/// Sets the variables of a world that is made. Returns whether any has changed.
pub fn enter_world(plan: &mut ChildPlan, facts: &WorldFacts) -> bool {
    let before = plan.env.clone();
    let mark = plan.take_variable(MARK);
    for (name, value) in &facts.environment {
        let own = plan.take_variable(name).filter(|own| name == JAVA_OPTIONS && !own.is_empty());
        let Some(value) = value.as_deref().map(str::as_bytes) else { continue };
        match own {
            // Java reads any number of options, and may have entered the world before.
            Some(own) if own.ends_with(value) => plan.set_variable(name, &own),
            Some(own) => plan.set_variable(name, &[&own, b" ".as_slice(), value].concat()),
            None => plan.set_variable(name, value),
        }
    }
    let tmp = facts.tmp.as_ref().filter(|_| facts.environment.iter().any(|(name, _)| name == "TMPDIR"));
    for name in ["TMP", "TEMP"] {
        if let Some(tmp) = tmp
            && plan.take_variable(name).is_some()
        {
            plan.set_variable(name, tmp.as_os_str().as_bytes());
        }
    }
    // The kind of a shell is the plan without its mark, which is the last variable.
    if let Some(mark) = mark {
        plan.set_variable(MARK, &mark);
    }
    plan.env != before
}

/// Returns the open end of the terminal in which the command runs.
fn open_terminal(terminal: &CommandTerminal) -> Result<Arc<OwnedFd>, RunError> {
    terminal.open()?;
    let master = terminal.master().inspect_err(|_| terminal.on_start_failed());
    master.map(Arc::new).map_err(|error| TerminalError::Unavailable(error).into())
}

/// Moves the terminal of a command, if it has one, to the pseudo-terminals of its world.
///
/// # Errors
/// If no pseudo-terminal is available.
pub fn move_terminal(request: &PlannedRun, order: &mut CommandOrder, terminals: &OwnedFd) -> Result<(), RunError> {
    if let Some(terminal) = &request.terminal {
        terminal.move_to(terminals)?;
        order.terminal = Some(terminal.master().map(Arc::new).map_err(TerminalError::Unavailable)?);
    }
    Ok(())
}

/// Returns an unnamed file with the command, if the command is too long for an argument.
///
/// # Errors
/// If the file cannot be made.
pub fn script_of(request: &PlannedRun) -> Result<Option<Arc<OwnedFd>>, RunError> {
    if !request.is_script() {
        return Ok(None);
    }
    let file = sys::anonymous_file(request.shell_text().as_bytes())
        .map_err(|error| RunError::system("the command could not be kept for the shell", error, &request.command))?;
    Ok(Some(Arc::new(file)))
}

/// Unnamed files that a cold shell reads before its command, unless it is a plain shell.
#[derive(Default)]
pub struct StartupFiles(Vec<sys::SharedDescriptor>);

impl StartupFiles {
    /// Writes the files, unless they are written already, and makes the plan name them.
    ///
    /// # Errors
    /// If a file cannot be made.
    pub fn write(&mut self, request: &PlannedRun, order: &mut CommandOrder) -> Result<(), RunError> {
        let Some(startup) = &request.startup else { return Ok(()) };
        if !self.0.is_empty() {
            return Ok(());
        }
        if request.confine.is_some() {
            return inherit_startup_files(request, startup, order).map_err(|error| {
                RunError::system("the state of its shell could not be kept", error, &request.command)
            });
        }
        let plan = &mut order.plan;
        let own = [plan.take_variable("BASH_ENV"), plan.take_variable("POSIXLY_CORRECT")];
        let files = || {
            let boot = sys::SharedDescriptor::file(&startup.boot.early)?;
            let prologue = sys::SharedDescriptor::file(&plan::prologue(&request.command, Some(startup)))?;
            let script = plan::boot_script(&[boot.path(), prologue.path()], &startup.boot.late, own, &[]);
            std::io::Result::Ok(vec![sys::SharedDescriptor::file(&script)?, boot, prologue])
        };
        self.0 = files()
            .map_err(|error| RunError::system("the state of its shell could not be kept", error, &request.command))?;
        plan.read_first(self.0[0].path());
        Ok(())
    }

    /// Closes the files after a while, because a shell that is a task does not report when it has read them.
    pub fn drop_after(&mut self, time: Duration) {
        let files = std::mem::take(&mut self.0);
        if !files.is_empty() {
            tokio::spawn(async move {
                tokio::time::sleep(time).await;
                drop(files);
            });
        }
    }
}

/// Makes a confined shell inherit the files that it reads before its command.
fn inherit_startup_files(
    request: &CommandRequest,
    startup: &ShellStartup,
    order: &mut CommandOrder,
) -> std::io::Result<()> {
    const FILES: [InheritedDescriptor; 3] =
        [InheritedDescriptor::Script, InheritedDescriptor::Boot, InheritedDescriptor::Prologue];
    if order.plan.files.contains(&InheritedDescriptor::Script) {
        return Ok(());
    }
    let [script, boot, prologue] = FILES.map(InheritedDescriptor::path);
    let own = [order.plan.take_variable("BASH_ENV"), order.plan.take_variable("POSIXLY_CORRECT")];
    let code = plan::boot_script(&[&boot, &prologue], &startup.boot.late, own, &FILES);
    order.plan.read_first(&script);
    let prologue = plan::prologue(&request.command, Some(startup));
    for (file, bytes) in FILES.into_iter().zip([&code[..], &startup.boot.early, &prologue]) {
        order.files.push(Arc::new(sys::anonymous_file(bytes)?));
        order.plan.files.push(file);
    }
    Ok(())
}

/// Returns whether the shell is no longer where it was found.
pub fn is_shell_gone(failure: &Failure) -> bool {
    failure.step == LaunchStep::Exec && matches!(failure.errno, libc::ENOENT | libc::ENOTDIR)
}

/// Returns why no process was started, in the terms of the caller.
pub fn start_error(request: &CommandRequest, plan: &ChildPlan, failure: &Failure) -> RunError {
    if let Some(missing) = missing_confinement_part(failure) {
        return RunError::Confinement(vec![missing]);
    }
    let what = match (failure.step, failure.errno) {
        (LaunchStep::Record, errno) => {
            let error = std::io::Error::from_raw_os_error(errno);
            return RunError::NotUndoable(format!("its changes cannot be recorded: {error}"));
        }
        (LaunchStep::Chdir, libc::ENOTDIR) if request.cwd.exists() => {
            return RunError::CwdNotDirectory(request.cwd.clone());
        }
        (LaunchStep::Chdir, libc::ENOENT | libc::ENOTDIR) => return RunError::CwdNotFound(request.cwd.clone()),
        (LaunchStep::Chdir, _) => format!("the working directory {} could not be entered", request.cwd.display()),
        (LaunchStep::Exec, libc::E2BIG) => too_large(plan),
        (LaunchStep::Exec, _) => format!("{} could not be executed", String::from_utf8_lossy(&plan.program)),
        (LaunchStep::Fork, _) => "no process could be made".to_owned(),
        (LaunchStep::Limits, _) => "its limits could not be set".to_owned(),
        (LaunchStep::Stdio, _) => "the standard streams could not be set up".to_owned(),
        (LaunchStep::Files, _) => "the files of its task could not be made".to_owned(),
        (LaunchStep::Group, _) => "its cgroup could not be entered".to_owned(),
        // The failure is a part of the confinement, see above.
        (LaunchStep::Confine | LaunchStep::Protect | LaunchStep::Filter, _) => "it could not be confined".to_owned(),
    };
    RunError::system(what, std::io::Error::from_raw_os_error(failure.errno), &request.command)
}

/// Returns what the system found too large: a variable or an argument by itself, or all of them together.
fn too_large(plan: &ChildPlan) -> String {
    let most = format!("and the system takes at most {MAX_ARGUMENT}: use stdin or a file");
    let mut variables = plan.env.split(|byte| *byte == 0);
    if let Some(entry) = variables.find(|entry| entry.len() > MAX_ARGUMENT) {
        let name = entry.split(|byte| *byte == b'=').next().unwrap_or_default();
        return format!("the variable {} has {} bytes, {most}", String::from_utf8_lossy(name), entry.len());
    }
    if let Some(argument) = plan.argv.iter().find(|argument| argument.len() > MAX_ARGUMENT) {
        return format!("an argument has {} bytes, {most}", argument.len());
    }
    let arguments: usize = plan.argv.iter().map(Vec::len).sum();
    let variables = plan.env.len();
    format!("{arguments} bytes of arguments and {variables} bytes of variables are too much for the system")
}

/// Returns why a command has no world, in the terms of the caller.
pub fn world_error(failure: WorldFailure, request: &PlannedRun) -> RunError {
    let CommandRequest { command, cwd, .. } = &**request;
    if request.draft.is_some()
        && let WorldFailure::NotMade(failure) = &failure
    {
        let (why, errno) = match failure {
            ReportedWorldError::Missing(missing) => (MissingPart::describe_all(missing), None),
            ReportedWorldError::Step { step, errno } => {
                (format!("{step}: {}", std::io::Error::from_raw_os_error(*errno)), Some(*errno))
            }
        };
        return DraftUse::without_view(&why, errno).into();
    }
    // The directories may have been removed since the policy was made.
    match std::fs::metadata(cwd) {
        Err(_) => return RunError::CwdNotFound(cwd.clone()),
        Ok(found) if !found.is_dir() => return RunError::CwdNotDirectory(cwd.clone()),
        Ok(_) => {}
    }
    let roots = request.confine.iter().flat_map(|confine| &confine.policy.write);
    for root in roots {
        if let Err(error) = std::fs::metadata(root) {
            return RequestError::Confine(PolicyError::no_write_root(root, &error)).into();
        }
    }
    match failure {
        WorldFailure::NotMade(ReportedWorldError::Missing(missing)) => RunError::Confinement(missing),
        WorldFailure::NotMade(ReportedWorldError::Step { step, errno }) => {
            let what = format!("its confinement could not be made: {step}");
            RunError::system(what, std::io::Error::from_raw_os_error(errno), command)
        }
        WorldFailure::Helper(error) => RunError::helper(error, command),
    }
}

/// Returns the part of a confinement into which a command could not be put.
fn missing_confinement_part(failure: &Failure) -> Option<MissingPart> {
    let (part, what) = match failure.step {
        LaunchStep::Confine => (ConfinementPart::Processes, "the namespaces of its world could not be entered"),
        LaunchStep::Protect => {
            (ConfinementPart::Files, "the protected files of its world could not be brought up to date")
        }
        LaunchStep::Filter => (ConfinementPart::Syscalls, "the filter of system calls could not be installed"),
        _ => return None,
    };
    let error = std::io::Error::from_raw_os_error(failure.errno);
    Some(MissingPart {
        part,
        why: format!("{what}: {error}"),
        remedy: remedy_of(&error).unwrap_or_else(|| "run it again, and see what agent-bash doctor finds".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::RawOptions;

    fn request(cwd: &str) -> PlannedRun {
        let raw = RawOptions { command: "x".into(), cwd: cwd.into(), ..RawOptions::default() };
        PlannedRun::check(raw).expect("valid")
    }

    #[test]
    fn each_failed_step_has_its_error() {
        let there = request("/dev/null");
        let missing = request("/no/such/directory");
        let plan = plan_of(&there, HelperProcesses::shared().expect("threads")).expect("bash");
        let code = |request: &PlannedRun, step, errno| {
            let error = start_error(request, &plan, &Failure { step, errno });
            (error.code(), error.to_string())
        };
        for (request, errno, expected) in [
            (&missing, libc::ENOENT, "ERR_BASH_CWD_NOT_FOUND"),
            (&missing, libc::ENOTDIR, "ERR_BASH_CWD_NOT_FOUND"),
            (&there, libc::ENOTDIR, "ERR_BASH_CWD_NOT_DIRECTORY"),
            (&there, libc::EACCES, "ERR_BASH_SPAWN"),
        ] {
            assert_eq!(code(request, LaunchStep::Chdir, errno).0, expected, "{errno}");
        }
        let (code, message) = code(&there, LaunchStep::Fork, libc::EAGAIN);
        assert_eq!(code, "ERR_BASH_SPAWN");
        assert!(message.starts_with("could not start the command (no process could be made: EAGAIN"), "{message}");
        assert!(message.ends_with("): x"), "{message}");
    }

    #[test]
    fn a_command_that_cannot_be_confined_names_part_reason_and_remedy() {
        let request = request("/");
        let plan = plan_of(&request, HelperProcesses::shared().expect("threads")).expect("bash");
        for (step, part) in [
            (LaunchStep::Confine, ConfinementPart::Processes),
            (LaunchStep::Protect, ConfinementPart::Files),
            (LaunchStep::Filter, ConfinementPart::Syscalls),
        ] {
            let error = start_error(&request, &plan, &Failure { step, errno: libc::EPERM });
            assert_eq!(error.code(), "ERR_BASH_CONFINEMENT");
            let RunError::Confinement(missing) = error else { panic!("{error}") };
            assert_eq!(missing.iter().map(|missing| missing.part).collect::<Vec<_>>(), [part]);
            assert!(missing[0].why.contains("not permitted") && !missing[0].remedy.is_empty(), "{missing:?}");
        }
    }

    #[test]
    fn only_a_shell_that_is_not_there_is_searched_again() {
        let gone = |step, errno| is_shell_gone(&Failure { step, errno });
        assert!(gone(LaunchStep::Exec, libc::ENOENT) && gone(LaunchStep::Exec, libc::ENOTDIR));
        assert!(!gone(LaunchStep::Exec, libc::EACCES) && !gone(LaunchStep::Chdir, libc::ENOENT));
    }
    #[test]
    fn options_of_a_world_for_java_follow_those_of_the_command() {
        const STORE: &str = "-Dstore=/w";
        let environment = vec![(JAVA_OPTIONS.to_owned(), Some(STORE.to_owned()))];
        let facts = WorldFacts { environment, ..WorldFacts::default() };
        for (own, expected) in [("", STORE), ("-Xmx1g", "-Xmx1g -Dstore=/w")] {
            let request = request("/");
            let mut plan = plan_of(&request, HelperProcesses::shared().expect("threads")).expect("bash");
            plan.take_variable(JAVA_OPTIONS);
            plan.set_variable(JAVA_OPTIONS, own.as_bytes());
            for changes in [true, false] {
                assert_eq!(enter_world(&mut plan, &facts), changes, "{own}");
            }
            assert_eq!(plan.take_variable(JAVA_OPTIONS).as_deref(), Some(expected.as_bytes()));
        }
    }
}
