//! Keeps a link to a target, and connects again after a cut until the lease there has ended.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::begin::begin;
use super::reach::{Reached, reach};
use super::settings::Settings;
use super::target::{State, Target};
use super::transport::Transport;
use crate::link::{Cut, carry};
use crate::messages::{Facts, FromProgram, Resume, ToProgram, decode};
use crate::post::Post;

/// Pauses between two attempts: the first, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];
/// Time the earlier program has to take a link over.
const TAKEN_OVER: Duration = Duration::from_secs(10);

const LEASE_ENDED: &str = "the link was down for longer than the lease";
const GONE: &str = "the program that ran it is gone: it was killed, or its machine was restarted";
const BROKEN: &str = "the program there broke the protocol";

/// How serving a link ended.
enum Served {
    /// The target was closed, or nobody has it any more.
    Over,
    /// What runs there is lost.
    Lost(&'static str),
    /// The link is cut.
    Cut,
}

/// Serves the target over this link and later ones, until the target is closed or lost.
pub(super) async fn keep(target: Weak<Target>, mut transport: Transport) {
    loop {
        let Some((settings, post, facts, state)) = target.upgrade().map(|target| {
            let instance = target.instance();
            (target.settings.clone(), Arc::clone(&instance.post), Arc::clone(&instance.facts), target.state.subscribe())
        }) else {
            return;
        };
        let why = match serve(&target, &mut transport, &post, settings.alive, state).await {
            // The transport says goodbye as it is dropped.
            Served::Over => return,
            Served::Lost(why) => why,
            Served::Cut => {
                transport.drop_link().await;
                set(&target, State::Disconnected);
                match again(&target, &settings, &post, &facts).await {
                    Some(Ok(new)) => {
                        transport = new;
                        set(&target, State::Connected);
                        continue;
                    }
                    Some(Err(why)) => why,
                    None => return,
                }
            }
        };
        if let Some(target) = target.upgrade() {
            set_of(&target, State::Lost);
            target.lose_runs(why);
        }
        return;
    }
}

async fn serve(
    target: &Weak<Target>,
    transport: &mut Transport,
    post: &Post,
    alive: Duration,
    mut state: watch::Receiver<State>,
) -> Served {
    let carried = carry(&mut transport.link, post, alive, |message| {
        let event = decode(&message.payload)?;
        if let Some(target) = target.upgrade() {
            target.happened(message.run, event);
        }
        Ok(())
    });
    tokio::select! {
        cut = carried => match cut {
            Cut::Lost(_) => Served::Cut,
            Cut::Goodbye => Served::Lost(GONE),
            Cut::Broken(_) => Served::Lost(BROKEN),
        },
        // An error: the target itself is gone.
        _ = state.wait_for(|state| *state == State::Closed) => Served::Over,
    }
}

/// Connects again until the lease ends. Returns the new transport, or why all is lost. `None`: the target was closed.
async fn again(
    target: &Weak<Target>,
    settings: &Settings,
    post: &Post,
    facts: &Facts,
) -> Option<Result<Transport, &'static str>> {
    let ends = Instant::now() + settings.lease;
    let [mut pause, longest] = PAUSES;
    loop {
        let left = ends.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Some(Err(LEASE_ENDED));
        }
        if target.upgrade().is_none_or(|target| target.state() == State::Closed) {
            return None;
        }
        if let Ok(Ok(reached)) = timeout(left, reach(settings)).await {
            match resume(reached, post, facts).await {
                Resumed::Here(transport) => return Some(Ok(transport)),
                Resumed::Gone(reached) => return Some(anew(target, settings, *reached).await),
                Resumed::Elsewhere => {}
            }
        }
        sleep(pause.min(left)).await;
        pause = (pause * 2).min(longest);
    }
}

/// How a new program took the wish to resume.
enum Resumed {
    /// The earlier program took the link over.
    Here(Transport),
    /// The earlier program is gone.
    Gone(Box<Reached>),
    /// It is not on this machine, or cannot be reached now.
    Elsewhere,
}

async fn resume(mut reached: Reached, post: &Post, facts: &Facts) -> Resumed {
    if reached.facts.machine != facts.machine {
        reached.transport.drop_link().await;
        return Resumed::Elsewhere;
    }
    let resume = Resume { socket: facts.socket.clone(), token: facts.token, received: post.received() };
    let link = &mut reached.transport.link;
    let answer = timeout(TAKEN_OVER, async {
        link.greet(&ToProgram::Resume(resume)).await.map_err(Cut::Lost)?;
        link.greeting::<FromProgram>().await
    });
    match answer.await {
        Ok(Ok(FromProgram::Resumed { received })) if post.resume(received).is_ok() => Resumed::Here(reached.transport),
        Ok(Ok(FromProgram::Gone)) => Resumed::Gone(Box::new(reached)),
        _ => {
            reached.transport.drop_link().await;
            Resumed::Elsewhere
        }
    }
}

/// Goes on with the new program. What ran in the earlier one is lost.
async fn anew(target: &Weak<Target>, settings: &Settings, reached: Reached) -> Result<Transport, &'static str> {
    let Ok((instance, transport)) = begin(settings, reached).await else { return Err(GONE) };
    if let Some(target) = target.upgrade() {
        *target.instance() = instance;
        target.lose_runs(GONE);
    }
    Ok(transport)
}

fn set(target: &Weak<Target>, state: State) {
    if let Some(target) = target.upgrade() {
        set_of(&target, state);
    }
}

/// Sets the state, unless the target was closed.
fn set_of(target: &Target, new: State) {
    target.state.send_if_modified(|state| {
        let differs = *state != State::Closed && *state != new;
        if differs {
            *state = new;
        }
        differs
    });
}
