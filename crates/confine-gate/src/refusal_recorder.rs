//! Records refusals, with the program that tried.

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use nix::unistd::Pid;

use crate::{WorldStatusBoard, WorldStatusSlot};
use confine_broker::ConnectionOrigin;
use confine_policy::{CountedSecretUse, SuggestedGrant};
use sys::InternetTransport;

use super::refusals::{CountedRefusal, GateRefusals, RefusalLog};

/// Seconds that the search for programs may take in a row, and per second. A search blocks everything else, and a world
/// whose attempts are refused all the time must cost the host little.
const SEARCH: f64 = 0.25;
const SEARCH_PER_SECOND: f64 = 0.05;

/// The longest mark of a command. A process may give itself any mark.
const LONGEST_MARK: usize = 256;

/// An attempt that is refused.
pub(super) struct RefusedAttempt {
    /// The name of the host in results, with its port.
    pub target: String,
    /// The change of the options that would allow the attempt.
    pub grant: Option<SuggestedGrant>,
    /// Transport of the attempt.
    pub transport: InternetTransport,
    /// The socket of the program.
    pub from: SocketAddr,
    /// The address that the program knows.
    pub to: Option<SocketAddr>,
}

/// The record of a world.
pub(super) struct RefusalRecorder {
    log: RefusalLog,
    /// The network namespace of the world.
    world: OwnedFd,
    /// The variable whose value tells to which command a process belongs.
    variable: String,
    /// The board for the number of refusals.
    board: Option<WorldStatusBoard>,
    refused: u64,
    /// Seconds that searches may take at the moment.
    allowance: f64,
    counted: Instant,
}

impl RefusalRecorder {
    /// Returns an empty record.
    pub fn new(world: OwnedFd, variable: String, board: Option<WorldStatusBoard>) -> Self {
        Self {
            log: RefusalLog::default(),
            world,
            variable,
            board,
            refused: 0,
            allowance: SEARCH,
            counted: Instant::now(),
        }
    }

    /// Records an attempt. The program still exists while it waits for the answer.
    pub fn record_attempt(&mut self, attempted: RefusedAttempt) {
        let found = self.find_program(attempted.transport, attempted.from).unwrap_or_default();
        self.record(found, attempted);
    }

    /// Records an attempt of a process that is known.
    pub fn record_attempt_of(&mut self, process: Pid, attempted: RefusedAttempt) {
        self.record((sys::process_program(process).executable, sys::variable_of(process, &self.variable)), attempted);
    }

    /// Records a use of a secret.
    pub fn record_use(&mut self, mark: Option<String>, of: CountedSecretUse) {
        self.log.add_use(mark, of);
        self.post();
    }

    /// Records an attempt of a command that is known.
    pub fn record_attempt_in(&mut self, origin: ConnectionOrigin, attempted: RefusedAttempt) {
        self.record((origin.program, origin.mark), attempted);
    }

    /// Returns the command with a socket.
    pub fn origin(&mut self, transport: InternetTransport, from: SocketAddr) -> ConnectionOrigin {
        let (program, mark) = self.find_program(transport, from).unwrap_or_default();
        ConnectionOrigin { program, mark: mark.filter(|mark| mark.len() <= LONGEST_MARK) }
    }

    fn record(&mut self, (program, mark): (String, Option<String>), attempted: RefusedAttempt) {
        let RefusedAttempt { target, grant, to, .. } = attempted;
        let mark = mark.filter(|mark| mark.len() <= LONGEST_MARK);
        let program = program.strip_suffix(" (deleted)").unwrap_or(&program).to_owned();
        self.log.add(mark, CountedRefusal { target, program, count: 1, grant, address: to });
        self.post();
    }

    /// Tells the world's processes that there is something to take.
    fn post(&mut self) {
        self.refused += 1;
        // If this fails, a shim misses a record, and nothing else is lost.
        let _ = self.board.as_ref().map_or(Ok(()), |board| board.post(WorldStatusSlot::Refusals, self.refused));
    }

    /// Takes the refusals of one command, or all.
    pub fn take(&mut self, mark: Option<&str>) -> GateRefusals {
        self.log.take(mark)
    }

    /// Returns whether a server listens at a port of the world's loopback.
    pub fn listens(&self, port: u16) -> bool {
        self.processes().first().is_some_and(|pid| sys::listens(*pid, port))
    }

    fn processes(&self) -> Vec<Pid> {
        sys::processes_in_network(self.world.as_fd())
    }

    /// Returns the program with a socket, and the mark of its command.
    fn find_program(&mut self, transport: InternetTransport, from: SocketAddr) -> Option<(String, Option<String>)> {
        let begun = Instant::now();
        let passed = (begun - self.counted).as_secs_f64();
        self.counted = begun;
        self.allowance = (self.allowance + passed * SEARCH_PER_SECOND).min(SEARCH);
        if self.allowance <= 0.0 {
            return None;
        }
        let owner = sys::socket_owner(&self.processes(), transport, from);
        let found = owner.map(|pid| (sys::process_program(pid).executable, sys::variable_of(pid, &self.variable)));
        self.allowance -= begun.elapsed().as_secs_f64();
        found
    }
}
