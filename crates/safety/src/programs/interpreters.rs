//! Interpreters of programming languages. Their programs are read by `unwrap::inline`.

use super::lasting::{Lasting, Stake};
use super::program::Arity::{Never, Words};
use super::program::{Effect, Fact, Interpreter, Language, Program, Target};
use crate::options::OptionSpec;

static DENO_PUBLISH: Lasting =
    Lasting::of(Stake::Publication, "publishes the package of this directory to JSR, for good", "+--dry-run");

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "R Rscript",
        interpreters: &[Interpreter {
            language: Language::Other,
            options: OptionSpec::leading("e:f:", "vanilla slave no-save quiet file= version help default-packages="),
            code: "e",
            stop: "version help f file",
            ..Interpreter::NONE
        }],
        rule: Never,
        ..Program::DATA
    },
    Program {
        names: "awk gawk mawk",
        interpreters: &[Interpreter {
            language: Language::Awk,
            options: OptionSpec::leading(
                "bcCd::D::e:E:f:F:ghi:IkL::MnNo::Op::PrsStv:V",
                "\
                field-separator= file= assign= source= include= exec= load= re-interval posix version help csv \
                sandbox non-decimal-data lint=?",
            ),
            code: "e source",
            stop: "V version help",
            ..Interpreter::NONE
        }],
        rule: Never,
        ..Program::DATA
    },
    Program { names: "clang g++ gcc java javac rustc tsc", facts: &[Fact::PrintsItsVersion], ..Program::DATA },
    Program {
        names: "deno",
        interpreters: &[
            Interpreter {
                language: Language::JavaScript,
                options: OptionSpec::leading("pA", "print ext= check no-check"),
                subcommand: "eval",
                ..Interpreter::NONE
            },
            Interpreter {
                language: Language::JavaScript,
                options: OptionSpec::leading("AqRWNESIr", "allow-all quiet ext= no-check watch"),
                stop: "watch",
                subcommand: "run",
                ..Interpreter::NONE
            },
        ],
        rule: Words(2),
        sub_rules: &[(Words(3), "task"), (Never, "eval, run")],
        subcommands: &[(Effect::Lasts(&DENO_PUBLISH), "publish")],
        facts: &[Fact::PrintsItsVersion],
        ..Program::COMMANDS
    },
    Program { names: "ed", rule: Never, ..Program::DATA },
    Program {
        names: "elixir",
        interpreters: &[Interpreter {
            language: Language::Other,
            options: OptionSpec::leading("e:r:S:pvh", "eval= rpc-eval= no-halt"),
            code: "e eval",
            stop: "v h",
            ..Interpreter::NONE
        }],
        ..Program::UNKNOWN
    },
    Program {
        names: "emacs emacsclient",
        interpreters: &[Interpreter {
            language: Language::Other,
            options: OptionSpec {
                permute: true,
                ..OptionSpec::go(
                    "\
                    eval= execute= e= f= funcall= l= load= script= x= insert= batch q Q no-init-file nw no-window-system \
                    c n t create-frame tty no-wait s= socket-name= a= alternate-editor=",
                )
            },
            code: "eval execute e",
            stop: "batch f funcall l load script x",
            ..Interpreter::NONE
        }],
        rule: Never,
        ..Program::DATA
    },
    Program { names: "ex vi", rule: Never, ..Program::UNKNOWN },
    Program {
        names: "expect",
        interpreters: &[Interpreter {
            language: Language::Other,
            options: OptionSpec::leading("c:dDf:inNbv", ""),
            code: "c",
            stop: "f b v",
            ..Interpreter::NONE
        }],
        rule: Never,
        ..Program::UNKNOWN
    },
    Program {
        names: "esno zx",
        interpreters: &[Interpreter {
            language: Language::JavaScript,
            options: OptionSpec::leading(
                "ce:hipr:vC:P:TO:",
                "\
                eval= print require= import= check interactive test watch input-type= loader= experimental-loader= \
                env-file= conditions= title= version help run= max-old-space-size= inspect=? inspect-brk=?",
            ),
            code: "e eval",
            flag: "p print",
            stop: "v version h help c check test run",
            ..Interpreter::NONE
        }],
        ..Program::UNKNOWN
    },
    Program {
        names: "goawk nawk original-awk",
        interpreters: &[Interpreter {
            language: Language::Awk,
            options: OptionSpec::leading(
                "bcCd::D::e:E:f:F:ghi:IkL::MnNo::Op::PrsStv:V",
                "\
                field-separator= file= assign= source= include= exec= load= re-interval posix version help csv \
                sandbox non-decimal-data lint=?",
            ),
            code: "e source",
            stop: "V version help",
            ..Interpreter::NONE
        }],
        ..Program::UNKNOWN
    },
    Program {
        names: "iex",
        interpreters: &[Interpreter {
            language: Language::Other,
            options: OptionSpec::leading("e:r:S:pvh", "eval= rpc-eval= no-halt"),
            code: "e eval",
            stop: "v h",
            ..Interpreter::NONE
        }],
        rule: Never,
        ..Program::UNKNOWN
    },
    Program {
        names: "ipython jython micropython",
        interpreters: &[Interpreter {
            language: Language::Python,
            options: OptionSpec::leading("bBdEhiIm:OPqRsSuvVW:xX:c:", "help version check-hash-based-pycs="),
            code: "c",
            stop: "m V version h help",
            ..Interpreter::NONE
        }],
        ..Program::UNKNOWN
    },
    Program {
        names: "irb",
        interpreters: &[Interpreter {
            language: Language::Ruby,
            options: OptionSpec::leading(
                "acC:dE:e:F:hi::I:K::lnpr:sSvwW::x::y",
                "version help yjit jit enable= disable= encoding=",
            ),
            code: "e",
            stop: "version help h",
            ..Interpreter::NONE
        }],
        rule: Never,
        ..Program::UNKNOWN
    },
    Program {
        names: "jruby truffleruby",
        interpreters: &[Interpreter {
            language: Language::Ruby,
            options: OptionSpec::leading(
                "acC:dE:e:F:hi::I:K::lnpr:sSvwW::x::y",
                "version help yjit jit enable= disable= encoding=",
            ),
            code: "e",
            stop: "version help h",
            ..Interpreter::NONE
        }],
        ..Program::UNKNOWN
    },
    Program {
        names: "julia",
        interpreters: &[Interpreter {
            language: Language::Other,
            options: OptionSpec::leading("e:E:J:p:t:L:C:O::g::qvhi", "eval= print= project=? threads= startup-file="),
            code: "e E eval print",
            stop: "v h",
            ..Interpreter::NONE
        }],
        rule: Never,
        ..Program::DATA
    },
    Program {
        names: "littler",
        interpreters: &[Interpreter {
            language: Language::Other,
            options: OptionSpec::leading("e:f:", "vanilla slave no-save quiet file= version help default-packages="),
            code: "e",
            stop: "version help f file",
            ..Interpreter::NONE
        }],
        ..Program::UNKNOWN
    },
    Program {
        names: "lua",
        interpreters: &[Interpreter {
            language: Language::Lua,
            options: OptionSpec::leading("e:il:vEWj:b:O::", ""),
            code: "e",
            stop: "v",
            ..Interpreter::NONE
        }],
        rule: Never,
        ..Program::COMMANDS
    },
    Program {
        names: "luajit",
        interpreters: &[Interpreter {
            language: Language::Lua,
            options: OptionSpec::leading("e:il:vEWj:b:O::", ""),
            code: "e",
            stop: "v",
            ..Interpreter::NONE
        }],
        rule: Never,
        ..Program::UNKNOWN
    },
    Program {
        names: "node",
        interpreters: &[Interpreter {
            language: Language::JavaScript,
            options: OptionSpec::leading(
                "ce:hipr:vC:P:TO:",
                "\
                eval= print require= import= check interactive test watch input-type= loader= experimental-loader= \
                env-file= conditions= title= version help run= max-old-space-size= inspect=? inspect-brk=?",
            ),
            code: "e eval",
            flag: "p print",
            stop: "v version h help c check test run",
            ..Interpreter::NONE
        }],
        rule: Never,
        facts: &[Fact::PrintsItsVersion],
        ..Program::COMMANDS
    },
    Program {
        names: "nodejs",
        interpreters: &[Interpreter {
            language: Language::JavaScript,
            options: OptionSpec::leading(
                "ce:hipr:vC:P:TO:",
                "\
                eval= print require= import= check interactive test watch input-type= loader= experimental-loader= \
                env-file= conditions= title= version help run= max-old-space-size= inspect=? inspect-brk=?",
            ),
            code: "e eval",
            flag: "p print",
            stop: "v version h help c check test run",
            ..Interpreter::NONE
        }],
        rule: Never,
        ..Program::COMMANDS
    },
    Program { names: "nvim vim", rule: Never, ..Program::COMMANDS },
    Program {
        names: "osascript",
        interpreters: &[Interpreter {
            language: Language::Other,
            options: OptionSpec::leading("e:l:is:", ""),
            code: "e",
            ..Interpreter::NONE
        }],
        rule: Never,
        ..Program::DATA
    },
    Program {
        names: "perl",
        options: OptionSpec::exact("acC::D::e:E:fF:i::I:l::m:M:n0::psStTuUvV::wWxX", ""),
        interpreters: &[Interpreter {
            language: Language::Perl,
            options: OptionSpec::leading(
                "0123456789acC::D::d::e:E:F::fghi::I:lm::M::npsStTuUvV::wWXx::",
                "help version",
            ),
            code: "e E",
            stop: "v V h",
            ..Interpreter::NONE
        }],
        rule: Never,
        facts: &[Fact::PrintsItsVersion, Fact::Writes(Target::OperandsWith("i"))],
        ..Program::COMMANDS
    },
    Program {
        names: "php",
        interpreters: &[Interpreter {
            language: Language::Php,
            options: OptionSpec::leading("aB:c:CdD:E:ef:F:hHilmnqr:R:sS:t:vwz:", "ini rf= rc= re= run= version help"),
            code: "r R B E run",
            stop: "i l m v S f F h ini version",
            ..Interpreter::NONE
        }],
        rule: Never,
        facts: &[Fact::PrintsItsVersion],
        ..Program::COMMANDS
    },
    Program {
        names: "pypy pypy3",
        interpreters: &[Interpreter {
            language: Language::Python,
            options: OptionSpec::leading("bBdEhiIm:OPqRsSuvVW:xX:c:", "help version check-hash-based-pycs="),
            code: "c",
            stop: "m V version h help",
            ..Interpreter::NONE
        }],
        rule: Never,
        ..Program::COMMANDS
    },
    Program {
        names: "python python2 python3",
        interpreters: &[Interpreter {
            language: Language::Python,
            options: OptionSpec::leading("bBdEhiIm:OPqRsSuvVW:xX:c:", "help version check-hash-based-pycs="),
            code: "c",
            stop: "m V version h help",
            ..Interpreter::NONE
        }],
        rule: Never,
        facts: &[Fact::PrintsItsVersion],
        ..Program::COMMANDS
    },
    Program {
        names: "ruby",
        interpreters: &[Interpreter {
            language: Language::Ruby,
            options: OptionSpec::leading(
                "acC:dE:e:F:hi::I:K::lnpr:sSvwW::x::y",
                "version help yjit jit enable= disable= encoding=",
            ),
            code: "e",
            stop: "version help h",
            ..Interpreter::NONE
        }],
        rule: Never,
        facts: &[Fact::PrintsItsVersion],
        ..Program::COMMANDS
    },
    Program {
        names: "jimsh tclsh wish",
        interpreters: &[Interpreter { language: Language::Other, ..Interpreter::NONE }],
        rule: Never,
        ..Program::UNKNOWN
    },
    Program {
        names: "texlua",
        interpreters: &[Interpreter {
            language: Language::Lua,
            options: OptionSpec::leading("e:il:vEWj:b:O::", ""),
            code: "e",
            stop: "v",
            ..Interpreter::NONE
        }],
        ..Program::UNKNOWN
    },
    Program {
        names: "ts-node",
        interpreters: &[Interpreter {
            language: Language::JavaScript,
            options: OptionSpec::leading(
                "ce:hipr:vC:P:TO:",
                "\
                eval= print require= import= check interactive test watch input-type= loader= experimental-loader= \
                env-file= conditions= title= version help run= max-old-space-size= inspect=? inspect-brk=?",
            ),
            code: "e eval",
            flag: "p print",
            stop: "v version h help c check test run",
            ..Interpreter::NONE
        }],
        rule: Never,
        ..Program::UNKNOWN
    },
    Program {
        names: "tsx",
        interpreters: &[Interpreter {
            language: Language::JavaScript,
            options: OptionSpec::leading(
                "ce:hipr:vC:P:TO:",
                "\
                eval= print require= import= check interactive test watch input-type= loader= experimental-loader= \
                env-file= conditions= title= version help run= max-old-space-size= inspect=? inspect-brk=?",
            ),
            code: "e eval",
            flag: "p print",
            stop: "v version h help c check test run",
            ..Interpreter::NONE
        }],
        rule: Never,
        ..Program::DATA
    },
];
