//! Clouds and hosting.

use super::lasting::{Lasting, Stake};
use super::migrations::SCHEMA_RESET;
use super::program::Arity::Words;
use super::program::{Effect, Fact, Program};
use super::wrapper::{Dashes, Wrapper};
use crate::options::OptionSpec;

const fn deletes(says: &'static str, instead: &'static str) -> Lasting {
    Lasting::of(Stake::Cloud, says, instead)
}

const fn deploys(says: &'static str) -> Lasting {
    Lasting::of(Stake::Publication, says, "")
}

/// Verbs of subcommands that delete nothing. What follows them is a name: `instances describe delete`.
const OTHER_VERBS: &str = "\
    help, … access, … activate, … add, … add-*, … attach, … call, … connect, … cp, … create, … create-*, … deploy, \
    … describe, … enable, … execute, … export, … get, … get-*, … import, … info, … invoke, … list, … logs, … ls, … new, \
    … publish, … pull, … read, … reset, … resize, … restart, … restore, … scp, … set, … show, … ssh, … start, … status, \
    … stop, … submit, … tail, … update, … use, … view";

static DELETE: Lasting = deletes("deletes [{}|something] in the cloud for good", "");
static AWS_DELETE: Lasting =
    deletes("deletes something in the AWS account of [the profile {profile}|the current profile] for good", "")
        .unless(LOCAL_ENDPOINT);
static AWS_DRY_DELETE: Lasting = Lasting { instead: "+--dry-run", ..AWS_DELETE };
static S3_RM: Lasting =
    deletes("deletes [{}|objects] from S3, with [the profile {profile}|the current profile]", "+--dryrun")
        .unless(LOCAL_ENDPOINT);
static S3_RB: Lasting = deletes("deletes the bucket [{}|at hand] of S3", "s3 ls[ {}]").unless(LOCAL_ENDPOINT);
static S3_SYNC: Lasting =
    deletes("deletes what the source lacks: [{}|files in S3]", "+--dryrun").with("delete").unless(LOCAL_ENDPOINT);
const LOCAL_ENDPOINT: &str = "endpoint-url~//localhost endpoint-url~//127.0.0.1";

static GCLOUD_DELETE: Lasting =
    deletes("deletes [{}|something] in [the project {project}|the current project] of Google Cloud for good", "list");
static AZ_DELETE: Lasting = deletes(
    "deletes [{n name}|what {ids} names|something][ in the resource group {g resource-group}] in Azure for good",
    "list",
);
static GSUTIL_RM: Lasting = deletes("deletes [{}|objects] from Cloud Storage", "ls[ {}]");
static GSUTIL_RSYNC: Lasting = deletes("deletes what the source lacks: [{}|files]", "+-n").with("d").unless("n");
static RCLONE: Lasting = deletes("deletes or overwrites files there: [{}|a remote]", "+--dry-run").unless("n");
static S3CMD: Lasting = deletes("deletes [{}|objects] from S3", "+--dry-run").unless("n");
static S3CMD_SYNC: Lasting =
    deletes("deletes what the source lacks: [{}|files in S3]", "+--dry-run").with("delete-removed").unless("n");
static MC: Lasting = deletes("deletes [{}|objects] from the object store", "+--dry-run");
static MC_MIRROR: Lasting = deletes("deletes what the source lacks: [{}|objects]", "+--dry-run").with("remove");

static HEROKU: Lasting = deletes("removes [{}|something] of [the app {a app}|the app] for good", "");
static FLY: Lasting = deletes("destroys [{}|something][ of the app {a app}] for good", "");
static FLY_DEPLOY: Lasting =
    deploys("deploys [the app {a app}|the app of this directory] for its users").unless("build-only");
static HOSTED: Lasting = deletes("removes [{}|something] from the hosting platform for good", "");
static NETLIFY_DEPLOY: Lasting =
    deploys("deploys [{d dir}|the site] to production").with("prod p prod-if-unlocked").unless("draft");
static VERCEL_DEPLOY: Lasting = deploys("deploys [{}|this directory] to production").with("prod target=production");
static WRANGLER_DEPLOY: Lasting =
    Lasting::of(Stake::Publication, "deploys [{}|the worker] [to {e env}|to its users]", "+--dry-run");
static PAGES_DEPLOY: Lasting = deploys("deploys [{}|a site][ as {project-name}] for its users");
static FIREBASE_DEPLOY: Lasting =
    deploys("deploys [{only}|everything] to [the project {P project}|the current project]");
static RUN_DEPLOY: Lasting =
    deploys("deploys [the service {}|a service] in [the project {project}|the current project] for its users");
static EAS_SUBMIT: Lasting = deploys("submits the app to [the store of {p platform}|the app stores]");
static EAS_AUTO_SUBMIT: Lasting = deploys("submits the app to the app stores once it is built").with("auto-submit");

const APP: OptionSpec = OptionSpec::leading("a:r:c:", "app= config= remote= team= space= confirm=");

const FLY_CONSOLE: Wrapper = Wrapper::rest("a:C:r:s", "app= command= region= select")
    .sub("ssh console")
    .script("C command")
    .dashes(Dashes::Need)
    .elsewhere();

const ANY_VERB: &str = "… delete, … destroy, … purge, … remove, … rm, … terminate";

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "aws aws-cli",
        options: OptionSpec::leading(
            "",
            "\
            profile= region= output= endpoint-url= query= ca-bundle= cli-read-timeout= cli-connect-timeout= color= \
            cli-binary-format= exclude= include= acl= cache-control= storage-class=",
        ),
        rule: Words(3),
        subcommands: &[
            (Effect::Unknown, "help, * help, * * help, * wait"),
            (Effect::Lasts(&S3_RM), "s3 rm"),
            (Effect::Lasts(&S3_RB), "s3 rb"),
            (Effect::Lasts(&S3_SYNC), "s3 sync"),
            (Effect::Lasts(&AWS_DRY_DELETE), "ec2 -delete-, ec2 -terminate-, ec2 -deregister-"),
            (Effect::Lasts(&AWS_DELETE), "* -delete-, * -terminate-, * -remove-, * -deregister-, * -purge-"),
        ],
        facts: &[Fact::PrintsShellCode("configure")],
        ..Program::DATA
    },
    Program {
        names: "az azure-cli",
        options: OptionSpec::leading(
            "n:g:o:s:m:u:b:",
            "method= uri= url= body= name= resource-group= ids= subscription= query= output= account-name=",
        ),
        rule: Words(3),
        subcommands: &[
            (Effect::Unknown, OTHER_VERBS),
            (Effect::Lasts(&AZ_DELETE.with("method=DELETE m=DELETE")), "rest"),
            (Effect::Lasts(&AZ_DELETE), "… -delete-, … -purge-, … -destroy-, … -remove-"),
        ],
        ..Program::DATA
    },
    Program {
        names: "doctl",
        options: OptionSpec::leading("t:c:u:o:", "access-token= context= api-url= output= config= http-retry-max="),
        subcommands: &[
            (Effect::Unknown, OTHER_VERBS),
            (Effect::Lasts(&DELETE), ANY_VERB),
            (Effect::Lasts(&DELETE), "… -delete-, … -remove-"),
        ],
        ..Program::DATA
    },
    Program {
        names: "eas eas-cli",
        options: OptionSpec::leading("p:e:m:", "platform= profile= message= id= path= url="),
        subcommands: &[(Effect::Lasts(&EAS_SUBMIT), "submit"), (Effect::Lasts(&EAS_AUTO_SUBMIT), "build")],
        ..Program::DATA
    },
    Program {
        names: "firebase firebase-tools",
        options: OptionSpec::leading("P:m:c:", "project= account= config= only= except= message= token="),
        rule: Words(2),
        subcommands: &[
            (Effect::Lasts(&HOSTED), "-delete-, -remove-, -destroy-"),
            (Effect::Lasts(&FIREBASE_DEPLOY), "deploy"),
        ],
        ..Program::DATA
    },
    Program {
        names: "fly flyctl",
        options: APP,
        wrappers: &[FLY_CONSOLE],
        rule: Words(2),
        subcommands: &[
            (Effect::Unknown, "help, * create, * list, * show"),
            (Effect::Lasts(&FLY), "destroy, * destroy, * delete, * remove, * rm"),
            (Effect::Lasts(&FLY_DEPLOY), "deploy"),
        ],
        ..Program::DATA
    },
    Program {
        names: "gcloud",
        options: OptionSpec::leading(
            "q",
            "\
            project= account= configuration= quiet zone= region= location= format= filter= limit= impersonate-service-account= \
            billing-project= verbosity= image= source=",
        ),
        wrappers: &[Wrapper::rest("", "command= zone= project= internal-ip tunnel-through-iap quiet")
            .sub("compute ssh, alpha compute ssh, beta compute ssh")
            .operands(1)
            .script("command")
            .dashes(Dashes::Need)
            .elsewhere()],
        rule: Words(3),
        subcommands: &[
            (Effect::Unknown, OTHER_VERBS),
            (Effect::Lasts(&GCLOUD_DELETE), "… -delete-, … -destroy-, … -purge-, … -remove-, storage rm"),
            (Effect::Lasts(&RUN_DEPLOY), "run deploy"),
        ],
        facts: &[Fact::Contains(&[("alpha beta", "gcloud")])],
        ..Program::DATA
    },
    Program {
        names: "gsutil",
        options: OptionSpec::leading("mDo:h:i:u:q", ""),
        subcommands: &[
            (Effect::Lasts(&GSUTIL_RM), "rm, rb"),
            (Effect::Lasts(&GSUTIL_RSYNC.spec(OptionSpec::gnu("rdnepcCuijJx:y:", ""))), "rsync"),
        ],
        ..Program::DATA
    },
    Program {
        names: "hcloud ibmcloud linode-cli oci render scw",
        options: OptionSpec::leading(
            "",
            "context= config= profile= region= output= compartment-id= endpoint= log-level= page= page-size=",
        ),
        subcommands: &[
            (Effect::Unknown, OTHER_VERBS),
            (Effect::Unknown, "target, login"),
            (Effect::Lasts(&DELETE), ANY_VERB),
            (Effect::Lasts(&DELETE), "… -delete-, … -remove-, … -rm-"),
        ],
        ..Program::DATA
    },
    Program {
        names: "heroku",
        options: APP,
        // The tool joins the words, and puts those with blanks in quotes unless there is only one word.
        wrappers: &[Wrapper::rest("a:r:x", "app= remote= no-tty exit-code size= type=")
            .sub("run, run:detached")
            .line()
            .elsewhere()],
        rule: Words(2),
        subcommands: &[(Effect::Lasts(&HEROKU), "-destroy-, -remove-, -delete-, -rm-, pg:reset")],
        ..Program::DATA
    },
    Program {
        names: "mc",
        options: OptionSpec::leading("C:", "config-dir= limit-upload= limit-download="),
        subcommands: &[(Effect::Lasts(&MC), "rm, rb"), (Effect::Lasts(&MC_MIRROR), "mirror")],
        ..Program::DATA
    },
    Program {
        names: "netlify netlify-cli ntl",
        options: OptionSpec::leading("d:m:s:a:", "dir= message= site= auth= alias= filter= functions= context="),
        rule: Words(2),
        subcommands: &[(Effect::Lasts(&HOSTED), "-delete-"), (Effect::Lasts(&NETLIFY_DEPLOY), "deploy")],
        ..Program::DATA
    },
    Program {
        names: "railway @railway/cli",
        options: OptionSpec::leading("p:e:s:v:", "project= environment= service= volume="),
        subcommands: &[(Effect::Lasts(&HOSTED), "down, delete, * delete, * remove, * rm")],
        ..Program::DATA
    },
    Program {
        names: "rclone",
        options: OptionSpec::leading(
            "",
            "\
            config= transfers= checkers= log-file= log-level= bwlimit= exclude= include= filter= filter-from= \
            exclude-from= include-from= min-age= max-age= min-size= max-size= stats= retries= backup-dir= suffix=",
        ),
        subcommands: &[(
            Effect::Lasts(&RCLONE),
            "delete, deletefile, purge, sync, cleanup, move, moveto, rmdir, rmdirs",
        )],
        ..Program::DATA
    },
    Program {
        names: "s3cmd",
        options: OptionSpec::leading("c:", "config= access_key= secret_key= host= region= exclude= include="),
        subcommands: &[(Effect::Lasts(&S3CMD), "del, rm, rb"), (Effect::Lasts(&S3CMD_SYNC), "sync")],
        ..Program::DATA
    },
    Program {
        names: "supabase",
        options: OptionSpec::leading("o:", "project-ref= profile= workdir= network-id= output= dns-resolver="),
        rule: Words(3),
        subcommands: &[
            (Effect::Lasts(&HOSTED), "* delete, * remove, storage rm"),
            (Effect::Lasts(&SCHEMA_RESET), "db reset"),
        ],
        ..Program::DATA
    },
    Program {
        names: "vercel vc",
        options: OptionSpec::leading(
            "A:Q:t:S:b:e:m:",
            "cwd= token= scope= team= local-config= global-config= target= env= build-env= meta= name=",
        ),
        rule: Words(2),
        subcommands: &[
            (
                Effect::Unknown,
                "\
                alias, bisect, blob, build, certs, curl, dev, dns, domains, env, git, help, init, inspect, install, \
                integration, link, list, login, logout, logs, ls, project, promote, pull, redeploy, rollback, \
                secrets, switch, target, teams, telemetry, whoami",
            ),
            (Effect::Lasts(&HOSTED), "rm, remove, * rm, * remove"),
            (Effect::Lasts(&VERCEL_DEPLOY), ""),
            (Effect::Lasts(&VERCEL_DEPLOY), "deploy"),
        ],
        ..Program::DATA
    },
    Program {
        names: "wrangler",
        options: OptionSpec::leading("c:e:", "config= env= cwd= name= project-name= branch= binding= namespace-id="),
        rule: Words(2),
        subcommands: &[
            (Effect::Unknown, OTHER_VERBS),
            (Effect::Lasts(&HOSTED), "… delete, … purge"),
            (Effect::Lasts(&WRANGLER_DEPLOY), "deploy, publish"),
            (Effect::Lasts(&PAGES_DEPLOY), "pages deploy, pages publish, versions deploy"),
        ],
        ..Program::DATA
    },
];
