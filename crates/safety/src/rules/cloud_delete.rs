//! Deletions in a cloud, on a hosting platform or at a forge.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::lasting_effects;
use crate::programs::lasting::EffectStake;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;

pub static RULE: SafetyRule = SafetyRule {
    id: "cloud-delete",
    level: SafetyVerdict::Ask,
    doc: "Deletes something in a cloud, on a hosting platform or at a forge, where nothing brings it back. A listing shows \
          it first, and some programs have a dry run.",
    programs: RulePrograms::With(EffectStake::Cloud, &[]),
    check,
    matches: &[
        "aws s3 rm s3://bucket --recursive",
        "aws s3 sync dist s3://site --delete",
        "aws --profile prod ec2 terminate-instances --instance-ids i-1",
        "aws rds delete-db-instance --db-instance-identifier prod",
        "gcloud compute instances delete vm-1",
        "gcloud storage rm -r gs://bucket",
        "az group delete --name prod --yes",
        "doctl compute droplet delete web-1",
        "gsutil -m rsync -d dist gs://site",
        "rclone sync public remote:www",
        "heroku apps:destroy -a shop",
        "fly apps destroy web",
        "netlify sites:delete 1234",
        "vercel env rm DATABASE_URL",
        "npx wrangler d1 delete prod",
        "firebase firestore:delete --all-collections",
        "gh repo delete acme/web --yes",
        "gh secret set NPM_TOKEN --body x",
        "gh api -X DELETE repos/acme/web/releases/1",
    ],
    passes: &[
        "aws s3 ls",
        "aws s3 sync dist s3://site",
        "aws s3 rm s3://bucket --recursive --dryrun",
        "aws ec2 describe-instances",
        "aws ec2 terminate-instances --instance-ids i-1 --dry-run",
        "aws ec2 wait instance-terminated --instance-ids i-1",
        "gcloud compute instances describe delete",
        "gcloud projects delete --help",
        "az group show -n prod",
        "gsutil rsync -n -d dist gs://site",
        "rclone sync public remote:www --dry-run",
        "heroku logs --tail",
        "vercel env ls",
        "gh repo view acme/web",
        "gh api repos/acme/web",
        "echo gh repo delete acme/web",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    lasting_effects::check(command, EffectStake::Cloud)
}
