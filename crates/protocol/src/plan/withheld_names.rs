//! Finds the withheld names that a failed command may have wanted, so that a single note can name them.

use memchr::memmem;

use super::name_pattern::NamePatternSet;

/// The most names in a note.
const NAMED: usize = 8;

/// The length of the part of an output that is searched, at its end, bytes. Errors usually come last.
const TAIL: usize = 64 * 1024;

/// Programs and the variables that they read. The second word of an entry, if any, is the subcommand of the program. In
/// a command, words with a leading `-` before the subcommand are options and skipped.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("gh", &["GH_*", "GITHUB_*"]),
    ("glab", &["GITLAB_*", "CI_JOB_TOKEN"]),
    ("git push", GIT),
    ("git pull", GIT),
    ("git fetch", GIT),
    ("git clone", GIT),
    ("git ls-remote", GIT),
    ("git submodule", GIT),
    ("aws", AWS),
    ("sam", AWS),
    ("cdk", AWS),
    ("eksctl", AWS),
    ("az", &["AZURE_*", "ARM_*"]),
    ("gcloud", GOOGLE),
    ("gsutil", GOOGLE),
    ("bq", GOOGLE),
    ("firebase", &["FIREBASE_*", "GOOGLE_*"]),
    ("terraform", CLOUDS),
    ("tofu", CLOUDS),
    ("pulumi", CLOUDS),
    ("sst", CLOUDS),
    ("serverless", CLOUDS),
    ("doctl", &["DIGITALOCEAN_*"]),
    ("hcloud", &["HCLOUD_*"]),
    ("flyctl", &["FLY_*"]),
    ("fly", &["FLY_*"]),
    ("heroku", &["HEROKU_*"]),
    ("vercel", &["VERCEL_*", "AI_GATEWAY_*"]),
    ("netlify", &["NETLIFY_*"]),
    ("wrangler", &["CLOUDFLARE_*", "CF_*"]),
    ("supabase", &["SUPABASE_*"]),
    ("railway", &["RAILWAY_*"]),
    ("vault", &["VAULT_*"]),
    ("op", &["OP_*"]),
    ("bw", &["BW_*"]),
    ("sops", &["SOPS_*", "AWS_*", "GOOGLE_*"]),
    ("kubectl", &["KUBE*", "*KUBE_CONFIG*", "AWS_*", "GOOGLE_*", "AZURE_*"]),
    ("helm", &["KUBE*", "HELM_*", "AWS_*", "GOOGLE_*", "AZURE_*"]),
    ("docker login", DOCKER),
    ("docker push", DOCKER),
    ("docker pull", DOCKER),
    ("npm publish", NPM),
    ("npm whoami", NPM),
    ("npm install", NPM),
    ("npm i", NPM),
    ("npm ci", NPM),
    ("pnpm publish", NPM),
    ("pnpm install", NPM),
    ("yarn install", NPM),
    ("yarn npm", NPM),
    ("bun publish", NPM),
    ("bun install", NPM),
    ("twine", &["TWINE_*", "PYPI_*"]),
    ("poetry publish", &["POETRY_*", "PYPI_*"]),
    ("uv publish", &["UV_*", "PYPI_*"]),
    ("pip install", &["PIP_*"]),
    ("uv", &["UV_*"]),
    ("cargo publish", &["CARGO_*"]),
    ("cargo login", &["CARGO_*"]),
    ("gem push", &["GEM_*", "RUBYGEMS_*"]),
    ("composer", &["COMPOSER_*"]),
    ("psql", POSTGRES),
    ("pg_dump", POSTGRES),
    ("pg_restore", POSTGRES),
    ("createdb", POSTGRES),
    ("dropdb", POSTGRES),
    ("mysql", MYSQL),
    ("mysqldump", MYSQL),
    ("mariadb", MYSQL),
    ("redis-cli", &["REDIS*"]),
    ("mongosh", &["MONGO*"]),
    ("prisma", &["DATABASE_*", "*_URL"]),
    ("drizzle-kit", &["DATABASE_*", "*_URL"]),
    ("sqlcmd", &["SQLCMD*"]),
    ("openai", &["OPENAI_*"]),
    ("codex", &["OPENAI_*", "CODEX_*"]),
    ("claude", &["ANTHROPIC_*", "CLAUDE_*"]),
    ("anthropic", &["ANTHROPIC_*"]),
    ("gemini", &["GEMINI_*", "GOOGLE_*"]),
    ("llm", &["*_API_KEY"]),
    ("aider", &["*_API_KEY"]),
    ("huggingface-cli", &["HF_*", "HUGGING*"]),
    ("hf", &["HF_*", "HUGGING*"]),
    ("replicate", &["REPLICATE_*"]),
    ("kaggle", &["KAGGLE_*"]),
    ("wandb", &["WANDB_*"]),
    ("stripe", &["STRIPE_*"]),
    ("sentry-cli", &["SENTRY_*"]),
    ("codecov", &["CODECOV_*"]),
    ("ansible-playbook", &["ANSIBLE_*"]),
    ("ansible-vault", &["ANSIBLE_*"]),
    ("restic", &["RESTIC_*", "AWS_*", "B2_*"]),
    ("rclone", &["RCLONE_*"]),
    ("sshpass", &["SSHPASS"]),
];

const GIT: &[&str] = &["GH_*", "GITHUB_*", "GITLAB_*", "CI_JOB_TOKEN", "BITBUCKET_*", "*_PAT", "GIT_*"];
const AWS: &[&str] = &["AWS_*"];
const GOOGLE: &[&str] = &["GOOGLE_*", "GCP_*", "CLOUDSDK_*"];
const CLOUDS: &[&str] = &[
    "AWS_*",
    "AZURE_*",
    "ARM_*",
    "GOOGLE_*",
    "GCP_*",
    "TF_*",
    "PULUMI_*",
    "SST_*",
    "SERVERLESS_*",
    "CLOUDFLARE_*",
    "DIGITALOCEAN_*",
    "HCLOUD_*",
    "GITHUB_*",
];
const DOCKER: &[&str] = &["DOCKER_*", "*REGISTRY_*", "CR_PAT"];
const NPM: &[&str] = &["NPM_*", "npm_*", "NODE_AUTH_TOKEN", "YARN_*", "GITHUB_TOKEN"];
const POSTGRES: &[&str] = &["PG*", "POSTGRES*", "DATABASE_*"];
const MYSQL: &[&str] = &["MYSQL_*", "MARIADB_*", "DATABASE_*"];

/// Programs that run the command after them.
const WRAPPERS: [&str; 19] = [
    "sudo", "env", "time", "exec", "command", "nohup", "nice", "timeout", "xargs", "npx", "bunx", "pnpx", "uvx", "dlx",
    "!", "if", "then", "do", "else",
];

/// Phrases, in lower case, of programs that lack a credential. Words of ordinary messages (`unexpected token`,
/// `line 401`) are only here as part of a longer phrase.
const COMPLAINTS: &[&str] = &[
    "api key",
    "api_key",
    "apikey",
    "api-key",
    "access key",
    "secret key",
    "auth token",
    "access token",
    "bearer token",
    "invalid token",
    "missing token",
    "no token",
    "bad token",
    "token expired",
    "token is ",
    "token required",
    "token not ",
    "token has expired",
    "credential",
    "unauthorized",
    "unauthorised",
    "unauthenticated",
    "not authenticated",
    "authentication",
    "401 ",
    "status 401",
    "http 401",
    "(401)",
    "error: 401",
    "code 401",
    "code e401",
    "403 forbidden",
    "status 403",
    "http 403",
    "(403)",
    "error: 403",
    "code e403",
    "407 proxy",
    "not logged in",
    "not signed in",
    "log in to",
    "please log in",
    "please login",
    "login required",
    "must be logged in",
    "auth login",
    "permission denied (publickey",
    "permission denied (password",
    "permission denied (keyboard",
    "access denied",
    "accessdenied",
    "could not read username",
    "could not read password",
    "terminal prompts disabled",
    "no password supplied",
    "password is required",
    "incorrect password",
    "invalid_grant",
    "missing environment variable",
    "missing required environment variable",
    "required environment variable",
    "environment variable is not set",
    "environment variable not set",
    "environment variables are not set",
];

/// Phrases of programs that cannot reach the network, for which they may need a withheld proxy.
const UNREACHED: &[&str] = &[
    "could not resolve",
    "couldn't resolve",
    "connection timed out",
    "connection refused",
    "network is unreachable",
    "etimedout",
    "enotfound",
    "eai_again",
    "econnrefused",
    "name resolution",
    "failed to connect",
];

/// Complaints with a number count only at the start of a word, unlike `line 1401 `.
const NUMBERS: [&str; 3] = ["401 ", "403 forbidden", "407 proxy"];

/// Returns the withheld names that a failed command may have wanted, in their order, each once. Empty without a hint.
///
/// If the output complains about missing or refused credentials, returns all names. Otherwise returns the names that
/// occur as a word in the command or in the last 64 KiB of an output, the names that a program of the command reads,
/// and the proxies if the network was not reached.
#[must_use]
pub fn find_wanted_names<'a>(withheld: &'a [String], command: &str, stdout: &str, stderr: &str) -> Vec<&'a str> {
    if withheld.is_empty() {
        return Vec::new();
    }
    let outputs = [tail(stderr), tail(stdout)].map(<[u8]>::to_ascii_lowercase);
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| outputs.iter().any(|output| has(output, phrase)));
    if says(COMPLAINTS) {
        return withheld.iter().map(String::as_str).collect();
    }
    let unreached = says(UNREACHED);
    let read = read_by_programs(command);
    let read: Vec<NamePatternSet> = read.into_iter().map(|globs| NamePatternSet::new(globs.iter().copied())).collect();
    withheld
        .iter()
        .map(String::as_str)
        .filter(|name| {
            [command.as_bytes(), tail(stderr), tail(stdout)].iter().any(|text| has_word(text, name.as_bytes()))
                || read.iter().any(|globs| globs.find(name.as_bytes()).is_some())
                || (unreached && name.to_ascii_lowercase().ends_with("_proxy"))
        })
        .collect()
}

/// Returns a line for the result's notes, with at most eight names and never a value. Empty for no names.
#[must_use]
pub fn note_of_withheld(names: &[&str]) -> String {
    let (shown, more) = names.split_at(names.len().min(NAMED));
    let (more, them) = match (names.len(), more.len()) {
        (0, _) => return String::new(),
        (1, _) => (String::new(), "it"),
        (_, 0) => (String::new(), "them"),
        (_, more) => (format!(" and {more} more"), "them"),
    };
    format!("withheld from the command's environment: {}{more} (pass {them} with env or inheritEnv)", shown.join(", "))
}

fn tail(output: &str) -> &[u8] {
    &output.as_bytes()[output.len().saturating_sub(TAIL)..]
}

fn has(output: &[u8], phrase: &str) -> bool {
    let number = NUMBERS.contains(&phrase);
    memmem::find_iter(output, phrase).any(|at| {
        // `line 401 ` and `src/a.ts:401 ` are places in a file.
        !number || (at == 0 || matches!(output[at - 1], b'\n' | b'\t')) || http_before(&output[..at])
    })
}

/// Returns whether the text before a number makes the number an HTTP status: `HTTP/1.1 401 `, `ERR! 401 `, `error: 401
/// `.
fn http_before(before: &[u8]) -> bool {
    let word = before.trim_ascii_end().rsplit(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
    word.starts_with(b"http")
        || word.ends_with(b"!")
        || word.ends_with(b"error:")
        || word.ends_with(b"returned")
        || word.ends_with(b"status:")
        || word.ends_with(b"code:")
        || word.ends_with(b"fatal:")
}

fn has_word(text: &[u8], word: &[u8]) -> bool {
    let within = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    memmem::find_iter(text, word)
        .any(|at| !within(at.checked_sub(1).and_then(|at| text.get(at))) && !within(text.get(at + word.len())))
}

/// Returns the variables that the programs of a command read. Only words in the place of a program count: `grep gh
/// file` runs no gh. This is a rough reading of bash: a mistake costs a note too many or too few.
fn read_by_programs(command: &str) -> Vec<&'static [&'static str]> {
    let mut read = Vec::new();
    for words in simple_commands(command) {
        let mut words = words.iter().map(String::as_str).skip_while(|word| is_before_program(word));
        let Some(program) = words.next() else { continue };
        let program = program.rsplit('/').next().unwrap_or(program);
        let rest: Vec<&str> = words.collect();
        if ["bash", "sh", "zsh", "eval"].contains(&program) {
            rest.iter().filter(|word| word.contains(' ')).for_each(|script| read.extend(read_by_programs(script)));
        }
        let subcommand = rest.iter().find(|word| !word.starts_with('-'));
        read.extend(PROGRAMS.iter().filter_map(|(row, globs)| {
            let (name, second) = row.split_once(' ').map_or((*row, None), |(name, second)| (name, Some(second)));
            (name == program && second.is_none_or(|second| subcommand == Some(&second))).then_some(*globs)
        }));
    }
    read
}

/// Returns whether a word comes before a program: an assignment, a wrapper, or an option or a number of a wrapper.
fn is_before_program(word: &str) -> bool {
    WRAPPERS.contains(&word)
        || word.starts_with('-')
        || word.starts_with(|first: char| first.is_ascii_digit())
        || word.split_once('=').is_some_and(|(name, _)| !name.contains('/'))
}

/// Returns the words of each simple command, without their quotes. Quoted text stays one word; a substitution is a
/// command of its own.
fn simple_commands(command: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word = String::new();
    let mut quote = None;
    // the quotes around each open parenthesis: `"a $(b "c") d"` is quoted again after b
    let mut around = Vec::new();
    let mut characters = command.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', None | Some('"')) => word.extend(characters.next()),
            (end, Some(open)) if end == open => quote = None,
            ('$', None | Some('"')) if characters.peek() == Some(&'(') => {
                characters.next();
                around.push(quote.take());
                end_word(&mut commands, &mut word);
                commands.push(Vec::new());
            }
            (_, Some(_)) => word.push(character),
            ('\'' | '"', None) => quote = Some(character),
            ('#', None) if word.is_empty() => while characters.next_if(|&next| next != '\n').is_some() {},
            (';' | '&' | '|' | '(' | ')' | '{' | '}' | '`' | '\n', None) => {
                end_word(&mut commands, &mut word);
                commands.push(Vec::new());
                match character {
                    '(' => around.push(None),
                    ')' => quote = around.pop().flatten(),
                    _ => {}
                }
            }
            (' ' | '\t' | '\r', None) => end_word(&mut commands, &mut word),
            (_, None) => word.push(character),
        }
    }
    end_word(&mut commands, &mut word);
    commands
}

fn end_word(commands: &mut [Vec<String>], word: &mut String) {
    if let (Some(command), false) = (commands.last_mut(), word.is_empty()) {
        command.push(std::mem::take(word));
    }
}

#[cfg(test)]
#[path = "wanted_tests.rs"]
mod tests;
