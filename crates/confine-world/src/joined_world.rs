//! The way of another supervisor into a living world: the host of its tasks was started again. It joins through a
//! socket beside the private files of the world. A task's state file names that socket if the task's registry owns the
//! world, so a registry that is opened again finds the world of its tasks.

use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use super::init_messages::{self, JOIN};
use super::published_world::{PublishedWorld, roots_of};
use super::{ConfinedWorld, GuardFreshness, InitConnection, WorldNamespaces, private_directory};
use confine_gate::WorldStatusBoard;
use confine_policy::ConfinementPolicy;

/// Time init may take to answer, ms. Without an answer, a new world is made.
const PATIENCE: u16 = 2_000;

/// Number of descriptors that a world need not have.
const OPTIONAL: usize = 7;

/// A world of another supervisor.
#[derive(Debug)]
pub struct JoinedWorld {
    /// The world. It lives as long as any of its supervisors keeps it.
    pub world: ConfinedWorld,
    /// The policy with which it was made.
    pub policy: ConfinementPolicy,
    /// The way to the world's gate, if it has one.
    pub gate: Option<OwnedFd>,
}

/// The result of an attempt to join a world.
#[derive(Debug)]
pub enum JoinOutcome {
    /// It was joined.
    Joined(Box<JoinedWorld>),
    /// It is the world of another confinement.
    Other,
    /// It has ended, or a write root has become another directory since.
    Gone,
}

/// Joins the world whose private files lie in a directory of `state`, if it serves this policy.
pub fn join(policy: &ConfinementPolicy, state: &Path, home: &Path) -> JoinOutcome {
    let Ok(door) = private_directory::connect_to_init(state, home) else { return JoinOutcome::Gone };
    match receive(OwnedFd::from(door)) {
        Ok((published, _)) if !published.policy.serves(policy) => JoinOutcome::Other,
        Ok((published, joined)) if published.roots == roots_of(policy) => JoinOutcome::Joined(Box::new(joined)),
        _ => JoinOutcome::Gone,
    }
}

fn receive(door: OwnedFd) -> io::Result<(PublishedWorld, JoinedWorld)> {
    init_messages::send(&door, JOIN, 0, &[])?;
    let message = || {
        let message = init_messages::receive_within(&door, JOIN, PATIENCE)?;
        io::Result::Ok((message.number, message.fds.into_iter()))
    };
    let next = |fds: &mut std::vec::IntoIter<OwnedFd>| fds.next().ok_or(io::ErrorKind::UnexpectedEof);
    let (number, mut fds) = message()?;
    let published: PublishedWorld = init_messages::unpack(next(&mut fds)?)?;
    let (proc, ended, board) = (next(&mut fds)?, next(&mut fds)?, WorldStatusBoard::from(next(&mut fds)?));
    let (_, mut fds) = message()?;
    let [user, mounts, processes, ipc, names] =
        [next(&mut fds)?, next(&mut fds)?, next(&mut fds)?, next(&mut fds)?, next(&mut fds)?];
    let has = present_descriptors(number);
    let (_, mut fds) = message()?;
    let [network, gate, landlock, control, terminals, first, second] =
        has.map(|has| has.then(|| next(&mut fds)).transpose());
    let (network, gate, landlock, control, terminals) = (network?, gate?, landlock?, control?, terminals?);
    // Each command of a draft asks init, which makes the view fresh.
    let watches = first?.zip(second?).filter(|_| published.policy.draft.is_none());
    let fresh = |(first, second)| io::Result::Ok(GuardFreshness::new(board.try_clone()?, [first, second], Vec::new()));
    let freshness = watches.map(fresh).transpose()?;
    let namespaces =
        WorldNamespaces { init: None, user, mounts, processes, ipc, names, network, gate, proc, terminals, ended };
    let facts = published.facts.clone();
    let door = Some(RefCell::new(InitConnection::from_socket(door, freshness)));
    let world = ConfinedWorld {
        namespaces: Some(namespaces),
        landlock,
        seatbelt: None,
        filter: ConfinedWorld::usual_filter(),
        held: None,
        facts,
        board,
        door,
    };
    let policy = published.policy.clone();
    Ok((published, JoinedWorld { world, policy, gate: control }))
}

/// Returns the number of a message, which shows the optional descriptors that exist.
pub(super) fn presence_bits(has: [bool; OPTIONAL]) -> u64 {
    has.into_iter().rev().fold(0, |number, has| number << 1 | u64::from(has))
}

fn present_descriptors(number: u64) -> [bool; OPTIONAL] {
    std::array::from_fn(|bit| number >> bit & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_says_which_descriptors_there_are() {
        let some = [[0, 2, 6], [1, 3, 4], [3, 3, 5]].map(|some| std::array::from_fn(|bit| some.contains(&bit)));
        for has in [[false; OPTIONAL], [true; OPTIONAL]].into_iter().chain(some) {
            assert_eq!(present_descriptors(presence_bits(has)), has);
        }
    }
}
