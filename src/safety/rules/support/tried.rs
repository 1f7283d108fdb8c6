//! Tries rules on commands as text.

use std::collections::HashMap;

use crate::safety::command::Scene;
use crate::safety::follow::{Environment, Walker};
use crate::safety::level::{Confidence, Verdict};
use crate::safety::rules::{Hit, Rule};

/// The scene that rule files are written for.
pub fn scene() -> Scene {
    Scene {
        cwd: "/home/dev/project".to_owned(),
        home: "/home/dev".to_owned(),
        temp: vec!["/tmp".to_owned(), "/var/tmp".to_owned()],
    }
}

/// What these rules find in a command.
pub fn judge(rules: &[&'static Rule], text: &str) -> Vec<(&'static Rule, Hit)> {
    let (scene, custom) = (scene(), HashMap::new());
    let environment = Environment("HOME=/home/dev\0USER=dev\0PATH=/usr/local/bin:/usr/bin:/bin\0LANG=C.UTF-8\0");
    let mut walker = Walker::new(environment, &scene, &custom);
    walker.command(text, Vec::new());
    let mut hits = Vec::new();
    for told in walker.told.iter().filter(|told| !told.dead) {
        for folder in &told.folders {
            let command = told.command(folder, &scene);
            let named =
                |rule: &&&Rule| rule.heads.is_empty() || command.name().is_some_and(|name| rule.heads.contains(&name));
            for rule in rules.iter().filter(named) {
                if let Some(mut hit) = (rule.check)(&command) {
                    hit.confidence = hit.confidence.max(told.confidence);
                    hits.push((*rule, hit));
                }
            }
        }
    }
    hits
}

/// What comes of it, by these rules alone.
pub fn verdict(rules: &[&'static Rule], text: &str) -> Verdict {
    let hits = judge(rules, text).into_iter();
    let level = |(rule, hit): (&Rule, Hit)| match hit.confidence {
        Confidence::Exact => rule.level,
        _ => rule.level.min(Verdict::Ask),
    };
    hits.map(level).max().unwrap_or_default()
}
