//! Worlds, as callers request them.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::error::HelperError;
use super::super::secret_values::answer_gate;
use super::super::world_table::{WorldEntry, WorldFailure, state_of_worlds};
use super::{HelperProcesses, HelperState};
use confine_policy::{OwnedPolicy, ReportedWorldError, WorldFacts};
use protocol::plan::WorldId;
use protocol::{ToSupervisor, WorldEntryPoints};

impl HelperProcesses {
    /// Returns the world of a confinement. The supervisor makes the world, unless it exists. For a registry, this may
    /// be the world of a running task in its directory.
    pub fn world(&'static self, confine: &Arc<OwnedPolicy>, registry: Option<&Path>) -> WorldId {
        let mut state = self.state();
        let found = state.worlds.world_for(confine, registry);
        self.prepare_world(&mut state, found)
    }

    /// Begins the world of an owner before its first command. `None`: a command has asked for the world already, the
    /// owner has ended, or too many worlds wait for a command. `has_ended` is asked while no owner can end.
    pub fn begin_world(&'static self, confine: &Arc<OwnedPolicy>, has_ended: impl FnOnce() -> bool) -> Option<WorldId> {
        let mut state = self.state();
        let begun = if has_ended() { None } else { state.worlds.begin_world(confine) };
        begun.map(|found| self.prepare_world(&mut state, found))
    }

    /// Begins the world of an owner after those of the owners that were made before.
    pub fn begin_in_turn(&self, begin: impl Future<Output = ()> + Send + 'static) {
        self.begins.add(begin);
    }

    /// Asks the supervisor for a world. A new world gets a shim for the first command, which is forked while that
    /// command is prepared.
    fn prepare_world(&'static self, state: &mut HelperState, found: WorldEntry) -> WorldId {
        match found {
            WorldEntry::Known(id) => {
                self.ask_for_world(state, id);
                id
            }
            WorldEntry::New { id, ended } => {
                state.pools.begin_world(id);
                ended.into_iter().for_each(|ended| end_world_when_idle(state, ended));
                if HelperError::check_descriptors().is_ok() {
                    self.request_shims(state, Some(id), 1);
                }
                id
            }
        }
    }

    /// Returns the facts of a world that is made already.
    pub fn world_facts(&self, id: WorldId) -> Option<Arc<WorldFacts>> {
        self.state().worlds.facts(id)
    }

    /// Returns the directory with the pseudo-terminals of a world that is made. `None`: the host's.
    pub fn world_terminals(&self, id: WorldId) -> Option<Arc<OwnedFd>> {
        self.state().worlds.terminals(id)
    }

    /// Waits until a world is made. Returns its facts.
    pub async fn world_made(&'static self, id: WorldId) -> Result<Arc<WorldFacts>, WorldFailure> {
        let lost = WorldFailure::Helper(HelperError::Lost);
        let answer = {
            let mut state = self.state();
            if let Some(facts) = state.worlds.facts(id) {
                return Ok(facts);
            }
            let Some(answer) = state.worlds.wait_for_facts(id) else { return Err(lost) };
            self.ask_for_world(&mut state, id);
            answer
        };
        answer.await.unwrap_or(Err(lost))
    }

    /// Lets a world read files that a result of its commands names, each at its own path. If a command has put
    /// something in the way of a file, the file stays invisible.
    pub async fn show_files(&self, id: WorldId, paths: Vec<PathBuf>) {
        if paths.is_empty() {
            return;
        }
        let Some(door) = self.state().worlds.init_connection(id) else {
            let home = self.world_facts(id).and_then(|facts| facts.home.clone());
            home.iter().for_each(|home| paths.iter().for_each(|path| drop(confine_world::show_file(home, path))));
            return;
        };
        // Callers wait here for their turn, so that one thread suffices for all of them.
        let mut door = door.lock_owned().await;
        let shown = self.runtime().spawn_blocking(move || {
            paths.iter().for_each(|path| drop(door.show(path)));
        });
        let _ = shown.await;
    }

    /// Returns a new socket of the network of a confinement's world, and the address at which it reaches the server of
    /// a TCP port of the loopback. `None`: there is no such server, or no world.
    ///
    /// # Errors
    /// If the world is ending.
    pub async fn reach_server(
        &self,
        confine: &Arc<OwnedPolicy>,
        port: u16,
    ) -> io::Result<Option<(OwnedFd, SocketAddr)>> {
        let Some(door) = self.state().worlds.init_of(confine) else { return Ok(None) };
        let mut door = door.lock_owned().await;
        self.runtime().spawn_blocking(move || door.reach(port)).await?
    }

    /// Handles the supervisor's answer about a world, or its report that a world has ended too early.
    pub(super) fn on_world(
        &self,
        id: WorldId,
        made: Result<WorldFacts, ReportedWorldError>,
        mut ways: WorldEntryPoints,
    ) {
        if let Some(gate) = ways.values.take() {
            self.runtime.spawn(answer_gate(gate));
        }
        let mut state = self.state();
        state.worlds.on_answer(id, made, ways);
        if state.worlds.is_lost(id) {
            state.pools.renew_world(id);
        }
    }

    /// Returns whether a world still waits for its first command.
    pub fn waits_for_command(&self, id: WorldId) -> bool {
        self.state().worlds.is_begun(id)
    }

    /// Handles the end of a command. After the first one of a world, the world gets a second shim, in which a shell can
    /// be warm while a command runs, and the supervisor keeps a blank world for the next owner.
    pub fn on_command_end(&'static self, id: WorldId) {
        let mut state = self.state();
        if !state.worlds.take_first_end(id) {
            return;
        }
        if HelperError::check_descriptors().is_ok() {
            self.request_shims(&mut state, Some(id), 1);
        }
        if let Some(supervisor) = &state.supervisor {
            let _ = protocol::send(&supervisor.socket, ToSupervisor::KeepBlank(state_of_worlds()));
        }
    }

    /// Ends the worlds of an owner. They live as long as a command or a task runs in them. Returns pidfds of the first
    /// processes of those that this host made.
    pub fn end_worlds(&self, owner: u64) -> Vec<OwnedFd> {
        let mut state = self.state();
        let ended = state.worlds.end_owner(owner);
        ended.iter().for_each(|(id, _)| end_world_when_idle(&mut state, *id));
        ended.into_iter().filter_map(|(_, init)| init).collect()
    }

    /// Asks the supervisor for a world, unless it was asked already.
    pub(super) fn ask_for_world(&'static self, state: &mut HelperState, id: WorldId) {
        if state.worlds.facts(id).is_some() {
            return;
        }
        if let Err(error) = HelperError::check_descriptors() {
            return state.worlds.fail(id, &error);
        }
        let supervisor = match self.supervisor(state) {
            Ok(supervisor) => supervisor,
            Err(error) => return state.worlds.fail(id, &error),
        };
        if let Some((confine, registry)) = state.worlds.take_unasked(id) {
            // The supervisor's listener notices its end, and asks again for waiting callers.
            let (policy, state) = (Box::new(confine.policy.clone()), state_of_worlds());
            let world = ToSupervisor::World { id, policy, state, registry };
            let _ = protocol::send(&supervisor.socket, world);
        }
    }
}

/// Ends a world as soon as its shims have exited.
fn end_world_when_idle(state: &mut HelperState, id: WorldId) {
    state.pools.end_world(id);
    if let Some(supervisor) = &state.supervisor {
        let _ = protocol::send(&supervisor.socket, ToSupervisor::EndWorld(id));
    }
}
