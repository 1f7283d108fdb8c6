//! Interpreters and their languages, as data.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::program::Language;
use super::{calls, syntax};
use crate::safety::options::Spec;

static PYTHON: Language = Language { syntax: &syntax::PYTHON, calls: calls::PYTHON, runs: ("python3", "-c") };
static RUBY: Language = Language { syntax: &syntax::RUBY, calls: calls::RUBY, runs: ("ruby", "-e") };
static PERL: Language = Language { syntax: &syntax::PERL, calls: calls::PERL, runs: ("perl", "-e") };
static JAVASCRIPT: Language = Language { syntax: &syntax::JAVASCRIPT, calls: calls::JAVASCRIPT, runs: ("node", "-e") };
static PHP: Language = Language { syntax: &syntax::PHP, calls: calls::PHP, runs: ("php", "-r") };
pub(super) static LUA: Language = Language { syntax: &syntax::LUA, calls: calls::LUA, runs: ("lua", "-e") };
static R: Language = Language { syntax: &syntax::R, calls: calls::R, runs: ("Rscript", "-e") };
static JULIA: Language = Language { syntax: &syntax::JULIA, calls: calls::JULIA, runs: ("julia", "-e") };
static ELIXIR: Language = Language { syntax: &syntax::ELIXIR, calls: calls::ELIXIR, runs: ("elixir", "-e") };
pub(super) static AWK: Language = Language { syntax: &syntax::AWK, calls: calls::AWK, runs: ("awk", "") };
static APPLESCRIPT: Language = Language { syntax: &syntax::APPLESCRIPT, calls: &[], runs: ("osascript", "-e") };

/// One interpreter.
pub(super) struct Interpreter {
    pub(super) names: &'static [&'static str],
    pub(super) language: &'static Language,
    pub(super) spec: Spec,
    /// Options whose value is code; several of them are lines of one program.
    pub(super) code: &'static [&'static str],
    /// Options that make the first operand code.
    pub(super) flag: &'static [&'static str],
    /// Options with which no program is read from standard input.
    pub(super) stop: &'static [&'static str],
    /// A subcommand that must come first.
    pub(super) sub: &'static [&'static str],
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
pub(super) static BY_NAME: LazyLock<HashMap<&'static str, Vec<&'static Interpreter>>> = LazyLock::new(|| {
    let mut map: HashMap<_, Vec<_>> = HashMap::new();
    for interpreter in INTERPRETERS {
        for name in interpreter.names {
            map.entry(*name).or_default().push(interpreter);
        }
    }
    map
});
