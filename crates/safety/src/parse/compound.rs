//! Compound commands and functions.

use std::rc::Rc;

use super::reader::{ScriptReader, ScriptResult, is_meta};
use super::syntax::{CommandList, CommandNode, CommandNodeKind, WordSyntax};

impl ScriptReader<'_> {
    /// Reads a compound command, if one begins here.
    pub(super) fn compound(&mut self) -> ScriptResult<Option<CommandNodeKind>> {
        let begins = self.peek().is_some_and(|byte| b"({[ifwucsf".contains(&byte));
        if !begins {
            return Ok(None);
        }
        if self.looking_at("((")
            && let Some(expression) = self.arithmetic_command()?
        {
            return Ok(Some(CommandNodeKind::Arithmetic(expression)));
        }
        if self.take("(") {
            let body = self.some_list()?;
            self.expect(")")?;
            return Ok(Some(CommandNodeKind::Subshell(body)));
        }
        if self.keyword("{") {
            let body = self.some_list()?;
            self.expect("}")?;
            return Ok(Some(CommandNodeKind::Group(body)));
        }
        if self.keyword("[[") {
            return self.read_one_level_deeper(Self::test).map(Some);
        }
        if self.keyword("if") {
            return self.condition().map(Some);
        }
        if self.keyword("while") || self.keyword("until") {
            let condition = self.some_list()?;
            let body = self.body()?;
            return Ok(Some(CommandNodeKind::Loop { condition, expressions: None, body }));
        }
        if self.keyword("for") {
            return self.for_loop(true).map(Some);
        }
        if self.keyword("select") {
            return self.for_loop(false).map(Some);
        }
        if self.keyword("case") {
            return self.case().map(Some);
        }
        if self.at_keyword("coproc") {
            self.at += "coproc".len();
            return self.coproc().map(Some);
        }
        if self.keyword("function") {
            self.blanks();
            let name = self.function_name()?;
            self.blanks();
            if self.take("(") {
                self.blanks();
                self.expect(")")?;
            }
            return self.function(name).map(Some);
        }
        Ok(None)
    }

    fn function_name(&mut self) -> ScriptResult<String> {
        let start = self.at;
        while self.peek().is_some_and(|byte| !is_meta(byte)) {
            self.at += 1;
        }
        if self.at == start { self.fault() } else { Ok(self.slice(start..self.at).to_owned()) }
    }

    pub(super) fn function(&mut self, name: String) -> ScriptResult<CommandNodeKind> {
        self.newlines()?;
        let start = self.at;
        let Some(kind) = self.read_one_level_deeper(Self::compound)? else { return self.fault() };
        let end = self.at;
        let redirects = self.redirects()?;
        Ok(CommandNodeKind::Function { name, body: Rc::new(CommandNode::new(kind, redirects, start, end)) })
    }

    fn coproc(&mut self) -> ScriptResult<CommandNodeKind> {
        self.blanks();
        let start = self.at;
        // Only a word before a compound command is a name.
        if self.peek().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_') {
            while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                self.at += 1;
            }
            self.blanks();
            let name = self.slice(start..self.at).trim_end().to_owned();
            let begin = self.at;
            let named = self.read_one_level_deeper(Self::compound);
            if let Ok(Some(kind)) = named {
                let end = self.at;
                let redirects = self.redirects()?;
                return Ok(CommandNodeKind::Coproc(name, Box::new(CommandNode::new(kind, redirects, begin, end))));
            }
            self.looked_ahead(self.at - start)?;
            self.at = start;
        }
        let node = match self.read_one_level_deeper(Self::compound)? {
            Some(kind) => {
                let end = self.at;
                CommandNode::new(kind, self.redirects()?, start, end)
            }
            None => match self.simple()? {
                Some(node) => node,
                None => return self.fault(),
            },
        };
        Ok(CommandNodeKind::Coproc("COPROC".to_owned(), Box::new(node)))
    }

    fn condition(&mut self) -> ScriptResult<CommandNodeKind> {
        let mut arms = Vec::new();
        let mut otherwise = CommandList::new();
        loop {
            let condition = self.some_list()?;
            self.expect_keyword("then")?;
            let body = self.some_list()?;
            arms.push((condition, body));
            if self.keyword("elif") {
                continue;
            }
            if self.keyword("else") {
                otherwise = self.some_list()?;
            }
            self.expect_keyword("fi")?;
            return Ok(CommandNodeKind::If { arms, otherwise });
        }
    }

    fn expect_keyword(&mut self, word: &str) -> ScriptResult<()> {
        if self.keyword(word) { Ok(()) } else { self.fault() }
    }

    /// Reads `do …; done`, or braces, which bash accepts, too.
    fn body(&mut self) -> ScriptResult<CommandList> {
        self.newlines()?;
        let (open, close) = if self.at_keyword("{") { ("{", "}") } else { ("do", "done") };
        self.expect_keyword(open)?;
        let body = self.some_list()?;
        self.expect_keyword(close)?;
        Ok(body)
    }

    fn for_loop(&mut self, arithmetic: bool) -> ScriptResult<CommandNodeKind> {
        self.blanks();
        if arithmetic && self.looking_at("((") {
            let Some(expressions) = self.arithmetic_command()? else { return self.fault() };
            self.blanks();
            self.take(";");
            let body = self.body()?;
            return Ok(CommandNodeKind::Loop { condition: CommandList::new(), expressions: Some(expressions), body });
        }
        let name = self.function_name()?;
        self.newlines()?;
        let words = if self.keyword("in") {
            let mut words = Vec::new();
            loop {
                self.blanks();
                match self.word()? {
                    Some(word) => words.push(word),
                    None => break,
                }
            }
            if !self.take(";") && self.peek() != Some(b'\n') {
                return self.fault();
            }
            Some(words)
        } else {
            self.take(";");
            None
        };
        let body = self.body()?;
        Ok(CommandNodeKind::For { name, words, body })
    }

    fn case(&mut self) -> ScriptResult<CommandNodeKind> {
        self.blanks();
        let Some(word) = self.word()? else { return self.fault() };
        self.newlines()?;
        self.expect_keyword("in")?;
        let mut arms = Vec::new();
        loop {
            self.newlines()?;
            if self.keyword("esac") {
                return Ok(CommandNodeKind::Case { word, arms });
            }
            self.take("(");
            let mut patterns = Vec::new();
            loop {
                self.blanks();
                match self.word()? {
                    Some(pattern) => patterns.push(pattern),
                    None => return self.fault(),
                }
                self.blanks();
                if !self.take("|") {
                    break;
                }
            }
            self.expect(")")?;
            let body = self.list()?;
            arms.push((patterns, body));
            if !(self.take(";;&") || self.take(";;") || self.take(";&")) {
                self.newlines()?;
                self.expect_keyword("esac")?;
                return Ok(CommandNodeKind::Case { word, arms });
            }
        }
    }

    /// Reads `[[ … ]]`. Only commands in its words matter.
    fn test(&mut self) -> ScriptResult<CommandNodeKind> {
        let mut words = Vec::new();
        let mut pattern = false;
        // An operator needs an operand.
        let mut wants = true;
        loop {
            self.newlines()?;
            if self.keyword("]]") {
                return if wants { self.fault() } else { Ok(CommandNodeKind::Test(words)) };
            }
            let sign = ["&&", "||", "(", ")", "<", ">"].iter().find(|sign| self.looking_at(sign));
            match sign {
                Some(sign) if !(pattern && *sign == "(") => {
                    if wants && *sign != "(" {
                        return self.fault();
                    }
                    self.at += sign.len();
                    pattern = false;
                    wants = *sign != ")";
                }
                _ => {
                    let word = if pattern { self.pattern_word()? } else { self.word()? };
                    match word {
                        Some(word) => {
                            pattern = !wants && matches!(word.bare(), Some("=~" | "==" | "!=" | "="));
                            wants = pattern || word.bare() == Some("!");
                            words.push(word);
                        }
                        None => return self.fault(),
                    }
                }
            }
        }
    }

    /// Reads `((…))`. `None` if this is a subshell in a subshell.
    fn arithmetic_command(&mut self) -> ScriptResult<Option<WordSyntax>> {
        let start = self.at;
        self.at += 2;
        let Some(parts) = self.arithmetic()? else {
            self.at = start;
            return Ok(None);
        };
        Ok(Some(WordSyntax { parts, span: start..self.at }))
    }
}
