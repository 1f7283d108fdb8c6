//! The free shims of the host and of each world, and the callers that wait for one.

use std::collections::{HashMap, VecDeque};

use tokio::sync::oneshot;

use super::error::HelperError;
use super::shim_pool::{ShimHandle, ShimPool, WarmShellCounts};
use protocol::plan::WorldId;

/// A caller that waits for a shim.
type WaitingShimCaller = oneshot::Sender<Result<ShimHandle, HelperError>>;

/// The shims of one world, or the shims outside of worlds.
#[derive(Default)]
pub struct WorldShims {
    /// The free shims.
    pub pool: ShimPool,
    /// Callers without a shim, in the order of their turn.
    pub waiting: VecDeque<WaitingShimCaller>,
    /// Shims that the supervisor was asked for.
    pub asked: usize,
}

/// The shims of this process.
#[derive(Default)]
pub struct ShimPools {
    plain: WorldShims,
    worlds: HashMap<WorldId, WorldShims>,
    /// The counts of worlds that have ended.
    past: WarmShellCounts,
}

impl WorldShims {
    /// Gives a shim to the next caller, or keeps it.
    pub fn hand_out(&mut self, mut shim: ShimHandle) {
        while let Some(caller) = self.waiting.pop_front() {
            match caller.send(Ok(shim)) {
                Ok(()) => return,
                Err(Ok(back)) => shim = back,
                Err(Err(_)) => return,
            }
        }
        self.pool.add(shim);
    }

    /// Fails all callers.
    pub fn fail(&mut self, error: &HelperError) {
        for caller in self.waiting.drain(..) {
            let _ = caller.send(Err(error.clone()));
        }
    }
}

impl ShimPools {
    /// Returns the shims of a world. `None` if the world has ended.
    pub fn shims_of(&mut self, world: Option<WorldId>) -> Option<&mut WorldShims> {
        match world {
            None => Some(&mut self.plain),
            Some(world) => self.worlds.get_mut(&world),
        }
    }

    /// Makes room for the shims of a new world.
    pub fn begin_world(&mut self, world: WorldId) {
        self.worlds.entry(world).or_default();
    }

    /// Drops the free shims of a world, which then exit. No other shim of the world is kept from here on.
    pub fn end_world(&mut self, world: WorldId) {
        if let Some(mut shims) = self.worlds.remove(&world) {
            let WarmShellCounts { used, stale, .. } = shims.pool.shells();
            self.past.used += used;
            self.past.stale += stale;
            shims.fail(&HelperError::Lost);
        }
    }

    /// Drops the free shims of a world that has ended too early. Its callers wait for shims of another world.
    pub fn renew_world(&mut self, world: WorldId) {
        let callers = self.worlds.get_mut(&world).map(|shims| (std::mem::take(&mut shims.waiting), shims.asked));
        let Some((waiting, asked)) = callers else { return };
        self.end_world(world);
        self.worlds.insert(world, WorldShims { waiting, asked, ..WorldShims::default() });
    }

    /// Gives a shim to the next caller of its world, or keeps it. Drops a shim of an ended world.
    pub fn hand_out(&mut self, shim: ShimHandle) {
        if let Some(shims) = self.shims_of(shim.world) {
            shims.hand_out(shim);
        }
    }

    /// Returns all shims, with their world.
    pub fn all(&mut self) -> impl Iterator<Item = (Option<WorldId>, &mut WorldShims)> {
        let worlds = self.worlds.iter_mut().map(|(world, shims)| (Some(*world), shims));
        std::iter::once((None, &mut self.plain)).chain(worlds)
    }

    /// Returns the number of requested shims that the supervisor has not answered.
    pub fn asked(&self) -> usize {
        self.plain.asked + self.worlds.values().map(|shims| shims.asked).sum::<usize>()
    }

    /// Returns the numbers of all warm shells.
    pub fn shells(&self) -> WarmShellCounts {
        let all = std::iter::once(&self.plain).chain(self.worlds.values()).map(|shims| shims.pool.shells());
        all.fold(self.past, |sum, one| WarmShellCounts {
            waiting: sum.waiting + one.waiting,
            used: sum.used + one.used,
            stale: sum.stale + one.stale,
        })
    }

    /// Forgets the shims of a supervisor that is gone.
    pub fn lose_supervisor(&mut self) {
        for (_, shims) in self.all() {
            shims.asked = 0;
            shims.pool.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsFd, OwnedFd};

    use super::*;

    const WORLD: WorldId = WorldId(1);

    fn shim(world: Option<WorldId>) -> (ShimHandle, OwnedFd) {
        let (ours, theirs) = sys::socket_pair().expect("sockets");
        (ShimHandle::new(1, ours).in_world(world), theirs)
    }

    #[test]
    fn a_shim_serves_its_own_world_alone() {
        let mut pools = ShimPools::default();
        pools.begin_world(WORLD);
        let (inside, _inside) = shim(Some(WORLD));
        pools.hand_out(inside);
        assert_eq!(pools.shims_of(Some(WORLD)).expect("it has not ended").pool.count(), 1);
        assert!(pools.shims_of(None).expect("the host's").pool.take(None).is_none());
    }

    #[test]
    fn no_shim_of_an_ended_world_is_kept_and_its_counts_are() {
        let mut pools = ShimPools::default();
        pools.begin_world(WORLD);
        let [(free, free_peer), (busy, busy_peer)] = [(); 2].map(|()| shim(Some(WORLD)));
        pools.hand_out(free);
        pools.shims_of(Some(WORLD)).expect("it has not ended").pool.count_used_shell();
        let (sender, mut caller) = oneshot::channel();
        pools.shims_of(Some(WORLD)).expect("it has not ended").waiting.push_back(sender);
        pools.end_world(WORLD);
        pools.hand_out(busy);
        assert!(pools.shims_of(Some(WORLD)).is_none());
        assert!([free_peer, busy_peer].iter().all(|peer| !sys::peer_alive(peer.as_fd())), "they exit");
        assert!(matches!(caller.try_recv(), Ok(Err(HelperError::Lost))));
        assert_eq!(pools.shells().used, 1);
    }
}
