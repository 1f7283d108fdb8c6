//! The worlds of this process, as far as the addon has to know them. The supervisor makes and keeps them.

use std::collections::HashMap;
use std::fs::DirBuilder;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use nix::unistd::geteuid;
use tokio::sync::{Mutex, oneshot};

use super::error::HelperError;
use confine_policy::{ConfinementMechanism, OwnedPolicy, ReportedWorldError, WorldFacts};
use confine_world::InitConnection;
use protocol::WorldEntryPoints;
use protocol::plan::WorldId;
use sys::DeviceInode;

/// The most worlds that wait for their first command. Each of them has a few processes, and owners that JavaScript has
/// dropped end only when they are collected.
const MOST_BEGUN: usize = 4;

/// Returns the directory in which worlds keep their private files: the first of several that this user can have.
/// Policies hide all of them.
pub fn state_of_worlds() -> PathBuf {
    static STATE: OnceLock<PathBuf> = OnceLock::new();
    STATE
        .get_or_init(|| {
            let home = sys::home().filter(|home| home.starts_with('/'));
            let home = home.map(|home| Path::new(&home).join(".local/state/agent-bash/worlds"));
            let own = format!("agent-bash-{}/worlds", geteuid());
            let shared = ["/var/tmp", "/tmp"].map(|directory| Path::new(directory).join(&own));
            let mut places = home.into_iter().chain(shared.clone());
            let [_, last] = shared;
            places.find(|place| is_ours(place)).unwrap_or(last)
        })
        .clone()
}

/// Creates a directory. Returns whether no other user can change its content.
fn is_ours(directory: &Path) -> bool {
    let is_own = |path: &Path| {
        std::fs::symlink_metadata(path)
            .is_ok_and(|data| data.is_dir() && data.uid() == geteuid().as_raw() && data.mode() & 0o022 == 0)
    };
    DirBuilder::new().recursive(true).mode(0o700).create(directory).is_ok()
        && is_own(directory)
        && directory.parent().is_some_and(is_own)
}

/// Why a command has no world.
#[derive(Debug, Clone)]
pub enum WorldFailure {
    /// The world cannot be made.
    NotMade(ReportedWorldError),
    /// No helper process is available.
    Helper(HelperError),
}

/// The facts about a world, once it is made.
type WorldFactsResult = Result<Arc<WorldFacts>, WorldFailure>;

/// The world of a confinement.
#[derive(Debug, PartialEq, Eq)]
pub enum WorldEntry {
    /// A world that has commands already.
    Known(WorldId),
    /// A new world.
    New {
        /// The world.
        id: WorldId,
        /// Worlds that no command can enter, because a write root is gone or has become another directory.
        ended: Vec<WorldId>,
    },
}

/// The worlds of this process.
#[derive(Default)]
pub struct WorldTable {
    known: HashMap<WorldId, RequestedWorld>,
    ids: HashMap<Arc<OwnedPolicy>, WorldId>,
    next: u64,
}

struct RequestedWorld {
    confine: Arc<OwnedPolicy>,
    /// The write roots at that time. If a write root was replaced by another directory, that directory is not in the
    /// world.
    roots: Vec<Option<DeviceInode>>,
    /// The repositories at that time, as long as the world waits for its first command. The grants for git are those of
    /// the time at which a world is made.
    begun: Option<Vec<Option<DeviceInode>>>,
    facts: Option<Arc<WorldFacts>>,
    /// Whether a command of the world has ended.
    has_run: bool,
    /// The directory with the world's pseudo-terminals. `None`: the host's.
    terminals: Option<Arc<OwnedFd>>,
    /// The way to the world's first process.
    door: Option<Arc<Mutex<InitConnection>>>,
    /// A pidfd of that process, if this host made the world.
    init: Option<OwnedFd>,
    /// The directory of the registry that owns the world, whose running tasks may have an equal world.
    registry: Option<PathBuf>,
    /// Whether the supervisor was asked for the world.
    asked: bool,
    /// Whether the world has ended too early and the supervisor was not asked for another world yet.
    lost: bool,
    waiting: Vec<oneshot::Sender<WorldFactsResult>>,
}

/// Returns the `.git` entries in and above the write roots of a confinement as they are now.
fn repositories(confine: &OwnedPolicy) -> Vec<Option<DeviceInode>> {
    let places = confine.policy.write.iter().flat_map(|root| root.ancestors());
    places.map(|place| DeviceInode::of(&place.join(".git")).ok()).collect()
}

/// Returns the write roots of a confinement as they are now.
fn roots(confine: &OwnedPolicy) -> Vec<Option<DeviceInode>> {
    confine.policy.write.iter().map(|root| DeviceInode::of(root).ok()).collect()
}

impl WorldTable {
    /// Returns the world of this confinement for a command. `registry` is the directory of the registry that owns the
    /// world, if a registry does.
    pub fn world_for(&mut self, confine: &Arc<OwnedPolicy>, registry: Option<&Path>) -> WorldEntry {
        let roots = roots(confine);
        let before = self.ids.get(confine).copied();
        let is_usable = |world: &RequestedWorld| {
            world.roots == roots && world.begun.as_ref().is_none_or(|seen| *seen == repositories(&world.confine))
        };
        if let Some(id) = before
            && let Some(world) = self.known.get_mut(&id).filter(|world| is_usable(world))
        {
            world.begun = None;
            return WorldEntry::Known(id);
        }
        self.next += 1;
        let id = WorldId(self.next);
        self.ids.insert(Arc::clone(confine), id);
        let world = RequestedWorld {
            confine: Arc::clone(confine),
            roots,
            begun: None,
            facts: None,
            has_run: false,
            terminals: None,
            door: None,
            init: None,
            // Messages and state files are text.
            registry: registry.filter(|registry| registry.to_str().is_some()).map(Path::to_owned),
            asked: false,
            lost: false,
            waiting: Vec::new(),
        };
        let ended = self.end_closed(before);
        self.known.insert(id, world);
        WorldEntry::New { id, ended }
    }

    /// Returns a new world of this confinement, which waits for its first command. `None`: the world exists, or too
    /// many worlds wait already.
    pub fn begin_world(&mut self, confine: &Arc<OwnedPolicy>) -> Option<WorldEntry> {
        let waiting = self.known.values().filter(|world| world.begun.is_some()).count();
        if waiting >= MOST_BEGUN || self.ids.contains_key(confine) {
            return None;
        }
        let begun = repositories(confine);
        let entry = self.world_for(confine, None);
        let world = self.ids.get(confine).and_then(|id| self.known.get_mut(id))?;
        world.begun = Some(begun);
        Some(entry)
    }

    /// Ends the worlds that no command can enter, and the world that is replaced. Returns them. A host may confine each
    /// command to a directory of its own, and remove the directory afterwards.
    fn end_closed(&mut self, replaced: Option<WorldId>) -> Vec<WorldId> {
        let is_closed =
            |id: &WorldId, world: &RequestedWorld| Some(*id) == replaced || world.roots != roots(&world.confine);
        let closed: Vec<_> = self.known.iter().filter(|(id, world)| is_closed(id, world)).map(|(id, _)| *id).collect();
        for id in &closed {
            self.known.remove(id);
        }
        self.ids.retain(|_, id| !closed.contains(id));
        closed
    }

    /// Returns the way to the first process of the world of a confinement, if that world is made.
    pub fn init_of(&self, confine: &Arc<OwnedPolicy>) -> Option<Arc<Mutex<InitConnection>>> {
        self.init_connection(*self.ids.get(confine)?)
    }

    /// Returns the facts of a world that is made.
    pub fn facts(&self, id: WorldId) -> Option<Arc<WorldFacts>> {
        self.known.get(&id)?.facts.clone()
    }

    /// Returns whether a world waits for its first command.
    pub fn is_begun(&self, id: WorldId) -> bool {
        self.known.get(&id).is_some_and(|world| world.begun.is_some())
    }

    /// Records the end of a command. Returns whether it is the first one of a world of namespaces.
    pub fn take_first_end(&mut self, id: WorldId) -> bool {
        let Some(world) = self.known.get_mut(&id) else { return false };
        let has_run = std::mem::replace(&mut world.has_run, true);
        !has_run && world.facts.as_ref().is_some_and(|facts| facts.way == ConfinementMechanism::Namespaces)
    }

    /// Returns the directory with the pseudo-terminals of a world that is made. `None`: the host's.
    pub fn terminals(&self, id: WorldId) -> Option<Arc<OwnedFd>> {
        self.known.get(&id)?.terminals.clone()
    }

    /// Waits for the facts of a world. `None` if it has ended.
    pub fn wait_for_facts(&mut self, id: WorldId) -> Option<oneshot::Receiver<WorldFactsResult>> {
        let (sender, receiver) = oneshot::channel();
        self.known.get_mut(&id)?.waiting.push(sender);
        Some(receiver)
    }

    /// Returns the way to the first process of a world that is made.
    pub fn init_connection(&self, id: WorldId) -> Option<Arc<Mutex<InitConnection>>> {
        self.known.get(&id)?.door.clone()
    }

    /// Returns the confinement of a world that the supervisor has to be asked for now, and the registry that owns the
    /// world.
    pub fn take_unasked(&mut self, id: WorldId) -> Option<(Arc<OwnedPolicy>, Option<PathBuf>)> {
        let world = self.known.get_mut(&id).filter(|world| !world.asked)?;
        (world.asked, world.lost) = (true, false);
        Some((Arc::clone(&world.confine), world.registry.clone()))
    }

    /// Returns whether a world has ended too early, and its callers need another world.
    pub fn is_lost(&self, id: WorldId) -> bool {
        self.known.get(&id).is_some_and(|world| world.lost)
    }

    /// Returns whether a shim that was wanted for an ended world can come from another world, which is not made in
    /// vain.
    pub fn is_replaced(&self, id: WorldId) -> bool {
        self.known.get(&id).is_some_and(|world| world.lost || world.asked)
    }

    /// Handles the answer of the supervisor. A world that could not be made, or has ended too early, is tried again
    /// with its next command.
    pub fn on_answer(&mut self, id: WorldId, answer: Result<WorldFacts, ReportedWorldError>, ways: WorldEntryPoints) {
        let Some(world) = self.known.get_mut(&id) else { return };
        let answer = answer.map(Arc::new).map_err(WorldFailure::NotMade);
        world.lost = answer.is_err() && world.facts.is_some();
        world.facts = answer.as_ref().ok().cloned();
        world.terminals = ways.terminals.map(Arc::new);
        world.asked = answer.is_ok();
        world.init = ways.init;
        world.door = ways.door.map(|door| Arc::new(Mutex::new(InitConnection::new(door))));
        for waiting in world.waiting.drain(..) {
            let _ = waiting.send(answer.clone());
        }
    }

    /// Fails the callers of a world.
    pub fn fail(&mut self, id: WorldId, error: &HelperError) {
        let Some(world) = self.known.get_mut(&id) else { return };
        world.asked = false;
        for waiting in world.waiting.drain(..) {
            let _ = waiting.send(Err(WorldFailure::Helper(error.clone())));
        }
    }

    /// Forgets all that the supervisor has made, since it is gone. Returns the worlds that callers wait for.
    pub fn lose_supervisor(&mut self) -> Vec<WorldId> {
        for world in self.known.values_mut() {
            (world.facts, world.terminals, world.door, world.init) = (None, None, None, None);
            world.lost = false;
            world.asked = false;
        }
        self.known.iter().filter(|(_, world)| !world.waiting.is_empty()).map(|(id, _)| *id).collect()
    }

    /// Ends the worlds of an owner. Returns them, each with a pidfd of its first process if this host made it.
    pub fn end_owner(&mut self, owner: u64) -> Vec<(WorldId, Option<OwnedFd>)> {
        self.ids.retain(|confine, _| confine.owner != owner);
        self.known.extract_if(|_, world| world.confine.owner == owner).map(|(id, world)| (id, world.init)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use confine_policy::ConfinementPolicy;

    fn confine(root: &Path, owner: u64) -> Arc<OwnedPolicy> {
        Arc::new(OwnedPolicy { policy: ConfinementPolicy::sample(root), owner })
    }

    fn id(found: WorldEntry) -> WorldId {
        match found {
            WorldEntry::Known(id) | WorldEntry::New { id, .. } => id,
        }
    }

    fn ended(worlds: &mut WorldTable) -> Vec<WorldId> {
        worlds.end_owner(1).into_iter().map(|(id, _)| id).collect()
    }

    #[test]
    fn equal_confinements_of_one_owner_share_a_world_that_ends_with_it() {
        let (mut worlds, root) = (WorldTable::default(), Path::new("/"));
        let first = id(worlds.world_for(&confine(root, 1), None));
        assert_eq!(worlds.world_for(&confine(root, 1), None), WorldEntry::Known(first));
        let other = worlds.world_for(&confine(root, 2), None);
        assert!(matches!(&other, WorldEntry::New { id, ended } if *id != first && ended.is_empty()));
        assert_eq!(ended(&mut worlds), [first]);
        assert!(matches!(worlds.world_for(&confine(root, 1), None), WorldEntry::New { .. }));
        assert_eq!(worlds.world_for(&confine(root, 2), None), WorldEntry::Known(id(other)));
    }

    #[test]
    fn a_write_root_that_is_another_directory_by_now_is_in_another_world() {
        let mut worlds = WorldTable::default();
        let place = tempfile::tempdir().expect("a directory");
        let root = place.path().join("root");
        fs::create_dir(&root).expect("made");
        let first = id(worlds.world_for(&confine(&root, 1), None));
        fs::rename(&root, place.path().join("moved")).expect("moved");
        fs::create_dir(&root).expect("made again");
        let second = worlds.world_for(&confine(&root, 1), None);
        assert!(matches!(&second, WorldEntry::New { ended, .. } if *ended == [first]), "{second:?}");
        assert_eq!(ended(&mut worlds), [id(second)]);
    }

    #[test]
    fn worlds_of_removed_directories_end_with_the_next_one() {
        let mut worlds = WorldTable::default();
        let [first, second] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
        let gone = id(worlds.world_for(&confine(first.path(), 1), None));
        let stays = id(worlds.world_for(&confine(second.path(), 2), None));
        drop(first);
        let next = worlds.world_for(&confine(Path::new("/"), 1), None);
        assert!(matches!(&next, WorldEntry::New { ended, .. } if *ended == [gone]), "{next:?}");
        assert_eq!(worlds.world_for(&confine(second.path(), 2), None), WorldEntry::Known(stays));
    }

    #[test]
    fn a_world_that_was_begun_is_that_of_the_first_command() {
        let mut worlds = WorldTable::default();
        let root = tempfile::tempdir().expect("a directory");
        let confine = confine(root.path(), 1);
        let begun = id(worlds.begin_world(&confine).expect("begun"));
        assert_eq!(worlds.begin_world(&confine), None, "it exists");
        assert_eq!(worlds.world_for(&confine, None), WorldEntry::Known(begun));
        fs::create_dir(root.path().join(".git")).expect("made");
        assert_eq!(worlds.world_for(&confine, None), WorldEntry::Known(begun), "it has a command");
    }

    #[test]
    fn a_world_that_was_begun_before_a_repository_was_there_is_made_again() {
        let mut worlds = WorldTable::default();
        let top = tempfile::tempdir().expect("a directory");
        let root = top.path().join("below");
        fs::create_dir(&root).expect("made");
        let confine = confine(&root, 1);
        let begun = id(worlds.begin_world(&confine).expect("begun"));
        fs::create_dir(top.path().join(".git")).expect("made");
        let found = worlds.world_for(&confine, None);
        assert!(matches!(&found, WorldEntry::New { ended, .. } if *ended == [begun]), "{found:?}");
        assert_eq!(ended(&mut worlds), [id(found)]);
    }

    #[test]
    fn only_a_few_worlds_wait_for_their_first_command() {
        let mut worlds = WorldTable::default();
        let all: Vec<_> = (1..=MOST_BEGUN as u64 + 1).map(|owner| confine(Path::new("/"), owner)).collect();
        let begun: Vec<_> = all.iter().map(|confine| worlds.begin_world(confine).is_some()).collect();
        assert_eq!(begun.iter().filter(|begun| **begun).count(), MOST_BEGUN);
        assert!(matches!(worlds.world_for(&all[0], None), WorldEntry::Known(_)));
        assert!(worlds.begin_world(&all[MOST_BEGUN]).is_some(), "one of them has a command by now");
    }

    #[test]
    fn a_world_that_could_not_be_made_is_asked_for_again() {
        let mut worlds = WorldTable::default();
        let world = id(worlds.world_for(&confine(Path::new("/"), 1), None));
        assert!(worlds.take_unasked(world).is_some() && worlds.take_unasked(world).is_none(), "once");
        let mut waiting = worlds.wait_for_facts(world).expect("it has not ended");
        worlds.on_answer(world, Err(ReportedWorldError::Missing(Vec::new())), WorldEntryPoints::default());
        assert!(matches!(waiting.try_recv(), Ok(Err(WorldFailure::NotMade(_)))));
        assert!(worlds.facts(world).is_none() && worlds.take_unasked(world).is_some());
        worlds.on_answer(world, Ok(WorldFacts::default()), WorldEntryPoints::default());
        assert!(worlds.facts(world).is_some() && worlds.take_unasked(world).is_none());
        worlds.lose_supervisor();
        assert!(worlds.facts(world).is_none() && worlds.take_unasked(world).is_some());
    }
}
