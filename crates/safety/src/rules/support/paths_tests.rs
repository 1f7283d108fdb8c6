use super::*;

fn directories() -> CommandDirectories {
    CommandDirectories {
        cwd: "/home/dev/project".to_owned(),
        home: "/home/dev".to_owned(),
        temp: vec!["/tmp".to_owned(), "/var/tmp".to_owned()],
        writable: None,
    }
}

/// `*`, `?` and `[…]` are globs, `$` is unknown.
fn word(text: &str) -> WordValue {
    let mut value = WordValue::default();
    for char in text.chars() {
        value.push(match char {
            '$' => ValuePiece::Unknown(true),
            '*' | '?' => ValuePiece::Glob(char.to_string()),
            char => ValuePiece::Text(char.to_string()),
        });
    }
    value
}

#[test]
fn places() {
    let critical = OperandPlace::Critical { sure: true };
    let directories = directories();
    let landmarks = DirectoryLandmarks::new(&directories);
    for (operand, cwd, place) in [
        ("/", "/home/dev/project", critical),
        ("//", "/home/dev/project", critical),
        ("/.", "/home/dev/project", critical),
        ("/usr", "/home/dev/project", critical),
        ("/usr/*", "/home/dev/project", critical),
        ("/hom?", "/home/dev/project", critical),
        ("/private/etc", "/home/dev/project", critical),
        ("/home/other/", "/home/dev/project", critical),
        ("/Users/x", "/home/dev/project", critical),
        (".", "/home/dev/project", critical),
        ("..", "/home/dev/project", critical),
        ("../*", "/home/dev/project", critical),
        ("../proj*", "/home/dev/project", critical),
        ("src/..", "/home/dev/project", critical),
        ("*", "/home/dev/project", critical),
        ("*/", "/home/dev/project", critical),
        ("*/*", "/home/dev/project", critical),
        (".*", "/home/dev/project", critical),
        (".g*t", "/home/dev/project", critical),
        (".git/*", "/home/dev/project", critical),
        ("../project", "/home/dev/project", critical),
        ("project", "/home/dev", critical),
        (".git", "/home/dev/project", critical),
        ("sub/.git/", "/home/dev/project", critical),
        ("*", "/tmp", critical),
        ("*", "/", critical),
        ("/tmp/clone/.git", "/home/dev/project", OperandPlace::Temp),
        ("/tmp/x", "/home/dev/project", OperandPlace::Temp),
        ("/tmp/tmp.$", "/home/dev/project", OperandPlace::Temp),
        ("x", "/tmp/tmp.$", OperandPlace::Temp),
        ("*", "/tmp/tmp.$", OperandPlace::Temp),
        ("/var/tmp/*", "/home/dev/project", OperandPlace::Outside),
        ("node_modules", "/home/dev/project", OperandPlace::Inside),
        ("build/*", "/home/dev/project", OperandPlace::Inside),
        ("*.log", "/home/dev/project", OperandPlace::Inside),
        ("sub/.*", "/home/dev/project", OperandPlace::Inside),
        ("sub/.g*", "/home/dev/project", critical),
        (".git/rebase-merge", "/home/dev/project", OperandPlace::Inside),
        ("build/$", "/home/dev/project", OperandPlace::Inside),
        ("packages/$/dist", "/home/dev/project", OperandPlace::Inside),
        ("./$/dist", "/home/dev/project", OperandPlace::Inside),
        ("./$", "/home/dev/project", OperandPlace::Unknown),
        ("$", "/home/dev/project", OperandPlace::Unknown),
        ("$/x", "/home/dev/project", OperandPlace::Unknown),
        ("$/x/y", "/home/dev/project", OperandPlace::Unknown),
        ("build/$/../..", "/home/dev/project", OperandPlace::Unknown),
        ("/tmp/$", "/home/dev/project", OperandPlace::Unknown),
        ("build", "$", OperandPlace::Unknown),
        (".git", "$", OperandPlace::Critical { sure: false }),
        ("../other", "/home/dev/project", OperandPlace::Outside),
        ("/opt/app/cache", "/home/dev/project", OperandPlace::Outside),
        ("/home/dev/x", "$", OperandPlace::Outside),
        ("", "/home/dev/project", OperandPlace::Nothing),
        ("", "$", OperandPlace::Nothing),
        ("build", "/home/dev/project/sub", OperandPlace::Inside),
        ("*", "/home/dev/project/build", OperandPlace::Inside),
    ] {
        assert_eq!(landmarks.place_of(&word(operand), &word(cwd)), place, "{operand} in {cwd}");
    }
}

#[test]
fn quoted_globs_are_names() {
    let directories = directories();
    let landmarks = DirectoryLandmarks::new(&directories);
    assert_eq!(landmarks.place_of(&WordValue::of("*"), &WordValue::of("/home/dev/project")), OperandPlace::Inside);
    assert_eq!(landmarks.place_of(&WordValue::of("~"), &WordValue::of("/home/dev/project")), OperandPlace::Inside);
}

#[test]
fn nothing_is_inside_the_root() {
    let directories = CommandDirectories {
        cwd: "/".to_owned(),
        home: "/root".to_owned(),
        temp: vec!["/tmp".to_owned()],
        writable: None,
    };
    let landmarks = DirectoryLandmarks::new(&directories);
    assert_eq!(landmarks.place_of(&WordValue::of("usr/lib"), &WordValue::of("/")), OperandPlace::Outside);
    assert_eq!(landmarks.place_of(&WordValue::of("usr"), &WordValue::of("/")), OperandPlace::Critical { sure: true });
}

#[test]
fn dotfiles_of_a_home() {
    let directories = directories();
    let landmarks = DirectoryLandmarks::new(&directories);
    let cwd = WordValue::of("/home/dev/project");
    let found = |text: &str| landmarks.home_dotfile(&word(text), &cwd);
    assert_eq!(found("/home/dev/.bashrc").as_deref(), Some(".bashrc"));
    assert_eq!(found("../.ssh/config").as_deref(), Some(".ssh/config"));
    assert_eq!(found("/root/.profile").as_deref(), Some(".profile"));
    assert_eq!(found("/home/dev/notes"), None);
    assert_eq!(found(".env"), None);
    let own = CommandDirectories { cwd: "/home/dev/.dotfiles/x".to_owned(), ..directories.clone() };
    let landmarks = DirectoryLandmarks::new(&own);
    assert_eq!(landmarks.home_dotfile(&word("/home/dev/.dotfiles/x/y"), &cwd), None);
    assert_eq!(landmarks.home_dotfile(&word("/home/dev/.bashrc"), &cwd).as_deref(), Some(".bashrc"));
}
