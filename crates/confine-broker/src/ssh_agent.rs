//! The ssh agent of a world: a socket of the gate, in front of the agent of the host.

use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use confine_policy::WorldSsh;

use super::agent_session::{AgentRequest, AgentRules, AgentSession, FAILURE, RefusedAgentRequest, SUCCESS};
use super::broker_events::{BrokerEvent, ConnectionOrigin, EventSink, SharedOrigin};

/// The most programs that speak with the agent at once.
const CONNECTIONS: usize = 32;
/// The longest message, bytes. OpenSSH has the same limit.
const LONGEST: u32 = 256 * 1024;

/// What the connections of an agent have in common.
struct AgentParts {
    ssh: WorldSsh,
    rules: AgentRules,
    /// The variable whose value tells to which command a process belongs.
    variable: String,
    events: EventSink,
    open: AtomicUsize,
}

/// Serves the agent in threads until this process ends. `variable` is the name of the environment variable whose value
/// tells to which command a process belongs.
///
/// # Errors
/// If the system has no thread.
pub fn serve_ssh_agent(ssh: WorldSsh, socket: UnixListener, variable: String, events: EventSink) -> io::Result<()> {
    let rules = AgentRules::new(&ssh);
    let parts = Arc::new(AgentParts { ssh, rules, variable, events, open: AtomicUsize::new(0) });
    thread::Builder::new().name("agent".into()).spawn(move || {
        for program in socket.incoming().flatten() {
            if parts.open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
                parts.open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let of_thread = Arc::clone(&parts);
            let begun = thread::Builder::new().name("agent".into()).spawn(move || {
                // A program that goes away ends its connection.
                let _ = of_thread.serve(program);
                of_thread.open.fetch_sub(1, Ordering::Relaxed);
            });
            if begun.is_err() {
                parts.open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    })?;
    Ok(())
}

impl AgentParts {
    fn serve(&self, mut program: UnixStream) -> io::Result<()> {
        let origin = self.origin(&program);
        let mut session = AgentSession::default();
        let mut agent = None;
        loop {
            let request = read_message(&mut program)?;
            let judged = session.judge(&request, &self.rules);
            let answer = match judged {
                Ok(asked) => self.ask(&mut agent, &asked, &request),
                Err(RefusedAgentRequest::Extension) => None,
                Err(refused) => {
                    let target = format!("ssh agent ({refused})");
                    self.events.send(BrokerEvent::AgentRefused { origin: origin.clone(), target });
                    None
                }
            };
            write_message(&mut program, answer.as_deref().unwrap_or(FAILURE))?;
        }
    }

    /// Asks the agent of the host. `None`: it cannot be asked.
    fn ask(&self, agent: &mut Option<UnixStream>, asked: &AgentRequest, request: &[u8]) -> Option<Vec<u8>> {
        let answer = self.exchange(agent, request);
        match asked {
            AgentRequest::List => self.rules.listed(&answer.ok()?),
            AgentRequest::Sign => answer.ok(),
            // An agent that knows no sessions has nothing to do with them.
            AgentRequest::Bind => Some(SUCCESS.to_vec()),
        }
    }

    fn exchange(&self, agent: &mut Option<UnixStream>, request: &[u8]) -> io::Result<Vec<u8>> {
        let socket = match agent {
            Some(socket) => socket,
            None => agent.insert(UnixStream::connect(&self.ssh.agent)?),
        };
        let answered = write_message(socket, request).and_then(|()| read_message(socket));
        if answered.is_err() {
            *agent = None;
        }
        answered
    }

    /// Returns the command of a program. A connection that a listener makes has none.
    fn origin(&self, program: &UnixStream) -> SharedOrigin {
        let process = sys::peer_process(program).ok();
        let mark = process.and_then(|process| sys::variable_of(process, &self.variable));
        let name = process.filter(|_| mark.is_some()).map(|process| sys::process_program(process).executable);
        Arc::new(ConnectionOrigin { mark, program: name.unwrap_or_default() }.into())
    }
}

fn read_message(from: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut message = Vec::new();
    from.take(length.into()).read_to_end(&mut message)?;
    if message.len() as u64 == u64::from(length) { Ok(message) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn write_message(to: &mut UnixStream, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len()).map_err(|_| io::ErrorKind::InvalidData)?;
    to.write_all(&[length.to_be_bytes().as_slice(), message].concat())
}
