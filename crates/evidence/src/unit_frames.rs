//! The function calls and counted loops around a place.

use std::rc::Rc;

use crate::syntax_units::SyntaxUnitId;

/// The function calls and the counted loops around a place, the innermost first.
pub type UnitFrames = Option<Rc<CallOrLoopFrame>>;

/// One function call, or one counted loop.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct CallOrLoopFrame {
    /// The command that calls, or the loop.
    pub site: SyntaxUnitId,
    /// The rounds of the loop after this one. `None` for a call.
    pub left: Option<usize>,
    /// The frames around it.
    pub outer: UnitFrames,
}

/// Returns the frames outside of the innermost one of this site, or all if there is none.
pub fn frames_outside(frames: &UnitFrames, site: SyntaxUnitId) -> UnitFrames {
    iter_frames(frames).find(|frame| frame.site == site).map_or_else(|| frames.clone(), |frame| frame.outer.clone())
}

/// Returns the innermost function call.
pub fn innermost_call(frames: &UnitFrames) -> Option<&Rc<CallOrLoopFrame>> {
    iter_frames(frames).find(|frame| frame.left.is_none())
}

/// Rounds that are counted.
const ROUNDS: usize = 64;

/// Returns the frames of a function that is called at this site.
pub fn frames_of_call(site: SyntaxUnitId, outer: &UnitFrames) -> UnitFrames {
    Some(Rc::new(CallOrLoopFrame { site, left: None, outer: outer.clone() }))
}

/// Returns the frames of the first round of a loop. `None` if its rounds are not counted.
pub fn first_round(site: SyntaxUnitId, rounds: Option<usize>, outer: &UnitFrames) -> Option<UnitFrames> {
    let left = rounds.filter(|rounds| (1..=ROUNDS).contains(rounds))? - 1;
    Some(Some(Rc::new(CallOrLoopFrame { site, left: Some(left), outer: outer.clone() })))
}

/// What follows a round of a loop.
pub enum LoopContinuation {
    /// One more round, with these frames.
    Next(UnitFrames),
    /// The end of the loop, with these frames.
    Last(UnitFrames),
    /// Either.
    Unknown,
}

/// Returns what follows a round of a loop.
pub fn next_round(site: SyntaxUnitId, frames: &UnitFrames) -> LoopContinuation {
    let Some(frame) = frames.as_ref().filter(|frame| frame.site == site) else { return LoopContinuation::Unknown };
    match frame.left {
        Some(left @ 1..) => LoopContinuation::Next(Some(Rc::new(CallOrLoopFrame {
            site,
            left: Some(left - 1),
            outer: frame.outer.clone(),
        }))),
        _ => LoopContinuation::Last(frame.outer.clone()),
    }
}

/// Returns the number of frames.
pub fn frame_count(frames: &UnitFrames) -> usize {
    iter_frames(frames).count()
}

/// Returns the frames, the innermost first.
pub fn iter_frames(frames: &UnitFrames) -> impl Iterator<Item = &Rc<CallOrLoopFrame>> {
    std::iter::successors(frames.as_ref(), |frame| frame.outer.as_ref())
}
