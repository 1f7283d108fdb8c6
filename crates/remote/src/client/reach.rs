//! One attempt to reach a target: starts the transport, runs our text there, sends the program if it is missing, and
//! waits for its first greeting.

use std::io;

use tokio::time::timeout;

use super::bootstrap::{Answer, Answers, Found, MAX_NOISE, Wanted};
use super::error::{Reason, TargetError};
use super::forms::{Coding, Program};
use super::reason::reason;
use super::settings::{MACHINES, Settings};
use super::transport::{Transport, clean};
use crate::link::Cut;
use crate::messages::{Facts, FromProgram, clean_facts};
use crate::random::random_name;

/// A program that has just started there.
pub struct Reached {
    /// The transport that leads to it.
    pub transport: Transport,
    /// What the program has told.
    pub facts: Facts,
    /// Whether the program was sent just now.
    pub sent: bool,
}

/// Why an attempt failed, before it has words.
enum Failure {
    /// The transport ended, when a login shell had printed this in place of an answer.
    Ended(String),
    /// A step failed.
    Known(Reason, String),
}

/// Reaches the target.
pub async fn reach(settings: &Settings) -> Result<Reached, TargetError> {
    if settings.installed.is_none() && settings.programs.is_empty() {
        return Err(TargetError::new(&settings.id, Reason::NoProgram, &settings.missing, String::new()));
    }
    let mark = random_name::<16>()
        .map_err(|error| TargetError::new(&settings.id, Reason::Unreachable, &error.to_string(), String::new()))?;
    let wanted = Wanted { programs: settings.programs.clone(), installed: settings.installed.clone(), mark };
    let argv = settings.address.transport(&wanted.text());
    let started = Transport::start(&argv);
    let mut transport = started.map_err(|error| {
        let message = format!("{}: {error}", argv.first().map_or("", String::as_str));
        TargetError::new(&settings.id, Reason::Unreachable, &message, String::new())
    })?;
    let attempt = timeout(settings.patience, start(settings, &wanted, &mut transport)).await;
    let failure = match attempt {
        Ok(Ok((facts, sent))) => return Ok(Reached { transport, facts, sent }),
        Ok(Err(failure)) => failure,
        Err(_) => {
            let message = format!("no program has answered within {} ms", settings.patience.as_millis());
            Failure::Known(Reason::Timeout, message)
        }
    };
    Err(told(settings, transport, failure).await)
}

/// Runs the program by the transport. Returns its facts, and whether it was sent.
async fn start(settings: &Settings, wanted: &Wanted, transport: &mut Transport) -> Result<(Facts, bool), Failure> {
    let sent = run(settings, wanted, transport).await?;
    match transport.link.greeting::<FromProgram>().await {
        Ok(FromProgram::Ready(mut facts)) => {
            clean_facts(&mut facts);
            Ok((*facts, sent))
        }
        Ok(_) => Err(Failure::Known(Reason::Protocol, "the program has not greeted first".to_owned())),
        Err(Cut::Broken(error)) => Err(Failure::Known(Reason::Protocol, error.to_string())),
        Err(Cut::Goodbye | Cut::Lost(_)) => Err(Failure::Ended(String::new())),
    }
}

/// Answers our text until the program runs. Returns whether it was sent.
async fn run(settings: &Settings, wanted: &Wanted, transport: &mut Transport) -> Result<bool, Failure> {
    let mut answers = Answers::new(&wanted.mark);
    let known = |reason, message: String| Err(Failure::Known(reason, message));
    let mut tries = 0;
    loop {
        match answers.next_answer() {
            Found::Nothing => match transport.link.bytes().await {
                Ok(bytes) => answers.push(&bytes),
                Err(_) => return Err(Failure::Ended(answers.printed())),
            },
            Found::Noise => {
                return known(
                    Reason::Shell,
                    format!("the login shell printed more than {MAX_NOISE} bytes before our text ran"),
                );
            }
            Found::Answer(Answer::Run(_, sent)) => {
                transport.link.begin_frames(&answers.into_rest());
                return Ok(sent);
            }
            Found::Answer(Answer::Send(machine, tool)) => {
                tries += 1;
                let Some((program, coding)) = offered(settings, &machine, &tool, tries) else {
                    let asked = format!("the program was asked for {tries} times, for {machine} and {tool}");
                    return known(Reason::Protocol, asked);
                };
                send(program, coding, transport).await?;
            }
            Found::Answer(Answer::None(places)) => {
                let message = format!(
                    "none of its places takes a program ({places}): each is missing, full, read-only, noexec or another \
                     user's; set `hostProgram` to the path of an installed one, or mount a directory there that allows programs"
                );
                return known(Reason::NoPlace, message);
            }
            Found::Answer(Answer::Hash) => {
                let path = settings.installed.as_deref().unwrap_or_default();
                return known(
                    Reason::Hash,
                    format!("{path} is missing there, or not the agent-bash-host of this version"),
                );
            }
            Found::Answer(Answer::Unsupported(system)) => {
                return if MACHINES.contains(&system.as_str()) {
                    known(Reason::NoProgram, format!("no program for {system}: {}", settings.missing))
                } else {
                    known(Reason::Unsupported, format!("there is no agent-bash-host for this system: {system}"))
                };
            }
        }
    }
}

/// Most places that are tried, each of which may want every form of the program.
const MOST_PLACES: usize = 6;

/// Returns the program for a machine, and the coding for a tool. `None`: they were not offered, or too often asked for.
fn offered<'a>(settings: &'a Settings, machine: &str, tool: &str, tries: usize) -> Option<(&'a Program, Coding)> {
    let program = settings.programs.iter().find(|program| program.machine == machine)?;
    let codings = program.codings();
    let (coding, _) = codings.iter().find(|(coding, _)| coding.tool() == tool)?;
    (tries <= MOST_PLACES * codings.len()).then_some((program, *coding))
}

async fn send(program: &Program, coding: Coding, transport: &mut Transport) -> Result<(), Failure> {
    let program = program.clone();
    let bytes = tokio::task::spawn_blocking(move || program.read(coding))
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)));
    let bytes = bytes.map_err(|error| Failure::Known(Reason::NoProgram, format!("it cannot be sent: {error}")))?;
    transport.link.raw(&bytes).await.map_err(|_| Failure::Ended(String::new()))
}

/// Returns the error of a failed attempt, once the transport has said its last words.
async fn told(settings: &Settings, transport: Transport, failure: Failure) -> TargetError {
    let kind = settings.address.kind();
    match failure {
        Failure::Known(reason, message) => {
            let said = transport.said();
            transport.drop_link();
            TargetError::new(&settings.id, reason, &message, said)
        }
        Failure::Ended(printed) => {
            let (exit_code, said) = transport.last_words().await;
            let reason = reason(kind, &said, exit_code);
            let said = [said, clean(&printed)].join("\n").trim().to_owned();
            let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("the connection ended").trim();
            TargetError::new(&settings.id, reason, last, said.clone())
        }
    }
}
