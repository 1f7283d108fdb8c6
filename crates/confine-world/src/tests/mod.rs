//! Tests of commands in worlds.

mod blank_world;
mod drafts;
mod files;
mod git;
mod git_elsewhere;
mod life;
mod process_roster;
mod usable_mechanisms;

use std::process::Command;

use super::testing::WorldTestScene;
use confine_policy::ConfinementPolicy;

/// Gives everything in a directory to the user of a scene.
pub(super) fn give(scene: &WorldTestScene) {
    if let Some(user) = scene.user {
        let owner = format!("{user}:{user}");
        assert!(Command::new("chown").arg("-R").arg(owner).arg(&scene.root).status().expect("chown").success());
    }
}

/// Asserts that each line of a script has the expected exit code.
pub(super) fn check(scene: &WorldTestScene, policy: &ConfinementPolicy, lines: &[(&str, bool)]) {
    let script: String = lines.iter().map(|(line, _)| format!("({line}) 2>&1; echo \"=$?\"\n")).collect();
    let (output, _) = scene.run(policy, &script);
    let mut said = String::new();
    let mut expected = lines.iter();
    for line in output.lines() {
        let Some(code) = line.strip_prefix('=') else {
            said = format!("{said}{line}\n");
            continue;
        };
        let (line, succeeds) = expected.next().expect("a line");
        assert_eq!(code == "0", *succeeds, "user {:?}: {line}: {said}{code}", scene.user);
        said.clear();
    }
    assert!(expected.next().is_none(), "{output}");
}
