//! Infrastructure that is described in files.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::lasting_effects;
use crate::programs::lasting::EffectStake;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;

pub static RULE: SafetyRule = SafetyRule {
    id: "infrastructure-destroy",
    level: SafetyVerdict::Ask,
    doc: "Destroys infrastructure, changes it without a plan that was reviewed, or loses track of it. A plan or a preview \
          shows what would happen.",
    programs: RulePrograms::With(EffectStake::Infrastructure, &[]),
    check,
    matches: &[
        "terraform destroy -auto-approve",
        "terraform -chdir=prod destroy",
        "terraform apply -auto-approve",
        "terraform apply -destroy tfplan",
        "terraform state rm aws_instance.web",
        "terraform workspace delete staging",
        "terraform force-unlock 1234",
        "tofu destroy",
        "terragrunt run-all destroy",
        "terragrunt run --all -- destroy",
        "pulumi destroy --yes",
        "pulumi up --yes",
        "cdk destroy --all",
        "serverless remove --stage prod",
        "vagrant destroy -f",
        "ansible web -m file -a 'path=/srv/app state=absent'",
    ],
    passes: &[
        "terraform plan -destroy",
        "terraform apply tfplan",
        "terraform apply -auto-approve tfplan",
        "terraform init",
        "terraform state list",
        "terraform destroy -help",
        "pulumi preview",
        "pulumi up",
        "cdk diff",
        "vagrant up",
        "ansible web -m ping",
        "echo terraform destroy",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    lasting_effects::check(command, EffectStake::Infrastructure)
}
