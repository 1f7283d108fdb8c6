//! Figures: `cargo test --release --lib record_tests::figures -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use confine_world::{testing::WorldTestScene, testing::isolated};
use protocol::plan::ChangeJournalPurpose;
use sys::ChildExit;

use super::stage::JournalTestShim;

/// Creates 30,000 files.
const CREATE: &str = "exec python3 -c 'import os
for i in range(300): os.makedirs(f\"t/{i}\")
for i in range(30000): os.close(os.open(f\"t/{i % 300}/{i}\", os.O_CREAT | os.O_WRONLY, 0o644))'";

/// Returns the whole time of a command, and the time of its shell.
fn timed(stage: &mut JournalTestShim<'_>, command: &str, recorded: bool) -> (Duration, Duration) {
    let begun = Instant::now();
    let finished = stage.run(command, recorded);
    let time = begun.elapsed();
    assert_eq!(finished.ended.end, ChildExit::Code(0), "{}", finished.output);
    (time, finished.ended.duration)
}

fn median(mut times: Vec<(Duration, Duration)>) -> (Duration, Duration) {
    times.sort();
    times[times.len() / 2]
}

#[test]
#[ignore = "prints figures"]
fn commands_with_a_record_and_without() {
    let parent = std::env::var_os("FIGURES_IN").unwrap_or_else(|| "/var/tmp".into());
    // Such as `Undo false`.
    let only = std::env::var("FIGURES_OF").ok();
    for confined in [false, true] {
        for purpose in [ChangeJournalPurpose::Receipt, ChangeJournalPurpose::Undo] {
            let name = format!("{purpose:?} {confined}");
            if only.as_ref().is_some_and(|only| *only != name) {
                continue;
            }
            let scene = WorldTestScene::below(std::path::Path::new(&parent), None);
            isolated(None, || {
                let mut stage = JournalTestShim::new(&scene, confined);
                stage.record.purpose = purpose;
                let mut all: [Vec<(Duration, Duration)>; 2] = Default::default();
                for _ in 0..200 {
                    for (at, recorded) in [false, true].into_iter().enumerate() {
                        all[at].push(timed(&mut stage, "true", recorded));
                    }
                }
                let [plain, recorded] = all.map(median);
                println!("{purpose:?}, confined {confined}: true {plain:?}, recorded {recorded:?}");
                let mut all: [[Vec<(Duration, Duration)>; 2]; 2] = Default::default();
                for _ in 0..3 {
                    for (at, recorded) in [false, true].into_iter().enumerate() {
                        all[0][at].push(timed(&mut stage, CREATE, recorded));
                        all[1][at].push(timed(&mut stage, "rm -rf t", recorded));
                    }
                }
                for (what, times) in ["create 30,000", "rm -rf 30,000"].into_iter().zip(all) {
                    let [plain, recorded] = times.map(median);
                    let factor = recorded.0.as_secs_f64() / plain.0.as_secs_f64();
                    println!("  {what}: {plain:?}, recorded {recorded:?}: {factor:.2}");
                }
            });
        }
    }
}
