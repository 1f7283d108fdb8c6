//! Packages, images, releases and sites that others can get from then on.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::lasting_effects;
use crate::programs::lasting::EffectStake;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;

pub static RULE: SafetyRule = SafetyRule {
    id: "publish",
    level: SafetyVerdict::Ask,
    doc: "Publishes a package, an image, a release or a site, or changes one that others use. A publication stays known, \
          and its version number is used up.",
    programs: RulePrograms::With(EffectStake::Publication, &[]),
    check,
    matches: &[
        "npm publish --access public",
        "pnpm -r publish",
        "yarn npm publish",
        "npm unpublish left-pad",
        "npm dist-tag add pkg@1.0.0 latest",
        "cargo publish",
        "cargo yank --version 1.0.1",
        "python -m twine upload dist/*",
        "uv publish",
        "gem push pkg-1.0.0.gem",
        "mvn clean deploy",
        "./gradlew :lib:publish",
        "dotnet nuget push pkg.nupkg",
        "docker push acme/app",
        "docker buildx build --push -t acme/app .",
        "helm push chart.tgz oci://registry/charts",
        "gh release create v1.0.0",
        "gh pr merge 12 --squash",
        "gh workflow run release.yml",
        "goreleaser release",
        "npx semantic-release",
        "npx @changesets/cli publish",
        "vercel --prod",
        "netlify deploy --prod",
        "firebase deploy",
        "npx wrangler deploy",
    ],
    passes: &[
        "npm publish --dry-run",
        "npm pack",
        "npm run publish",
        "npm dist-tag ls",
        "npm publish --registry http://localhost:4873",
        "cargo publish --dry-run",
        "cargo package",
        "twine check dist/*",
        "./gradlew publishToMavenLocal",
        "dotnet publish",
        "docker build -t acme/app .",
        "docker push localhost:5000/app",
        "gh pr create --fill",
        "gh release create v1.0.0 --draft",
        "goreleaser release --snapshot",
        "vercel",
        "vercel build --prod",
        "wrangler deploy --dry-run",
        "echo npm publish",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    lasting_effects::check(command, EffectStake::Publication)
}
