//! The function calls and counted loops around a place.

use std::rc::Rc;

use crate::units::Id;

/// The function calls and the counted loops around a place, the innermost first.
pub type Frames = Option<Rc<Frame>>;

/// One function call, or one counted loop.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The command that calls, or the loop.
    pub site: Id,
    /// The rounds of the loop after this one. `None` for a call.
    pub left: Option<usize>,
    /// The frames around it.
    pub outer: Frames,
}

/// Returns the frames outside of the innermost one of this site, or all if there is none.
pub fn outside(frames: &Frames, site: Id) -> Frames {
    each(frames).find(|frame| frame.site == site).map_or_else(|| frames.clone(), |frame| frame.outer.clone())
}

/// Returns the innermost function call.
pub fn call(frames: &Frames) -> Option<&Rc<Frame>> {
    each(frames).find(|frame| frame.left.is_none())
}

/// Rounds that are counted.
const ROUNDS: usize = 64;

/// Returns the frames of a function that is called at this site.
pub fn called(site: Id, outer: &Frames) -> Frames {
    Some(Rc::new(Frame { site, left: None, outer: outer.clone() }))
}

/// Returns the frames of the first round of a loop. `None` if its rounds are not counted.
pub fn first_round(site: Id, rounds: Option<usize>, outer: &Frames) -> Option<Frames> {
    let left = rounds.filter(|rounds| (1..=ROUNDS).contains(rounds))? - 1;
    Some(Some(Rc::new(Frame { site, left: Some(left), outer: outer.clone() })))
}

/// What follows a round of a loop.
pub enum Round {
    /// One more round, with these frames.
    Next(Frames),
    /// The end of the loop, with these frames.
    Last(Frames),
    /// Either.
    Unknown,
}

/// Returns what follows a round of a loop.
pub fn next_round(site: Id, frames: &Frames) -> Round {
    let Some(frame) = frames.as_ref().filter(|frame| frame.site == site) else { return Round::Unknown };
    match frame.left {
        Some(left @ 1..) => {
            Round::Next(Some(Rc::new(Frame { site, left: Some(left - 1), outer: frame.outer.clone() })))
        }
        _ => Round::Last(frame.outer.clone()),
    }
}

/// Returns the number of frames.
pub fn depth(frames: &Frames) -> usize {
    each(frames).count()
}

/// Returns the frames, the innermost first.
pub fn each(frames: &Frames) -> impl Iterator<Item = &Rc<Frame>> {
    std::iter::successors(frames.as_ref(), |frame| frame.outer.as_ref())
}
