//! Commands that begin with a snapshot. They start at once if this process has the snapshot, otherwise after it was
//! read.

use super::known::Snapshot;
use super::wanted::{Demand, Wanted};
use crate::error::Error;
use crate::request::{RawOptions, Request};
use crate::run::{Base, BaseState};
use protocol::plan::{Boot, Startup};

impl Base for Wanted {
    type State = Snapshot;

    fn of(raw: &RawOptions) -> Result<BaseState<Self>, Error> {
        Ok(match Demand::of(raw)? {
            Demand::Nothing => BaseState::Plain,
            Demand::Impossible(why) => BaseState::Known(Snapshot::none(why)),
            Demand::Wanted(wanted) => match wanted.at_hand() {
                Some(snapshot) => BaseState::Known(snapshot),
                None => BaseState::Unread(wanted),
            },
        })
    }

    fn read(self) -> impl Future<Output = Snapshot> + Send {
        self.take()
    }

    fn apply(snapshot: Snapshot, request: &mut Request) {
        let boot = snapshot.boot(request);
        request.startup =
            (!boot.is_empty()).then(|| Startup { boot: Boot { early: boot, ..Boot::default() }, ..Startup::default() });
    }
}
