//! What this process knows: each snapshot is taken once, by whoever asks first.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::OnceCell;

use super::asked::Wanted;
use super::code::Code;
use super::{check, kept, read};
use crate::request::Request;

/// Snapshots that are known at once; the one that was asked for last stands last.
const MOST: usize = 8;
/// With them in its environment bash reads something else first, or nothing.
const UNFIT: [&str; 2] = ["BASH_ENV", "POSIXLY_CORRECT"];

/// What came of it, or why there is none. A failure is known as long as the files are what they were: rc files that hang cost their
/// time once.
type Taken = Arc<OnceCell<Result<Arc<Code>, String>>>;

static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

struct Known {
    key: u128,
    since: Instant,
    taken: Taken,
}

/// A snapshot as one command gets it, or why it gets none.
#[derive(Clone)]
pub struct Snapshot {
    code: Result<Arc<Code>, String>,
    own_path: bool,
}

impl Wanted {
    /// Where it is known already.
    pub fn at_hand(&self) -> Option<Snapshot> {
        let code = self.place().get()?.clone();
        Some(Snapshot { code, own_path: self.own_path })
    }

    /// Taken, where it is not known yet. That goes on if nobody waits for it any more.
    pub async fn take(self) -> Snapshot {
        let (place, own_path) = (self.place(), self.own_path);
        let taking = tokio::spawn(async move { place.get_or_init(|| take(self)).await.clone() });
        let code = taking.await.unwrap_or_else(|_| Err("agent-bash failed as it took it; please report it".to_owned()));
        Snapshot { code, own_path }
    }

    fn place(&self) -> Taken {
        let mut known = known();
        known.retain(|known| known.since.elapsed() < kept::LONGEST);
        let found = known.iter().position(|known| known.key == self.key).map(|at| known.remove(at));
        let one = found.unwrap_or_else(|| Known { key: self.key, since: Instant::now(), taken: Taken::default() });
        let taken = Arc::clone(&one.taken);
        if known.len() == MOST {
            known.remove(0);
        }
        known.push(one);
        taken
    }
}

fn known() -> MutexGuard<'static, Vec<Known>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn take(wanted: Wanted) -> Result<Arc<Code>, String> {
    let fault = |_| "agent-bash failed as it looked for it; please report it".to_owned();
    // Home folders may lie on slow disks, or far away.
    let (wanted, found) = tokio::task::spawn_blocking(move || {
        let found = kept::find(&wanted);
        (wanted, found)
    })
    .await
    .map_err(fault)?;
    if let Some(code) = found {
        return Ok(Arc::new(code));
    }
    let code = read::read(&wanted).await?;
    let plain = code.plain();
    let code = match check::check(&wanted, &plain).await {
        Ok(()) => Arc::new(plain),
        Err(_) => {
            check::check(&wanted, &code).await?;
            Arc::new(code)
        }
    };
    let keep = Arc::clone(&code);
    tokio::task::spawn_blocking(move || kept::keep(&wanted, &keep));
    Ok(code)
}

impl Snapshot {
    /// One that cannot be had.
    pub fn none(why: String) -> Self {
        Self { code: Err(why), own_path: false }
    }

    /// Whether a function or alias in it may set a trap.
    pub fn mentions_trap(&self) -> bool {
        self.code.as_ref().is_ok_and(|code| code.mentions_trap)
    }

    /// What the shell of this command reads first; without a snapshot the command gets a note of why.
    pub fn boot(&self, request: &mut Request) -> Arc<[u8]> {
        let unfit = UNFIT.iter().find(|name| request.environment.get(name).is_some());
        let why = match (&self.code, unfit) {
            (Ok(code), None) => return code.boot(self.own_path),
            (Ok(_), Some(name)) => format!("with {name} in its environment bash reads other files first, or none"),
            (Err(why), _) => why.clone(),
        };
        request.notes.push(format!("the command ran without the snapshot of the user's shell: {why}"));
        Arc::from([])
    }
}
