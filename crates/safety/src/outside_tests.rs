//! Runs every line of `__test__/safety/corpus/outside` through wrappers and quotings and checks that the verdict stays.
//!
//! `AGENT_BASH_WRAPPINGS` is the number of ways per line, drawn by `AGENT_BASH_SEED`, or `all`.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::analysis::CommandUnit;
use super::corpus_tests::{CorpusLine, judge, lines_of, outside};
use super::verdict::SafetyVerdict;

/// A way to run a command, given as text.
enum InvocationForm {
    /// A prefix or another frame for the words of one simple command.
    Simple(&'static str),
    /// A frame for any code; `CODE` is the code, `'CODE'` the code in quotes.
    Code(&'static str),
    /// Another frame for any code.
    Made(&'static str, fn(&str) -> String),
    /// The words, each spelled in another way.
    Words(&'static str, fn(&[String]) -> String),
}

static WAYS: &[InvocationForm] = &[
    InvocationForm::Simple("sudo CODE"),
    InvocationForm::Simple("sudo -u root -H -- CODE"),
    InvocationForm::Simple("sudo -nE A=1 CODE"),
    InvocationForm::Simple("doas -u root CODE"),
    InvocationForm::Simple("env CODE"),
    InvocationForm::Simple("env -u B A=1 CODE"),
    InvocationForm::Simple("/usr/bin/env CODE"),
    InvocationForm::Simple("A=1 B=2 CODE"),
    InvocationForm::Simple("nice -n 5 CODE"),
    InvocationForm::Simple("ionice -c 3 CODE"),
    InvocationForm::Simple("nohup CODE &"),
    InvocationForm::Simple("time CODE"),
    InvocationForm::Simple("time -p CODE"),
    InvocationForm::Simple("timeout 5 CODE"),
    InvocationForm::Simple("timeout -k 1 -s KILL 5m CODE"),
    InvocationForm::Simple("setsid -w CODE"),
    InvocationForm::Simple("stdbuf -oL CODE"),
    InvocationForm::Simple("command CODE"),
    InvocationForm::Simple("exec CODE"),
    InvocationForm::Simple("! CODE"),
    InvocationForm::Simple("sudo env nice -n 5 timeout 5 CODE"),
    InvocationForm::Simple("echo x | xargs CODE"),
    InvocationForm::Simple("ls | xargs -I ITEM CODE"),
    InvocationForm::Simple("find . -name x -exec CODE \\;"),
    InvocationForm::Simple("bash -c '\"$@\"' _ CODE"),
    InvocationForm::Simple("f() { \"$@\"; }; f CODE"),
    InvocationForm::Simple("docker exec web CODE"),
    InvocationForm::Simple("docker exec -i -u root -w /srv web CODE"),
    InvocationForm::Simple("docker compose exec -T web CODE"),
    InvocationForm::Simple("docker-compose exec web CODE"),
    InvocationForm::Simple("docker run --rm -v /srv:/srv app CODE"),
    InvocationForm::Simple("podman exec web CODE"),
    InvocationForm::Simple("kubectl exec web-0 -- CODE"),
    InvocationForm::Simple("kubectl -n prod exec -i deploy/web -c app -- CODE"),
    InvocationForm::Simple("npx CODE"),
    InvocationForm::Simple("npx -y CODE"),
    InvocationForm::Simple("npm exec -- CODE"),
    InvocationForm::Simple("pnpm exec CODE"),
    InvocationForm::Simple("pnpm dlx CODE"),
    InvocationForm::Simple("yarn exec CODE"),
    InvocationForm::Simple("yarn dlx CODE"),
    InvocationForm::Simple("bunx CODE"),
    InvocationForm::Simple("poetry run CODE"),
    InvocationForm::Simple("pipenv run CODE"),
    InvocationForm::Simple("uv run CODE"),
    InvocationForm::Simple("uvx CODE"),
    InvocationForm::Simple("pipx run CODE"),
    InvocationForm::Simple("bundle exec CODE"),
    InvocationForm::Simple("mise exec -- CODE"),
    InvocationForm::Simple("aws-vault exec prod -- CODE"),
    InvocationForm::Simple("dotenv -e .env -- CODE"),
    InvocationForm::Simple("heroku run -a acme CODE"),
    InvocationForm::Code("bash -c 'CODE'"),
    InvocationForm::Code("bash -euo pipefail -c 'CODE'"),
    InvocationForm::Code("sh -c 'CODE' name"),
    InvocationForm::Code("eval 'CODE'"),
    InvocationForm::Code("su - dev -c 'CODE'"),
    InvocationForm::Code("ssh host 'CODE'"),
    InvocationForm::Code("ssh -t -p 22 user@host 'CODE'"),
    InvocationForm::Code("docker exec web sh -c 'CODE'"),
    InvocationForm::Code("kubectl exec web-0 -- bash -c 'CODE'"),
    InvocationForm::Code("npx -c 'CODE'"),
    InvocationForm::Code("ls | xargs -I ITEM sh -c 'CODE'"),
    InvocationForm::Code("trap 'CODE' EXIT"),
    InvocationForm::Code("held='CODE'; eval \"$held\""),
    InvocationForm::Code("held='CODE'; bash -c \"$held\""),
    InvocationForm::Code("bash <<< 'CODE'"),
    InvocationForm::Code("printf '%s\\n' 'CODE' | bash"),
    InvocationForm::Code("bash <<'END_OF_IT'\nCODE\nEND_OF_IT"),
    InvocationForm::Code("ssh host 'bash -s' <<'END_OF_IT'\nCODE\nEND_OF_IT"),
    InvocationForm::Code("cat <<'END_OF_IT' | sudo bash\nCODE\nEND_OF_IT"),
    InvocationForm::Code("held() { CODE\n}; held"),
    InvocationForm::Code("function held { CODE\n}\nheld a b"),
    InvocationForm::Code("for held in a b; do CODE\ndone"),
    InvocationForm::Code("while true; do CODE\nbreak; done"),
    InvocationForm::Code("if true; then CODE\nfi"),
    InvocationForm::Code("if CODE\nthen true; else false; fi"),
    InvocationForm::Code("case x in x) CODE\n;; esac"),
    InvocationForm::Code("( CODE\n)"),
    InvocationForm::Code("{ CODE\n}"),
    InvocationForm::Code("true && { CODE\n} || false"),
    InvocationForm::Code("cd . && { CODE\n}"),
    InvocationForm::Code("held=$( CODE\n)"),
    InvocationForm::Code("echo \"$( CODE\n)\""),
    InvocationForm::Code("{ CODE\n} 2>&1 | tail -20"),
    InvocationForm::Code("diff <( CODE\n) expected.txt"),
    InvocationForm::Code("set -euo pipefail\nCODE\necho done"),
    InvocationForm::Code("vagrant ssh -c 'CODE'"),
    InvocationForm::Code("gcloud compute ssh vm --zone z --command 'CODE'"),
    InvocationForm::Code("fly ssh console -C 'CODE'"),
    InvocationForm::Code("nix-shell -p hello --run 'CODE'"),
    InvocationForm::Code("script -qc 'CODE' /dev/null"),
    InvocationForm::Code("flock /tmp/l -c 'CODE'"),
    InvocationForm::Code("watch -n 5 'CODE'"),
    InvocationForm::Code("docker run --rm --entrypoint sh app -c 'CODE'"),
    InvocationForm::Code("find . -name x -exec sh -c 'CODE' \\;"),
    InvocationForm::Code("source /dev/stdin <<< 'CODE'"),
    InvocationForm::Code("while read -r held; do CODE\ndone < list.txt"),
    InvocationForm::Made("python3, os.system", |code| {
        format!("python3 -c {}", single(&format!("import os; os.system({})", serde_json::json!(code))))
    }),
    InvocationForm::Made("python3, subprocess, in a heredoc", |code| {
        let run = format!("subprocess.run({}, shell=True, check=True)", serde_json::json!(code));
        format!("python3 - <<'END_OF_IT'\nimport subprocess\n{run}\nEND_OF_IT")
    }),
    InvocationForm::Made("node, execSync", |code| {
        let run = format!("require('child_process').execSync({})", serde_json::json!(code));
        format!("node -e {}", single(&run))
    }),
    InvocationForm::Made("backticks", |code| format!("echo `\n{}\n`", code.replace('\\', "\\\\").replace('`', "\\`"))),
    InvocationForm::Words("in single quotes", |words| joined(words, single)),
    InvocationForm::Words("in double quotes", |words| joined(words, double)),
    InvocationForm::Words("with backslashes", |words| joined(words, backslashes)),
    InvocationForm::Words("in $'…'", |words| joined(words, ansi_c)),
    InvocationForm::Words("in quotes by turns", |words| joined(words, by_turns)),
    InvocationForm::Words("in variables", in_variables),
    InvocationForm::Words("in an array", |words| format!("held=({})\n\"${{held[@]}}\"", joined(words, single))),
    InvocationForm::Words("in parameters", |words| format!("set -- {}; \"$@\"", joined(words, single))),
    InvocationForm::Words("over several lines", |words| {
        words.iter().map(|word| single(word)).collect::<Vec<_>>().join(" \\\n  ")
    }),
];

/// Ways that change the effect of a line, and so its verdict.
struct VerdictException {
    /// Text in the name of the way.
    way: &'static str,
    /// The file of the line. Empty for all.
    file: &'static str,
    /// The verdict of the line. Empty for all.
    wanted: &'static str,
    /// Text in the command; `# ` at its beginning. Empty for all.
    command: &'static str,
    why: &'static str,
}

const fn except(
    way: &'static str,
    file: &'static str,
    wanted: &'static str,
    command: &'static str,
    why: &'static str,
) -> VerdictException {
    VerdictException { way, file, wanted, command, why }
}

static EXCEPTIONS: &[VerdictException] = &[
    except("x | xargs", "infrastructure", "", "apply", "the operand of an apply is its plan"),
    except("x | xargs", "", "", "ssh '", "a script that is one word has no further words"),
    except("x | xargs", "secret-leaves", "", "", "the last operand says where a copy goes"),
    except("x | xargs", "data-destroy", "", "", "the last operand says where a copy goes"),
    except("x | xargs", "", "", "kill -1", "with an operand, the number is a signal"),
    except("x | xargs", "database", "allow", "duckdb -c", "the operand is a file, in place of memory"),
    except("xargs", "", "", "<<<", "xargs reads the input itself"),
    except("xargs", "data-destroy", "ask", "rm ", "the rule leaves what a search deletes to its tests"),
    except("find", "data-destroy", "ask", "rm ", "the rule leaves what a search deletes to its tests"),
    except("-exec", "", "", "{}", "find puts the path in its place"),
    except("ssh", "system-change", "allow", " -R ", "on another machine, the cwd is another one"),
    except("ssh", "data-destroy", "allow", "", "on another machine, the cwd is another one"),
    except("CODE\n", "", "", "# ", "bash takes no comment for a command"),
];

impl InvocationForm {
    fn name(&self) -> &'static str {
        match self {
            Self::Simple(name) | Self::Code(name) | Self::Made(name, _) | Self::Words(name, _) => name,
        }
    }

    /// Returns the command in this way. `None` if its words are not all plain.
    fn wrapped(&self, command: &str, simple: Option<&CommandUnit>) -> Option<String> {
        match self {
            Self::Simple(frame) => {
                let code = simple.map_or_else(|| format!("bash -c {}", single(command)), |_| command.to_owned());
                Some(frame.replacen("CODE", &code, 1))
            }
            Self::Code(frame) if frame.contains("'CODE'") => Some(frame.replacen("'CODE'", &single(command), 1)),
            Self::Code(frame) => Some(frame.replacen("CODE", command, 1)),
            Self::Made(_, make) => Some(make(command)),
            Self::Words(_, spell) => {
                let unit = simple.filter(|unit| {
                    unit.redirects.is_empty() && unit.assignments.is_empty() && unit.argv.iter().all(|word| word.known)
                })?;
                let plain = !expands(command);
                plain.then(|| spell(&unit.argv.iter().map(|word| word.text.clone()).collect::<Vec<_>>()))
            }
        }
    }
}

/// Words that only the shell itself runs.
static OF_THE_SHELL: &str = "cd eval set trap history export source . alias read declare local exec hash type ulimit \
                             umask wait shopt return exit break : [ [[";

/// Returns the only unit of a command, if the command is one simple command that a program can run.
fn simple(command: &str) -> Option<CommandUnit> {
    let unit = judge(command).commands.into_iter().find(|unit| unit.via.is_empty())?;
    let whole = unit.source == command.trim() && !command.contains(['\n', '{', '#']);
    let head = unit.argv.first().map_or("", |word| word.text.as_str());
    (whole && unit.assignments.is_empty() && !OF_THE_SHELL.split_whitespace().any(|word| word == head)).then_some(unit)
}

/// Returns whether a command has an expansion, so that quotes around its words change them.
fn expands(command: &str) -> bool {
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (None | Some('"'), '\\') => {
                chars.next();
            }
            (None | Some('"'), '$' | '`') | (None, '*' | '?' | '[' | '~' | '{') => return true,
            (None, '\'' | '"') => quote = Some(char),
            (Some(open), _) if char == open => quote = None,
            _ => {}
        }
    }
    false
}

fn joined(words: &[String], spell: fn(&str) -> String) -> String {
    words.iter().map(|word| spell(word)).collect::<Vec<_>>().join(" ")
}

fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn double(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$").replace('`', "\\`");
    format!("\"{escaped}\"")
}

fn backslashes(text: &str) -> String {
    if text.is_empty() || text.contains('\n') {
        return single(text);
    }
    let plain = |char: char| char.is_ascii_alphanumeric() || "/._-".contains(char);
    let mut spelled = String::new();
    for (at, char) in text.chars().enumerate() {
        if at == 1 || !plain(char) {
            spelled.push('\\');
        }
        spelled.push(char);
    }
    spelled
}

fn ansi_c(text: &str) -> String {
    let mut spelled = String::from("$'");
    for byte in text.bytes() {
        write!(spelled, "\\x{byte:02x}").unwrap();
    }
    spelled.push('\'');
    spelled
}

fn by_turns(text: &str) -> String {
    let half = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}\"\"{}", double(&text[..half]), single(&text[half..]))
}

fn in_variables(words: &[String]) -> String {
    let mut code = String::new();
    for (at, word) in words.iter().enumerate() {
        writeln!(code, "held_{at}={}", single(word)).unwrap();
    }
    let names: Vec<_> = (0..words.len()).map(|at| format!("\"$held_{at}\"")).collect();
    code + &names.join(" ")
}

/// Returns the error in the verdict of a line in one way, if any.
fn miss(line: &CorpusLine, command: &str) -> Option<String> {
    let analysis = judge(command);
    let right = match line.wanted.as_str() {
        "allow" => analysis.verdict <= SafetyVerdict::Warn && analysis.complete,
        _ => {
            let named = |rule: &str| analysis.findings.iter().any(|finding| finding.rule_id == rule);
            let found = line.rules.as_ref().is_none_or(|rules| rules.split('|').any(named));
            analysis.verdict >= SafetyVerdict::Ask && found
        }
    };
    let ids: Vec<_> = analysis.findings.iter().map(|finding| finding.rule_id.as_str()).collect();
    (!right).then(|| format!("{}, got {:?} {ids:?} complete={}", line.wanted, analysis.verdict, analysis.complete))
}

/// Returns whether an exception holds for a line in one way.
fn excepted(file: &str, line: &CorpusLine, way: &InvocationForm) -> bool {
    EXCEPTIONS.iter().any(|exception| {
        let text = if exception.command == "# " {
            line.command.starts_with("# ")
        } else {
            line.command.contains(exception.command)
        };
        text && way.name().contains(exception.way)
            && file.contains(exception.file)
            && line.wanted.contains(exception.wanted)
    })
}

/// Pseudo-random numbers. Equal seeds draw equal numbers.
struct CorpusRandom(u64);

impl CorpusRandom {
    /// Draws any way.
    fn way(&mut self) -> &'static InvocationForm {
        // Knuth's linear congruence; its upper bits are random enough.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        &WAYS[(self.0 >> 33) as usize % WAYS.len()]
    }

    /// Draws a way that takes any code.
    fn frame(&mut self) -> &'static InvocationForm {
        std::iter::repeat_with(|| self.way())
            .find(|way| matches!(way, InvocationForm::Code(_) | InvocationForm::Made(..)))
            .unwrap()
    }
}

/// Returns the wrong verdicts of one file: each line in `count` ways, and each of these inside one more.
fn misses(file: &str, lines: &[CorpusLine], count: Option<usize>, seed: u64) -> Vec<String> {
    let mut draw = CorpusRandom(seed);
    let mut found = Vec::new();
    for line in lines {
        let unit = simple(&line.command);
        let ways: Vec<_> = match count {
            None => WAYS.iter().collect(),
            Some(count) => std::iter::repeat_with(|| draw.way()).take(count).collect(),
        };
        for way in ways {
            if excepted(file, line, way) {
                continue;
            }
            let Some(once) = way.wrapped(&line.command, unit.as_ref()) else { continue };
            let frame = draw.frame();
            let twice = frame.wrapped(&once, None).unwrap_or_else(|| once.clone());
            let named = format!("{} · {}", frame.name(), way.name());
            for (wrapped, name) in [(&once, way.name()), (&twice, named.as_str())] {
                if wrapped == &twice && excepted(file, line, frame) {
                    continue;
                }
                if let Some(what) = miss(line, wrapped) {
                    found.push(format!("{file} [{name}] {what}: {:?}", line.command));
                    break;
                }
            }
        }
    }
    found
}

#[test]
fn every_way_to_run_a_command_keeps_its_verdict() {
    let asked = std::env::var("AGENT_BASH_WRAPPINGS").ok();
    let count = match asked.as_deref() {
        Some("all") => None,
        given => Some(given.and_then(|count| count.parse().ok()).unwrap_or(2)),
    };
    let seed = std::env::var("AGENT_BASH_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!("AGENT_BASH_SEED={seed}");
    assert!(EXCEPTIONS.iter().all(|exception| !exception.why.is_empty()));
    let files = outside();
    let found: Vec<String> = std::thread::scope(|scope| {
        let check = |file: &PathBuf| misses(&file.file_stem().unwrap().to_string_lossy(), &lines_of(file), count, seed);
        let started: Vec<_> = files.iter().map(|file| scope.spawn(move || check(file))).collect();
        started.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let most = std::env::var("MISSES").ok().and_then(|most| most.parse().ok()).unwrap_or(40);
    let shown: Vec<_> = found.iter().take(most).map(String::as_str).collect();
    assert!(found.is_empty(), "{} misses\n{}", found.len(), shown.join("\n"));
}
