//! Interpreters: where their program stands, and which language it is in.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::program::{Language, program};
use super::{calls, sed, syntax, vim};
use crate::safety::command::{Command, Input};
use crate::safety::options::{Parsed, Spec, parse};
use crate::safety::unwrap::inner::{Inner, is_opaque};
use crate::safety::unwrap::words::{is_stdin, is_substitution, same};
use crate::safety::value::{Piece, Value};

static PYTHON: Language = Language { syntax: &syntax::PYTHON, calls: calls::PYTHON, runs: ("python3", "-c") };
static RUBY: Language = Language { syntax: &syntax::RUBY, calls: calls::RUBY, runs: ("ruby", "-e") };
static PERL: Language = Language { syntax: &syntax::PERL, calls: calls::PERL, runs: ("perl", "-e") };
static JAVASCRIPT: Language = Language { syntax: &syntax::JAVASCRIPT, calls: calls::JAVASCRIPT, runs: ("node", "-e") };
static PHP: Language = Language { syntax: &syntax::PHP, calls: calls::PHP, runs: ("php", "-r") };
pub(super) static LUA: Language = Language { syntax: &syntax::LUA, calls: calls::LUA, runs: ("lua", "-e") };
static R: Language = Language { syntax: &syntax::R, calls: calls::R, runs: ("Rscript", "-e") };
static JULIA: Language = Language { syntax: &syntax::JULIA, calls: calls::JULIA, runs: ("julia", "-e") };
static ELIXIR: Language = Language { syntax: &syntax::ELIXIR, calls: calls::ELIXIR, runs: ("elixir", "-e") };
static AWK: Language = Language { syntax: &syntax::AWK, calls: calls::AWK, runs: ("awk", "") };
static APPLESCRIPT: Language = Language { syntax: &syntax::APPLESCRIPT, calls: &[], runs: ("osascript", "-e") };

/// One interpreter.
struct Interpreter {
    names: &'static [&'static str],
    language: &'static Language,
    spec: Spec,
    /// Options whose value is code; several of them are lines of one program.
    code: &'static [&'static str],
    /// Options that make the first operand code.
    flag: &'static [&'static str],
    /// Options with which no program is read from standard input.
    stop: &'static [&'static str],
    /// A subcommand that must come first.
    sub: &'static [&'static str],
}

const BASE: Interpreter = Interpreter {
    names: &[],
    language: &PYTHON,
    spec: Spec::leading("", &[]),
    code: &[],
    flag: &[],
    stop: &[],
    sub: &[],
};
const NODE: &[&str] = &[
    "eval=",
    "print",
    "require=",
    "import=",
    "check",
    "interactive",
    "test",
    "watch",
    "input-type=",
    "loader=",
    "experimental-loader=",
    "env-file=",
    "conditions=",
    "title=",
    "version",
    "help",
    "run=",
    "max-old-space-size=",
    "inspect=?",
    "inspect-brk=?",
];

static INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["python", "pypy", "ipython", "micropython", "jython"],
        spec: Spec::leading("bBdEhiIm:OPqRsSuvVW:xX:c:", &["help", "version", "check-hash-based-pycs="]),
        code: &["c"],
        stop: &["m", "V", "version", "h", "help"],
        ..BASE
    },
    Interpreter {
        names: &["ruby", "jruby", "truffleruby", "irb"],
        language: &RUBY,
        spec: Spec::leading(
            "acC:dE:e:F:hi::I:K::lnpr:sSvwW::x::y",
            &["version", "help", "yjit", "jit", "enable=", "disable=", "encoding="],
        ),
        code: &["e"],
        stop: &["version", "help", "h"],
        ..BASE
    },
    Interpreter {
        names: &["perl"],
        language: &PERL,
        spec: Spec::leading("0123456789acC::D::d::e:E:F::fghi::I:lm::M::npsStTuUvV::wWXx::", &["help", "version"]),
        code: &["e", "E"],
        stop: &["v", "V", "h"],
        ..BASE
    },
    Interpreter {
        names: &["node", "nodejs", "tsx", "ts-node", "esno", "zx", "bun"],
        language: &JAVASCRIPT,
        spec: Spec::leading("ce:hipr:vC:P:TO:", NODE),
        code: &["e", "eval"],
        flag: &["p", "print"],
        stop: &["v", "version", "h", "help", "c", "check", "test", "run"],
        ..BASE
    },
    Interpreter {
        names: &["deno"],
        language: &JAVASCRIPT,
        spec: Spec::leading("pA", &["print", "ext=", "check", "no-check"]),
        sub: &["eval"],
        ..BASE
    },
    Interpreter {
        names: &["deno", "bun"],
        language: &JAVASCRIPT,
        spec: Spec::leading("AqRWNESIr", &["allow-all", "quiet", "ext=", "no-check", "watch"]),
        stop: &["watch"],
        sub: &["run"],
        ..BASE
    },
    Interpreter {
        names: &["php"],
        language: &PHP,
        spec: Spec::leading(
            "aB:c:CdD:E:ef:F:hHilmnqr:R:sS:t:vwz:",
            &["ini", "rf=", "rc=", "re=", "run=", "version", "help"],
        ),
        code: &["r", "R", "B", "E", "run"],
        stop: &["i", "l", "m", "v", "S", "f", "F", "h", "ini", "version"],
        ..BASE
    },
    Interpreter {
        names: &["lua", "luajit", "texlua"],
        language: &LUA,
        spec: Spec::leading("e:il:vEWj:b:O::", &[]),
        code: &["e"],
        stop: &["v"],
        ..BASE
    },
    Interpreter {
        names: &["Rscript", "R", "littler"],
        language: &R,
        spec: Spec::leading(
            "e:f:",
            &["vanilla", "slave", "no-save", "quiet", "file=", "version", "help", "default-packages="],
        ),
        code: &["e"],
        stop: &["version", "help", "f", "file"],
        ..BASE
    },
    Interpreter {
        names: &["julia"],
        language: &JULIA,
        spec: Spec::leading("e:E:J:p:t:L:C:O::g::qvhi", &["eval=", "print=", "project=?", "threads=", "startup-file="]),
        code: &["e", "E", "eval", "print"],
        stop: &["v", "h"],
        ..BASE
    },
    Interpreter {
        names: &["elixir", "iex"],
        language: &ELIXIR,
        spec: Spec::leading("e:r:S:pvh", &["eval=", "rpc-eval=", "no-halt"]),
        code: &["e", "eval"],
        stop: &["v", "h"],
        ..BASE
    },
    Interpreter {
        names: &["mix"],
        language: &ELIXIR,
        spec: Spec::leading("e:", &["eval="]),
        code: &["e", "eval"],
        sub: &["run"],
        ..BASE
    },
    Interpreter {
        names: &["rails"],
        language: &RUBY,
        spec: Spec::leading("e:h", &["environment="]),
        sub: &["runner", "r"],
        ..BASE
    },
    Interpreter {
        names: &["osascript"],
        language: &APPLESCRIPT,
        spec: Spec::leading("e:l:is:", &[]),
        code: &["e"],
        ..BASE
    },
    Interpreter {
        names: &["awk", "gawk", "mawk", "nawk", "original-awk", "goawk"],
        language: &AWK,
        spec: Spec::leading(
            "bcCd::D::e:E:f:F:ghi:IkL::MnNo::Op::PrsStv:V",
            &[
                "field-separator=",
                "file=",
                "assign=",
                "source=",
                "include=",
                "exec=",
                "load=",
                "re-interval",
                "posix",
                "version",
                "help",
                "csv",
                "sandbox",
                "non-decimal-data",
                "lint=?",
            ],
        ),
        code: &["e", "source"],
        flag: &[],
        stop: &["V", "version", "help"],
        ..BASE
    },
];

/// The interpreters by name.
static BY_NAME: LazyLock<HashMap<&'static str, Vec<&'static Interpreter>>> = LazyLock::new(|| {
    let mut map: HashMap<_, Vec<_>> = HashMap::new();
    for interpreter in INTERPRETERS {
        for name in interpreter.names {
            map.entry(*name).or_default().push(interpreter);
        }
    }
    map
});

/// What an interpreter runs; `None` for what is none.
pub(in crate::safety::unwrap) fn interpreter(command: &Command, name: &str, input: &Input) -> Option<Vec<Inner>> {
    match name {
        "sed" | "gsed" | "ssed" => return Some(sed::sed(command, name, input)),
        "vim" | "nvim" | "vi" | "ex" | "view" | "gvim" | "vimdiff" | "nvim-qt" => {
            return Some(vim::vim(command, name, input));
        }
        "ed" | "red" => return Some(vim::ed(command, input)),
        _ => {}
    }
    // `python3.12`
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.' || letter == '-');
    let candidates = BY_NAME.get(name).or_else(|| BY_NAME.get(plain))?;
    candidates.iter().find_map(|interpreter| read(command, name, input, interpreter))
}

fn read(command: &Command, name: &str, input: &Input, interpreter: &Interpreter) -> Option<Vec<Inner>> {
    let mut args = command.args();
    if !interpreter.sub.is_empty() {
        let sub = args.iter().position(|word| !word.prefix().starts_with('-'))?;
        interpreter.sub.contains(&args[sub].known()?).then_some(())?;
        args = &args[sub + 1..];
    } else if name == "bun" && !args.first().is_some_and(|word| word.prefix().starts_with('-')) {
        // Its subcommands run nothing from these words.
        return None;
    }
    let parsed = parse(args, &interpreter.spec);
    let is_awk = std::ptr::eq(interpreter.language, &AWK);
    let variables = if is_awk { assigned(&parsed) } else { Vec::new() };
    let look = |text: &Value, via: &str| program(command, interpreter.language, text, via, variables.clone());
    let mut found = Vec::new();
    let mut text = Value::default();
    for given in parsed.options.iter().filter(|given| interpreter.code.contains(&given.name.as_str())) {
        let Some(code) = &given.value else { continue };
        if !text.pieces().is_empty() {
            text.push(Piece::Text("\n".to_owned()));
        }
        text.extend(code);
    }
    let operand = parsed.operands.first().map(|at| &args[*at]);
    let from_file = parsed.value(&["f", "file"]).filter(|_| is_awk);
    let operand_is_code = (is_awk && from_file.is_none())
        || parsed.has(interpreter.flag)
        || matches!(interpreter.sub, ["eval"] | ["runner", ..]);
    if text.pieces().is_empty()
        && operand_is_code
        && let Some(code) = operand
    {
        text = code.clone();
    }
    if !text.pieces().is_empty() {
        let option = interpreter.code.iter().find(|option| parsed.has(&[option])).map(|option| dashed(option));
        let option = option
            .or_else(|| interpreter.flag.iter().find(|option| parsed.has(&[option])).map(|option| dashed(option)));
        let via = match option {
            Some(option) => format!("{name} {option}"),
            None if !interpreter.sub.is_empty() => format!("{name} {}", interpreter.sub[0]),
            None => name.to_owned(),
        };
        if is_opaque(&text) {
            found.push(Inner::Opaque { via });
        } else {
            found.extend(look(&text, &via));
        }
        return Some(found);
    }
    if parsed.has(interpreter.stop) || (operand_is_code && from_file.is_none()) {
        return Some(found);
    }
    let file = if is_awk { from_file } else { operand };
    let reads = match file {
        None => !is_awk && interpreter.sub.is_empty(),
        Some(file) => same(file, "-") || is_stdin(file),
    };
    if file.is_some_and(is_substitution) {
        found.push(Inner::Opaque { via: name.to_owned() });
    } else if reads {
        match input {
            Input::Text(text, _) if is_opaque(text) => found.push(Inner::Opaque { via: name.to_owned() }),
            Input::Text(text, _) => found.extend(look(text, &format!("{name} <<"))),
            Input::Opaque(_) => found.push(Inner::Opaque { via: name.to_owned() }),
            Input::Inherited => {}
        }
    }
    Some(found)
}

/// awk's `-v name=value`.
fn assigned(parsed: &Parsed) -> Vec<(String, Value)> {
    let given = parsed.options.iter().filter(|given| matches!(given.name.as_str(), "v" | "assign"));
    given.filter_map(|given| crate::safety::unwrap::words::variable(given.value.as_ref()?)).collect()
}

fn dashed(name: &str) -> String {
    if name.len() == 1 { format!("-{name}") } else { format!("--{name}") }
}
