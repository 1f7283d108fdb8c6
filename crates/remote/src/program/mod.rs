//! The program on the other machine, from its first greeting to its end.
//!
//! ```text
//! Ready ──▶ Begin ──▶ served over the link ──cut──▶ lingers ──a new program passes its link on──▶ served …
//!       └─▶ Resume ─▶ passes the link to the program that has the token, and waits for its end
//! ```
//!
//! It ends with its lease, with a goodbye, and with its first link if no host has answered it. Its supervisor then ends
//! all that it has started, as at the death of any host.

mod access_refusal;
mod command_terminal;
mod file_replacement;
mod file_requests;
mod host_service;
mod installed_program;
mod link_handover;
mod link_handover_socket;
mod login_lingering;
mod machine_load;
mod port_dialing;
mod program_hash;
mod program_runs;
mod registry_table;
mod request_transfer;
mod session_table;
mod target_facts;
mod transport_carrying;
mod undo_handlers;
mod wire_listener;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use nix::sys::wait::WaitStatus;
use nix::unistd::{dup2_stdin, dup2_stdout, getpid, getsid, setsid};
use tokio::time::timeout;

use crate::frame_link::{FrameLink, LinkEnd};
use crate::messages::{GreetingFromProgram, GreetingToProgram};
use host_service::serve;
use installed_program::{InstalledProgram, remove_unused};
use link_handover::{HandoverError, hand_over};
use link_handover_socket::{LinkHandoverSocket, private_directory_candidates};
use sys::ForkOutcome;

pub use program_hash::matches_own_hash;

/// The argument with which the program is its own supervisor.
pub const SUPERVISOR_ARGUMENT: &str = "supervisor";
/// The argument with which the program tells whether its file has the hash that follows.
pub const CHECK_HASH_ARGUMENT: &str = "sum";
/// Time a host has for its greeting.
const GREETING_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs the program over standard input and output.
#[must_use]
pub fn main() -> ExitCode {
    match leave_group() {
        Ok(None) => {}
        Ok(Some(ended)) => return ended,
        Err(error) => eprintln!("agent-bash-host: a signal for the transport's process group ends it: {error}"),
    }
    match std::env::current_exe() {
        Ok(own) => runner::supervise::use_own_program(own, SUPERVISOR_ARGUMENT),
        Err(error) => {
            eprintln!("agent-bash-host: commands cannot run, since /proc does not show this program: {error}")
        }
    }
    let ended = runner::run::runtime().map_err(|error| error.to_string()).and_then(|runtime| runtime.block_on(begin()));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("agent-bash-host: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Leaves the process group of the transport, so that signals to that group do not reach this program. A program that
/// leads the group continues as a child. Returns the exit code of that child.
fn leave_group() -> std::io::Result<Option<ExitCode>> {
    if setsid().is_ok() || getsid(None)? == getpid() {
        return Ok(None);
    }
    let ForkOutcome::Parent(child) = sys::fork()? else {
        setsid()?;
        return Ok(None);
    };
    // What the child closes is closed.
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    loop {
        match nix::sys::wait::waitpid(child, None) {
            Err(nix::Error::EINTR) => {}
            Ok(WaitStatus::Exited(_, 0)) => return Ok(Some(ExitCode::SUCCESS)),
            Ok(_) | Err(_) => return Ok(Some(ExitCode::FAILURE)),
        }
    }
}

async fn begin() -> Result<(), String> {
    let mut link =
        take_standard().map_err(|error| format!("standard input and output cannot carry frames: {error}"))?;
    let door = LinkHandoverSocket::open().map_err(|error| format!("no socket could be made: {error}"))?;
    let facts = target_facts::collect_facts(&door);
    let umask = facts.umask;
    link.send_greeting(&GreetingFromProgram::Ready(Box::new(facts))).await.map_err(|error| error.to_string())?;
    loop {
        match timeout(GREETING_TIMEOUT, link.receive_greeting()).await {
            Ok(Ok(GreetingToProgram::Begin(begin))) => {
                if serve(link, &door, begin, umask).await {
                    uninstall(door);
                }
                return Ok(());
            }
            Ok(Ok(GreetingToProgram::Resume(resume))) => match hand_over(link, &resume).await {
                Ok(()) => return Ok(()),
                Err(HandoverError::Gone(kept)) => link = kept,
                Err(HandoverError::Unclear(error)) => {
                    return Err(format!("the earlier program did not answer: {error}"));
                }
            },
            Ok(Err(LinkEnd::Goodbye)) => return Ok(()),
            Ok(Err(LinkEnd::Lost(error))) => return Err(format!("the host is gone: {error}")),
            Ok(Err(LinkEnd::Broken(error))) => return Err(error.to_string()),
            Err(_) => return Err(format!("no host has answered within {} s", GREETING_TIMEOUT.as_secs())),
        }
        link.send_greeting(&GreetingFromProgram::Gone).await.map_err(|error| error.to_string())?;
    }
}

/// Removes this program, and what it has made for itself. A host that was cut off meanwhile may have sent it again.
fn uninstall(door: LinkHandoverSocket) {
    if let Some(installed) = InstalledProgram::own() {
        // The host was told of the first attempt.
        let _kept = installed.remove();
    }
    let socket = door.path().to_owned();
    drop(door);
    if let Some(name) = socket.parent().and_then(Path::file_name) {
        remove_unused(&private_directory_candidates(), name);
    }
}

/// Returns a link over standard input and output, which are `/dev/null` from then on: no command inherits them.
fn take_standard() -> std::io::Result<FrameLink> {
    use std::os::fd::AsFd;
    let (input, output) = (std::io::stdin(), std::io::stdout());
    let ends = [sys::above_inherited(&input.as_fd())?, sys::above_inherited(&output.as_fd())?];
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    let [input, output] = ends;
    FrameLink::new(input, output)
}
