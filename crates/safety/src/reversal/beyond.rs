//! Effects that are no files, or files elsewhere: no undo takes them back.

use crate::analysis::ReadOnly;
use crate::command::Command;
use crate::eval::Environment;
use crate::lists::{has_word, paths};
use crate::options::parse;
use crate::programs;
use crate::programs::call::effects;
use crate::programs::lasting::Stake;
use crate::programs::program::Effect;
use crate::read_only::read_only;
use crate::rules::Git;
use crate::value::Value;

/// Programs with effects beyond files, unless they only read: their names, and the effects in words.
pub static PROGRAMS: &[(&str, &str)] = &[
    ("docker docker-compose podman-compose nerdctl", "containers, images and volumes"),
    ("kubectl oc helm helmfile k3s minikube kind argocd flux", "objects of a cluster"),
    (
        "psql createdb dropdb pg_restore mysql mysqladmin mysqlimport mariadb mongosh mongo mongorestore redis-cli \
         valkey-cli cqlsh clickhouse-client sqlcmd influx cockroach pscale prisma drizzle-kit knex alembic flyway liquibase \
         dbmate goose",
        "the contents of databases",
    ),
    ("terraform tofu pulumi cdk cdktf sst serverless sls terragrunt ansible ansible-playbook", "infrastructure"),
    (
        "aws gcloud gsutil bq az doctl hcloud flyctl fly heroku vercel netlify wrangler firebase supabase railway gh glab \
         hub s3cmd s4cmd s5cmd mc eksctl",
        "things in a cloud or at a forge",
    ),
    ("ssh mosh autossh sshpass", "what runs on another machine"),
    ("scp sftp rcp ftp lftp ncftp", "files on another machine"),
    ("systemctl service launchctl rc-service sv supervisorctl pm2", "services of the machine"),
    ("mail mailx mutt sendmail msmtp swaks", "mail"),
];

/// Programs that send only with some of their words.
static SENDERS: &[(&str, &str)] = &[
    ("curl", "d data data-ascii data-binary data-raw data-urlencode json F form form-string T upload-file"),
    ("wget wget2", "post-data post-file body-data body-file"),
];
const METHODS: &str = "POST PUT PATCH DELETE";
/// Subcommands of any program of which nothing is known but that they only look.
const LOOKING: &str = "plan validate version help --version --help list ls show status diff logs describe get preview";

/// The effects of a command beyond files, in words.
pub fn of(command: &Command, environment: Environment<'_>) -> Option<&'static str> {
    let name = command.name()?;
    if let Some(git) = Git::new(command) {
        let is_dry = git.args.iter().any(|arg| matches!(arg.known(), Some("-n" | "--dry-run" | "-h" | "--help")));
        let pushes = matches!(git.sub, "push" | "send-pack");
        return (pushes && !is_dry).then_some("what git push sends to another repository");
    }
    if let Some(what) = sends(name, command) {
        return Some(what);
    }
    if matches!(name, "rsync" | "rclone") {
        let is_elsewhere = |arg: &Value| {
            let text = arg.prefix();
            !text.starts_with(['-', '/', '.']) && text.split('/').next().is_some_and(|start| start.contains(':'))
        };
        return command.args().last().filter(|arg| is_elsewhere(arg)).map(|_| "files on another machine");
    }
    let listed = PROGRAMS.iter().find(|(names, _)| has_word(names, name)).map(|(_, what)| *what);
    match listed {
        Some(what) => (!only_looks(command, environment)).then_some(what),
        None => publishes(name, command).then_some("what is published"),
    }
}

fn only_looks(command: &Command, environment: Environment<'_>) -> bool {
    let plain = Command { redirects: &[], assignments: &[], ..*command };
    let operands = parse(command.args(), &programs::of(command.name().unwrap_or_default()).options).operands;
    let first = operands.first().and_then(|at| command.args().get(*at)).or(command.args().first());
    let looks = first.and_then(Value::known).is_some_and(|word| has_word(LOOKING, word));
    looks || read_only(&plain, environment, false) == ReadOnly::Yes
}

/// `npm publish` and the like: the subcommands whose effect is known to be a publication.
fn publishes(name: &str, command: &Command) -> bool {
    let publication = |effect: &Effect| matches!(effect, Effect::Lasts(lasting) if lasting.stake == Stake::Publication);
    let found = effects(programs::of(name), command.args());
    let is_dry = command.args().iter().any(|arg| arg.known() == Some("--dry-run"));
    !is_dry && found.iter().any(|found| publication(found.effect) && found.end > 0)
}

/// Whether a program sends what its words name.
fn sends(name: &str, command: &Command) -> Option<&'static str> {
    let method = |word: &str| paths("POST, PUT, PATCH, DELETE").any(|method| method.eq_ignore_ascii_case(word));
    if has_word("http https xh xhs", name) {
        let is_method = |arg: &Value| arg.known().is_some_and(|word| has_word(METHODS, word));
        return command.args().iter().any(is_method).then_some("what httpie sends");
    }
    let (_, options) = SENDERS.iter().find(|(names, _)| has_word(names, name))?;
    let parsed = parse(command.args(), &programs::of(name).options);
    let asks = parsed.value("X request method").and_then(Value::known).is_some_and(method);
    (parsed.has(options) || asks).then_some(if name == "curl" { "what curl sends" } else { "what wget sends" })
}
