//! Real servers, and what they answer to bytes that have come through an inspector.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::super::{ForwardingDecision, HandshakeInspector, HandshakeMismatch};

/// Starts them, in a process of their own.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../__test__/stress/gate/servers/all.mjs");

/// A server of this machine.
pub struct RealServer {
    /// `http`, `tls` or `starttls`.
    pub speaks: String,
    /// The name of its program.
    pub program: String,
    port: u16,
}

/// All servers, until they are dropped.
pub struct RealServers {
    process: Child,
    /// The servers.
    pub all: Vec<RealServer>,
}

/// A step of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExchangeStep {
    /// It writes.
    Write(Vec<u8>),
    /// It waits for the server.
    Await,
}

/// How a client behaves behind its last write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WritePace {
    /// It closes its side, so that the server ends the connection.
    Fast,
    /// It waits between its writes, and then for an answer, as a person would.
    Calm,
}

/// What has happened in a connection.
#[derive(Debug, Default)]
pub struct ServerExchange {
    /// The bytes of the server.
    pub answer: Vec<u8>,
    /// Why the inspector has refused the connection.
    pub refused: Option<HandshakeMismatch>,
}

impl RealServers {
    /// Starts all servers.
    pub fn start() -> Self {
        let command = Command::new("node").arg(PROGRAM).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = command.expect("node");
        let mut all = Vec::new();
        for line in BufReader::new(process.stdout.take().expect("its output")).lines() {
            let line = line.expect("a line");
            match line.split(' ').collect::<Vec<_>>()[..] {
                [speaks, program, port] => {
                    let port = port.parse().expect("a port");
                    all.push(RealServer { speaks: speaks.into(), program: program.into(), port });
                }
                ["ready"] => return Self { process, all },
                _ => panic!("{line}"),
            }
        }
        panic!("the servers did not start")
    }
}

impl Drop for RealServers {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

impl RealServer {
    /// Plays a client's steps, through an inspector if there is one.
    pub fn play(
        &self,
        steps: &[ExchangeStep],
        mut inspector: Option<HandshakeInspector>,
        pace: WritePace,
    ) -> ServerExchange {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_nodelay(true).expect("an option");
        let mut exchange = ServerExchange::default();
        for step in steps {
            let passed = match (step, &mut inspector) {
                (ExchangeStep::Await, inspector) => {
                    exchange.wait(&mut stream, inspector.as_mut(), Duration::from_millis(300));
                    continue;
                }
                (ExchangeStep::Write(bytes), None) => bytes.clone(),
                (ExchangeStep::Write(bytes), Some(inspector)) => match inspector.feed(bytes) {
                    Ok(ForwardingDecision::Pass) => bytes.clone(),
                    Ok(ForwardingDecision::ReplaceWith(passed)) => passed,
                    Err(mismatch) => {
                        exchange.refused = Some(mismatch);
                        break;
                    }
                },
            };
            // A server that has answered may be gone.
            if stream.write_all(&passed).is_err() {
                break;
            }
            if pace == WritePace::Calm {
                thread::sleep(Duration::from_millis(20));
            }
        }
        exchange.finish(&mut stream, inspector, pace);
        exchange
    }
}

impl ServerExchange {
    /// Reads once, and passes on what the inspector has kept until then. Returns whether there is more.
    fn wait(&mut self, stream: &mut TcpStream, inspector: Option<&mut HandshakeInspector>, limit: Duration) -> bool {
        let mut buffer = [0; 65_536];
        stream.set_read_timeout(Some(limit)).expect("a limit");
        let Some(count) = stream.read(&mut buffer).ok().filter(|count| *count > 0) else { return false };
        self.answer.extend_from_slice(&buffer[..count]);
        if let (Some(inspector), None) = (inspector, &self.refused) {
            match inspector.on_served(&buffer[..count]) {
                Ok(released) => drop(stream.write_all(&released)),
                Err(mismatch) => self.refused = Some(mismatch),
            }
        }
        true
    }

    /// Reads until the server has said all.
    fn finish(&mut self, stream: &mut TcpStream, mut inspector: Option<HandshakeInspector>, pace: WritePace) {
        let is_kept = self.refused.is_none() && inspector.as_ref().is_some_and(|inspector| inspector.kept_bytes() > 0);
        let quiet = if pace == WritePace::Calm { 700 } else { 100 };
        if is_kept || pace == WritePace::Calm {
            while self.wait(stream, inspector.as_mut(), Duration::from_millis(quiet)) {}
        }
        if pace == WritePace::Fast {
            let _ = stream.shutdown(Shutdown::Write);
            while self.wait(stream, inspector.as_mut(), Duration::from_secs(2)) {}
        }
    }
}
