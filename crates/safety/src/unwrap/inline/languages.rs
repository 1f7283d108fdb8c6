//! The grammar of each language, as data.

use super::program::InlineLanguageSpec;
use super::{calls, syntax};
use crate::programs::program::InterpretedLanguage;

static PYTHON: InlineLanguageSpec =
    InlineLanguageSpec { syntax: &syntax::PYTHON, calls: calls::PYTHON, runs: ("python3", "-c") };
static RUBY: InlineLanguageSpec =
    InlineLanguageSpec { syntax: &syntax::RUBY, calls: calls::RUBY, runs: ("ruby", "-e") };
static PERL: InlineLanguageSpec =
    InlineLanguageSpec { syntax: &syntax::PERL, calls: calls::PERL, runs: ("perl", "-e") };
static JAVASCRIPT: InlineLanguageSpec =
    InlineLanguageSpec { syntax: &syntax::JAVASCRIPT, calls: calls::JAVASCRIPT, runs: ("node", "-e") };
static PHP: InlineLanguageSpec = InlineLanguageSpec { syntax: &syntax::PHP, calls: calls::PHP, runs: ("php", "-r") };
pub(super) static LUA: InlineLanguageSpec =
    InlineLanguageSpec { syntax: &syntax::LUA, calls: calls::LUA, runs: ("lua", "-e") };
static AWK: InlineLanguageSpec = InlineLanguageSpec { syntax: &syntax::AWK, calls: calls::AWK, runs: ("awk", "") };

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
