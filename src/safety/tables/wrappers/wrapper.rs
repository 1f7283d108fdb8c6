//! What is known of one wrapper.

use crate::safety::options::Spec;

/// What the words after a wrapper's own are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A command.
    Rest,
    /// A script once they are joined with blanks.
    Joined,
    /// Each of them a script.
    Each,
}

/// What `--` among its words says, or another mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dashes {
    /// That its options end.
    End,
    /// That the command begins; it may do so without one.
    Begin,
    /// That the command begins; without one there is none.
    Need,
}

/// When it starts a shell that reads its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    /// It does not.
    Never,
    /// Where no command is given.
    Alone,
    /// Where no command is given, with one of these options.
    With(&'static [&'static str]),
}

/// One wrapper, or one subcommand of a program that runs commands.
#[derive(Clone, Copy, Debug)]
pub struct Wrapper {
    /// The program's names.
    pub names: &'static [&'static str],
    /// The subcommands that it is about (`docker exec`, `docker compose exec`); none for the program itself.
    pub sub: &'static [&'static [&'static str]],
    /// Options before the subcommand.
    pub globals: Spec,
    /// Its options.
    pub spec: Spec,
    /// What follows them.
    pub form: Form,
    /// How many operands stand before the command.
    pub operands: usize,
    /// Whether `NAME=value` may stand before the command.
    pub assignments: bool,
    /// Whether options may also stand behind these.
    pub again: bool,
    /// What its mark says.
    pub dashes: Dashes,
    /// Its marks: `--`, or options that the command stands behind.
    pub marks: &'static [&'static str],
    /// Options that change the folder.
    pub chdir: &'static [&'static str],
    /// Options whose value is a script.
    pub script: &'static [&'static str],
    /// Options with which it runs nothing.
    pub stop: &'static [&'static str],
    /// Options that turn `Rest` into `Joined`, and the other way round.
    pub switch: &'static [&'static str],
    /// Whether it starts a shell.
    pub login: Login,
    /// Whether a single word is a whole command line.
    pub line: bool,
    /// Whether what it runs is on another machine or in a container.
    pub elsewhere: bool,
    /// Whether the command takes its place, so that the wrapper's words are a prefix.
    pub prefix: bool,
}

impl Wrapper {
    /// One whose options come first and whose other words are the command.
    pub const fn rest(names: &'static [&'static str], short: &'static str, long: &'static [&'static str]) -> Self {
        Self {
            names,
            sub: &[],
            globals: Spec::leading("", &[]),
            spec: Spec::leading(short, long),
            form: Form::Rest,
            operands: 0,
            assignments: false,
            again: false,
            dashes: Dashes::End,
            marks: &["--"],
            chdir: &[],
            script: &[],
            stop: &[],
            switch: &[],
            login: Login::Never,
            line: false,
            elsewhere: false,
            prefix: true,
        }
    }

    /// One whose words are joined to a script.
    pub const fn joined(names: &'static [&'static str], short: &'static str, long: &'static [&'static str]) -> Self {
        Self { form: Form::Joined, prefix: false, ..Self::rest(names, short, long) }
    }

    /// One whose words are scripts.
    pub const fn each(names: &'static [&'static str], short: &'static str, long: &'static [&'static str]) -> Self {
        let spec = Spec::gnu(short, long);
        Self { form: Form::Each, spec, prefix: false, ..Self::rest(names, short, long) }
    }

    /// Subcommands, with the options that may stand before them.
    pub const fn sub(
        self,
        sub: &'static [&'static [&'static str]],
        short: &'static str,
        long: &'static [&'static str],
    ) -> Self {
        Self { sub, globals: Spec::leading(short, long), ..self }
    }

    /// So many operands before the command.
    pub const fn operands(self, operands: usize) -> Self {
        Self { operands, ..self }
    }

    /// `NAME=value` before the command.
    pub const fn assignments(self) -> Self {
        Self { assignments: true, ..self }
    }

    /// Options behind the operands, too.
    pub const fn again(self) -> Self {
        Self { again: true, ..self }
    }

    /// `--` begins the command.
    pub const fn dashes(self, dashes: Dashes) -> Self {
        Self { dashes, ..self }
    }

    /// One of these begins the command.
    pub const fn behind(self, marks: &'static [&'static str]) -> Self {
        Self { dashes: Dashes::Need, marks, ..self }
    }

    /// Options that change the folder.
    pub const fn chdir(self, chdir: &'static [&'static str]) -> Self {
        Self { chdir, ..self }
    }

    /// Options that hold a script.
    pub const fn script(self, script: &'static [&'static str]) -> Self {
        Self { script, ..self }
    }

    /// Options with which nothing runs.
    pub const fn stop(self, stop: &'static [&'static str]) -> Self {
        Self { stop, ..self }
    }

    /// Options that change what the words are.
    pub const fn switch(self, switch: &'static [&'static str]) -> Self {
        Self { switch, ..self }
    }

    /// When it starts a shell.
    pub const fn login(self, login: Login) -> Self {
        Self { login, ..self }
    }

    /// A single word is a command line.
    pub const fn line(self) -> Self {
        Self { line: true, ..self }
    }

    /// Another machine, or a container.
    pub const fn elsewhere(self) -> Self {
        Self { elsewhere: true, prefix: false, ..self }
    }

    /// The command runs as a child, perhaps more than once.
    pub const fn child(self) -> Self {
        Self { prefix: false, ..self }
    }
}
