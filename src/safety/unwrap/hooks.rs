//! Options of everyday programs that name a command: `tar --to-command`, `rsync -e`, `ssh -o ProxyCommand`.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::inner::Inner;
use crate::safety::command::Command;
use crate::safety::options::{Spec, parse};
use crate::safety::value::Value;

/// One such option.
struct Hook {
    heads: &'static [&'static str],
    spec: Spec,
    names: &'static [&'static str],
    /// What its value begins with where it is a command, in any case.
    begins: &'static [&'static str],
}

/// Settings of ssh that name a command on this machine.
const PROXY: &[&str] =
    &["proxycommand=", "proxycommand ", "localcommand=", "localcommand ", "knownhostscommand=", "knownhostscommand "];

static HOOKS: &[Hook] = &[
    Hook {
        heads: &["tar", "gtar", "bsdtar"],
        spec: Spec::gnu(
            "f:C:b:I:T:X:F:H:K:L:N:V:g:",
            &["to-command=", "use-compress-program=", "info-script=", "new-volume-script=", "rsh-command="],
        ),
        names: &["to-command", "use-compress-program", "I", "info-script", "new-volume-script", "F", "rsh-command"],
        begins: &[],
    },
    Hook {
        heads: &["tar", "gtar"],
        spec: Spec::gnu("f:C:b:I:T:X:", &["checkpoint-action="]),
        names: &["checkpoint-action"],
        begins: &["exec="],
    },
    Hook {
        heads: &["rsync"],
        spec: Spec::gnu("e:f:T:B:M:", &["rsh=", "rsync-path="]),
        names: &["e", "rsh", "rsync-path"],
        begins: &[],
    },
    Hook {
        heads: &["split", "gsplit"],
        spec: Spec::gnu("a:b:C:l:n:t:", &["filter="]),
        names: &["filter"],
        begins: &[],
    },
    Hook {
        heads: &["sort", "gsort"],
        spec: Spec::gnu("k:o:S:t:T:", &["compress-program="]),
        names: &["compress-program"],
        begins: &[],
    },
    Hook {
        heads: &["man"],
        spec: Spec::gnu("P:C:L:m:M:S:s:e:p:r:E:H::", &["pager=", "html=?"]),
        names: &["P", "pager", "H", "html"],
        begins: &[],
    },
    Hook {
        heads: &["rg", "ripgrep"],
        spec: Spec::gnu("e:f:g:t:T:A:B:C:m:j:r:E:M:d:", &["pre=", "hostname-bin="]),
        names: &["pre", "hostname-bin"],
        begins: &[],
    },
    Hook {
        heads: &["zip"],
        spec: Spec::gnu("b:i:n:t:x:O:", &["unzip-command="]),
        names: &["unzip-command"],
        begins: &[],
    },
    Hook {
        heads: &["ssh", "autossh"],
        spec: Spec::leading("46AaB:b:Cc:D:E:e:F:fGgI:i:J:KkL:l:M:m:NnO:o:P:p:Q:qR:S:sTtVvW:w:XxYy", &[]),
        names: &["o"],
        begins: PROXY,
    },
    Hook { heads: &["scp", "sftp"], spec: Spec::leading("c:D:F:i:J:l:o:P:S:X:", &[]), names: &["o"], begins: PROXY },
    Hook { heads: &["scp", "sftp"], spec: Spec::leading("c:D:F:i:J:l:o:P:S:X:", &[]), names: &["S"], begins: &[] },
    Hook {
        heads: &["psql"],
        spec: Spec::gnu("c:d:f:h:p:U:v:o:L:F:R:T:P:", &["command="]),
        names: &["c", "command"],
        begins: &["\\!"],
    },
    Hook {
        heads: &["mysql", "mariadb"],
        spec: Spec::gnu("e:u:p::h:P:D:S:", &["execute="]),
        names: &["e", "execute"],
        begins: &["\\!", "system "],
    },
];

/// The programs with such options, and those that are looked at below.
static HEADS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let heads = HOOKS.iter().flat_map(|hook| hook.heads.iter().copied());
    heads.chain(["sqlite3", "sqlite", "cmake"]).collect()
});

/// What a program's options run.
pub(super) fn hooks(command: &Command, name: &str) -> Vec<Inner> {
    let args = command.args();
    let mut found = Vec::new();
    if !HEADS.contains(name) {
        return found;
    }
    for hook in HOOKS.iter().filter(|hook| hook.heads.contains(&name)) {
        let parsed = parse(args, &hook.spec);
        for given in parsed.options.iter().filter(|given| hook.names.contains(&given.name.as_str())) {
            let Some(value) = &given.value else { continue };
            let via = if given.name.len() == 1 {
                format!("{name} -{}", given.name)
            } else {
                format!("{name} --{}", given.name)
            };
            found.extend(behind(value, hook.begins).and_then(|script| Inner::script(script, via)));
        }
    }
    // `sqlite3 db '.shell cmd'`
    if matches!(name, "sqlite3" | "sqlite") {
        let begins = &[".shell ", ".system "];
        found.extend(
            args.iter().filter_map(|word| behind(word, begins)).filter_map(|script| Inner::script(script, name)),
        );
    }
    if name == "cmake" {
        found.extend(cmake(args));
    }
    found
}

/// The command behind one of these beginnings.
pub(super) fn behind(value: &Value, begins: &[&str]) -> Option<Value> {
    if begins.is_empty() {
        return Some(value.clone());
    }
    let text = value.prefix().trim_start();
    let skipped = value.prefix().len() - text.len();
    let begin =
        begins.iter().find(|begin| text.get(..begin.len()).is_some_and(|head| head.eq_ignore_ascii_case(begin)))?;
    Some(value.after(skipped + begin.len()))
}

/// `cmake -E rm -rf DIR`
fn cmake(args: &[Value]) -> Option<Inner> {
    if args.first()?.known() != Some("-E") {
        return None;
    }
    let words = match args.get(1)?.known()? {
        "rm" => &args[2..],
        "remove_directory" => return Some(removes(&args[2..], "cmake -E")),
        _ => return None,
    };
    let argv = std::iter::once(Value::of("rm")).chain(words.iter().cloned());
    Some(Inner::argv(argv.collect(), "cmake -E"))
}

/// A removal of folders as a command.
fn removes(paths: &[Value], via: &str) -> Inner {
    let argv = ["rm", "-rf", "--"].into_iter().map(Value::of).chain(paths.iter().cloned());
    Inner::argv(argv.collect(), via)
}
