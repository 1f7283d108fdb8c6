//! One attempt to reach a target: starts the transport, runs our text there, sends the program if it is missing, and
//! waits for its first greeting.

use std::io;

use tokio::time::timeout;

use super::bootstrap_script::{BootstrapAnswer, BootstrapAnswerReader, BootstrapFinding, BootstrapScript, MAX_NOISE};
use super::failure_reason::classify_failure;
use super::target_error::{TargetError, TargetErrorReason};
use super::target_programs::{ProgramEncoding, TargetProgram};
use super::target_settings::{MACHINES, TargetSettings};
use super::transport_process::{TransportProcess, clean};
use super::transport_via::ViaFailure;
use crate::frame_link::LinkEnd;
use crate::messages::{GreetingFromProgram, TargetFacts, clean_facts};
use crate::random::random_name;

/// A program that has just started there.
pub struct ReachedProgram {
    /// The transport that leads to it.
    pub transport: TransportProcess,
    /// What the program has told.
    pub facts: TargetFacts,
    /// Whether the program was sent just now.
    pub sent: bool,
}

/// Why an attempt failed, before it has words.
enum ReachFailure {
    /// The transport ended, when a login shell had printed this in place of an answer.
    Ended(String),
    /// A step failed.
    Known(TargetErrorReason, String),
}

/// Reaches the target.
pub async fn reach_program(settings: &TargetSettings) -> Result<ReachedProgram, TargetError> {
    if settings.installed.is_none() && settings.programs.is_empty() {
        return Err(TargetError::new(&settings.id, TargetErrorReason::NoProgram, &settings.missing, String::new()));
    }
    let mark = random_name::<16>().map_err(|error| {
        TargetError::new(&settings.id, TargetErrorReason::Unreachable, &error.to_string(), String::new())
    })?;
    let wanted = BootstrapScript { programs: settings.programs.clone(), installed: settings.installed.clone(), mark };
    let argv = settings.address.transport_argv(&wanted.text());
    let mut transport = TransportProcess::start(settings, argv).map_err(|end| via_error(settings, &end))?;
    let attempt = timeout(settings.patience, start(settings, &wanted, &mut transport)).await;
    let failure = match attempt {
        Ok(Ok((facts, sent))) => return Ok(ReachedProgram { transport, facts, sent }),
        Ok(Err(failure)) => failure,
        Err(_) => {
            let message = format!("no program has answered within {} ms", settings.patience.as_millis());
            ReachFailure::Known(TargetErrorReason::Timeout, message)
        }
    };
    Err(describe_failure(settings, transport, failure).await)
}

/// Runs the program by the transport. Returns its facts, and whether it was sent.
async fn start(
    settings: &TargetSettings,
    wanted: &BootstrapScript,
    transport: &mut TransportProcess,
) -> Result<(TargetFacts, bool), ReachFailure> {
    let sent = answer_bootstrap(settings, wanted, transport).await?;
    match transport.link.receive_greeting::<GreetingFromProgram>().await {
        Ok(GreetingFromProgram::Ready(mut facts)) => {
            clean_facts(&mut facts);
            Ok((*facts, sent))
        }
        Ok(_) => Err(ReachFailure::Known(TargetErrorReason::Protocol, "the program has not greeted first".to_owned())),
        Err(LinkEnd::Broken(error)) => Err(ReachFailure::Known(TargetErrorReason::Protocol, error.to_string())),
        Err(LinkEnd::Goodbye | LinkEnd::Lost(_)) => Err(ReachFailure::Ended(String::new())),
    }
}

/// Answers our text until the program runs. Returns whether it was sent.
async fn answer_bootstrap(
    settings: &TargetSettings,
    wanted: &BootstrapScript,
    transport: &mut TransportProcess,
) -> Result<bool, ReachFailure> {
    let mut answers = BootstrapAnswerReader::new(&wanted.mark);
    let known = |reason, message: String| Err(ReachFailure::Known(reason, message));
    let mut tries = 0;
    loop {
        match answers.next_answer() {
            BootstrapFinding::Nothing => match transport.link.bytes().await {
                Ok(bytes) => answers.push(&bytes),
                Err(_) => return Err(ReachFailure::Ended(answers.printed())),
            },
            BootstrapFinding::Noise => {
                return known(
                    TargetErrorReason::Shell,
                    format!("the login shell printed more than {MAX_NOISE} bytes before our text ran"),
                );
            }
            BootstrapFinding::Answer(BootstrapAnswer::Run(_, sent)) => {
                transport.link.begin_frames(&answers.into_rest());
                return Ok(sent);
            }
            BootstrapFinding::Answer(BootstrapAnswer::Send(machine, tool)) => {
                tries += 1;
                let Some((program, coding)) = offered_program(settings, &machine, &tool, tries) else {
                    let asked = format!("the program was asked for {tries} times, for {machine} and {tool}");
                    return known(TargetErrorReason::Protocol, asked);
                };
                send(program, coding, transport).await?;
            }
            BootstrapFinding::Answer(BootstrapAnswer::None(places)) => {
                let message = format!(
                    "none of its places takes a program ({places}): each is missing, full, read-only, noexec or another \
                     user's; set `hostProgram` to the path of an installed one, or mount a directory there that allows programs"
                );
                return known(TargetErrorReason::NoPlace, message);
            }
            BootstrapFinding::Answer(BootstrapAnswer::Hash) => {
                let path = settings.installed.as_deref().unwrap_or_default();
                return known(
                    TargetErrorReason::Hash,
                    format!("{path} is missing there, or not the agent-bash-host of this version"),
                );
            }
            BootstrapFinding::Answer(BootstrapAnswer::Unsupported(system)) => {
                return if MACHINES.contains(&system.as_str()) {
                    known(TargetErrorReason::NoProgram, format!("no program for {system}: {}", settings.missing))
                } else {
                    known(
                        TargetErrorReason::Unsupported,
                        format!("there is no agent-bash-host for this system: {system}"),
                    )
                };
            }
        }
    }
}

/// Most places that are tried, each of which may want every form of the program.
const MOST_PLACES: usize = 6;

/// Returns the program for a machine, and the coding for a tool. `None`: they were not offered, or too often asked for.
fn offered_program<'a>(
    settings: &'a TargetSettings,
    machine: &str,
    tool: &str,
    tries: usize,
) -> Option<(&'a TargetProgram, ProgramEncoding)> {
    let program = settings.programs.iter().find(|program| program.machine == machine)?;
    let codings = program.encodings();
    let (coding, _) = codings.iter().find(|(coding, _)| coding.tool() == tool)?;
    (tries <= MOST_PLACES * codings.len()).then_some((program, *coding))
}

async fn send(
    program: &TargetProgram,
    coding: ProgramEncoding,
    transport: &mut TransportProcess,
) -> Result<(), ReachFailure> {
    let program = program.clone();
    let bytes = tokio::task::spawn_blocking(move || program.read(coding))
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)));
    let bytes = bytes
        .map_err(|error| ReachFailure::Known(TargetErrorReason::NoProgram, format!("it cannot be sent: {error}")))?;
    transport.link.send_raw(&bytes).await.map_err(|_| ReachFailure::Ended(String::new()))
}

/// Returns the error of a failed attempt, once the transport has said its last words.
async fn describe_failure(
    settings: &TargetSettings,
    transport: TransportProcess,
    failure: ReachFailure,
) -> TargetError {
    let kind = settings.address.kind();
    match failure {
        ReachFailure::Known(reason, message) => {
            let said = transport.give_up().await;
            TargetError::new(&settings.id, reason, &message, said)
        }
        ReachFailure::Ended(printed) => {
            let (exit_code, said) = match transport.last_words().await {
                Ok(words) => words,
                Err(end) => return via_error(settings, &end),
            };
            let reason = classify_failure(kind, &said, exit_code);
            let said = [said, clean(&printed)].join("\n").trim().to_owned();
            let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("the connection ended").trim();
            TargetError::new(&settings.id, reason, last, said.clone())
        }
    }
}

/// Returns the error of a transport that could not be started, or whose way is gone.
fn via_error(settings: &TargetSettings, end: &ViaFailure) -> TargetError {
    match end {
        ViaFailure::Closed(why) => TargetError::lost(&settings.id, why),
        ViaFailure::Failed(why) => TargetError::new(&settings.id, TargetErrorReason::Unreachable, why, String::new()),
    }
}
