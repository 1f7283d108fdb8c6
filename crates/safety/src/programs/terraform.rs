//! Infrastructure that is described in files.

use super::lasting::{Lasting, Operands, Stake};
use super::program::Arity::{Never, Words};
use super::program::{Effect, Fact, Program};
use super::wrapper::{Dashes, Wrapper};
use crate::options::OptionSpec;

const TERRAFORM: OptionSpec = OptionSpec::go(
    "\
    chdir= help version var= var-file= target= replace= exclude= state= state-out= backup= backup-out= lock-timeout= \
    parallelism= generate-config-out= working-dir= terragrunt-working-dir= config= terragrunt-config= queue-include-dir= \
    queue-exclude-dir= source= terragrunt-source= log-level= terragrunt-log-level= log-format= \
    terragrunt-parallelism= download-dir= terragrunt-download-dir= tf-path= terragrunt-tfpath= terragrunt-include-dir= terragrunt-exclude-dir= iam-assume-role= terragrunt-iam-role=",
);

const fn destroys(says: &'static str, instead: &'static str) -> Lasting {
    Lasting::of(Stake::Infrastructure, says, instead)
}

static DESTROY: Lasting = destroys(
    "destroys [{target}|all infrastructure] that the state of [{chdir working-dir}|this directory] describes",
    "plan -destroy",
);
static APPLY: Lasting = destroys(
    "changes the infrastructure [of {chdir working-dir}|of this directory] without a plan that was reviewed before",
    "plan -out=tfplan",
)
.operands(Operands::Missing);
static STATE_RM: Lasting =
    destroys("makes the state forget [{}|resources], which nothing manages from then on", "state list");
static STATE_PUSH: Lasting = destroys("overwrites the remote state", "state pull");
static WORKSPACE_DELETE: Lasting = destroys("deletes the workspace[ {}] with its state", "workspace list");
static FORCE_UNLOCK: Lasting =
    destroys("takes the lock off a state that another run may be changing", "plan -lock=false");

const TERRAFORM_SUBCOMMANDS: &[(Effect, &str)] = &[
    (Effect::Reads, "output, show, state list, state show, version"),
    (Effect::Changes, "apply, import, init"),
    (Effect::Lasts(&DESTROY), "destroy, destroy-all, apply-destroy, stack run destroy"),
    (Effect::Lasts(&DESTROY.with("destroy")), "apply"),
    (Effect::Lasts(&APPLY), "apply, apply-all, stack run apply"),
    (Effect::Lasts(&STATE_RM), "state rm"),
    (Effect::Lasts(&STATE_PUSH), "state push"),
    (Effect::Lasts(&WORKSPACE_DELETE), "workspace delete, env delete"),
    (Effect::Lasts(&FORCE_UNLOCK), "force-unlock"),
];

static PULUMI_DESTROY: Lasting =
    destroys("destroys all resources of [the stack {s stack}|the current stack]", "+--preview-only");
static PULUMI_UP: Lasting = destroys(
    "changes the resources of [the stack {s stack}|the current stack] without a look at the changes",
    "preview",
)
.with("y yes f skip-preview");
static PULUMI_STACK_RM: Lasting = destroys("deletes the stack [{}|at hand] with its history", "stack ls");
static PULUMI_STATE_DELETE: Lasting =
    destroys("makes the state forget [{}|resources], which nothing manages from then on", "stack");

static CDK_DESTROY: Lasting = destroys("destroys [the stacks {}|a stack] with all resources", "diff");
static REMOVE: Lasting = destroys("removes the whole service[ of the stage {s stage}] from the cloud", "info");
static SAM_DELETE: Lasting =
    destroys("deletes [the stack {stack-name}|the stack] with all resources", "list resources");
static SST_REMOVE: Lasting = destroys("removes all resources of [the stage {stage}|the current stage]", "diff");
static VAGRANT_DESTROY: Lasting =
    destroys("destroys [the machine {}|all machines of this directory] with their disks", "status");
static ANSIBLE_ABSENT: Lasting = destroys("removes something on [the hosts {}|hosts] for good", "+--check")
    .with("a~state=absent args~state=absent")
    .unless("C check list-hosts");

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "ansible",
        options: OptionSpec::gnu(
            "m:a:i:u:l:f:e:M:c:T:B:P:t:bkKvoCDJh",
            "\
            module-name= args= inventory= inventory-file= user= become-user= become-method= limit= forks= extra-vars= \
            module-path= private-key= key-file= connection= timeout= background= poll= tree= vault-id= \
            vault-password-file= playbook-dir= check list-hosts",
        ),
        subcommands: &[(Effect::Lasts(&ANSIBLE_ABSENT), "")],
        ..Program::DATA
    },
    Program {
        names: "cdk aws-cdk cdktf",
        options: OptionSpec::leading("a:c:p:", "app= context= profile= output= toolkit-stack-name= role-arn="),
        rule: Words(2),
        subcommands: &[(Effect::Lasts(&CDK_DESTROY), "destroy")],
        ..Program::DATA
    },
    Program {
        names: "pulumi",
        options: OptionSpec::leading(
            "C:s:c:m:p:t:",
            "cwd= stack= config= message= parallel= target= color= config-file= exec-kind=",
        ),
        rule: Words(2),
        subcommands: &[
            (Effect::Lasts(&PULUMI_DESTROY.unless("preview-only")), "destroy, down, dn"),
            (Effect::Lasts(&PULUMI_UP), "up, update"),
            (Effect::Lasts(&PULUMI_STACK_RM), "stack rm"),
            (Effect::Lasts(&PULUMI_STATE_DELETE), "state delete"),
        ],
        ..Program::DATA
    },
    Program {
        names: "sam",
        options: OptionSpec::leading("", "stack-name= region= profile= config-file= config-env="),
        rule: Words(2),
        subcommands: &[(Effect::Lasts(&SAM_DELETE), "delete")],
        ..Program::DATA
    },
    Program {
        names: "serverless sls",
        options: OptionSpec::leading("s:r:c:", "stage= region= config= aws-profile= app= org="),
        rule: Words(2),
        subcommands: &[(Effect::Lasts(&REMOVE), "remove")],
        ..Program::DATA
    },
    Program {
        names: "sst",
        options: OptionSpec::leading("", "stage= profile= region= config="),
        rule: Words(2),
        subcommands: &[(Effect::Lasts(&SST_REMOVE), "remove")],
        ..Program::DATA
    },
    Program {
        names: "terraform tofu opentofu tf",
        options: TERRAFORM,
        rule: Words(2),
        sub_rules: &[(Words(3), "state, workspace")],
        subcommands: TERRAFORM_SUBCOMMANDS,
        ..Program::DATA
    },
    Program {
        names: "terragrunt",
        options: TERRAFORM,
        wrappers: &[Wrapper::rest("", "").sub("exec").dashes(Dashes::Need)],
        rule: Words(2),
        sub_rules: &[(Words(3), "run, run-all, state, workspace"), (Never, "exec")],
        subcommands: TERRAFORM_SUBCOMMANDS,
        facts: &[Fact::Contains(&[("run run-all", "terragrunt")])],
        ..Program::DATA
    },
    Program {
        names: "vagrant",
        wrappers: &[Wrapper::rest("c:pthn", "command= plain tty no-tty")
            .sub("ssh")
            .script("c command")
            .operands(1)
            .dashes(Dashes::Need)
            .elsewhere()],
        rule: Words(2),
        subcommands: &[(Effect::Lasts(&VAGRANT_DESTROY), "destroy")],
        ..Program::DATA
    },
];
