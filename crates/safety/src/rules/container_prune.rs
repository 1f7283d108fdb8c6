//! Containers, images and volumes.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::lasting_effects;
use crate::programs::lasting::EffectStake;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;

pub static RULE: SafetyRule = SafetyRule {
    id: "container-prune",
    level: SafetyVerdict::Ask,
    doc: "Deletes volumes with their data, or containers, images and caches without naming each, also those of other \
          projects.",
    programs: RulePrograms::With(EffectStake::Containers, &[]),
    check,
    matches: &[
        "docker system prune -af",
        "docker volume prune",
        "docker image prune -a -f",
        "docker volume rm data",
        "docker compose down -v",
        "docker-compose -f dev.yml down --volumes",
        "docker compose down --rmi all",
        "docker compose rm -fsv",
        "docker rm -f $(docker ps -aq)",
        "docker ps -aq | xargs docker rm -f",
        "docker swarm leave --force",
        "docker stack rm web",
        "podman system reset",
        "docker buildx prune",
    ],
    passes: &[
        "docker compose down",
        "docker compose down --remove-orphans",
        "docker rm -f web",
        "docker rm $(docker ps -aq)",
        "docker rmi app:old",
        "docker volume ls",
        "docker system df",
        "docker stop web",
        "docker build .",
        "docker compose -f dev.yml rm -f web",
        "docker system prune --help",
        "echo docker system prune -af",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    lasting_effects::check(command, EffectStake::Containers)
}
