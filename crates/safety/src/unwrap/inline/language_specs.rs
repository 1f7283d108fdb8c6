//! The grammar of each language, as data.

use super::program_search::InlineLanguageSpec;
use super::{call_specs, syntax};
use crate::programs::program::InterpretedLanguage;

static PYTHON: InlineLanguageSpec =
    InlineLanguageSpec { syntax: &syntax::PYTHON, calls: call_specs::PYTHON, runs: ("python3", "-c") };
static RUBY: InlineLanguageSpec =
    InlineLanguageSpec { syntax: &syntax::RUBY, calls: call_specs::RUBY, runs: ("ruby", "-e") };
static PERL: InlineLanguageSpec =
    InlineLanguageSpec { syntax: &syntax::PERL, calls: call_specs::PERL, runs: ("perl", "-e") };
static JAVASCRIPT: InlineLanguageSpec =
    InlineLanguageSpec { syntax: &syntax::JAVASCRIPT, calls: call_specs::JAVASCRIPT, runs: ("node", "-e") };
static PHP: InlineLanguageSpec =
    InlineLanguageSpec { syntax: &syntax::PHP, calls: call_specs::PHP, runs: ("php", "-r") };
pub(super) static LUA: InlineLanguageSpec =
    InlineLanguageSpec { syntax: &syntax::LUA, calls: call_specs::LUA, runs: ("lua", "-e") };
static AWK: InlineLanguageSpec = InlineLanguageSpec { syntax: &syntax::AWK, calls: call_specs::AWK, runs: ("awk", "") };

/// Returns the grammar of a language. `None` if its programs are not read.
pub(super) fn grammar(language: InterpretedLanguage) -> Option<&'static InlineLanguageSpec> {
    Some(match language {
        InterpretedLanguage::Python => &PYTHON,
        InterpretedLanguage::Ruby => &RUBY,
        InterpretedLanguage::Perl => &PERL,
        InterpretedLanguage::JavaScript => &JAVASCRIPT,
        InterpretedLanguage::Php => &PHP,
        InterpretedLanguage::Lua => &LUA,
        InterpretedLanguage::Awk => &AWK,
        InterpretedLanguage::Other => return None,
    })
}
