use super::*;

fn directories() -> Directories {
    Directories {
        cwd: "/home/dev/project".to_owned(),
        home: "/home/dev".to_owned(),
        temp: vec!["/tmp".to_owned(), "/var/tmp".to_owned()],
        writable: None,
    }
}

/// `*`, `?` and `[…]` are globs, `$` is unknown.
fn word(text: &str) -> Value {
    let mut value = Value::default();
    for char in text.chars() {
        value.push(match char {
            '$' => Piece::Unknown(true),
            '*' | '?' => Piece::Glob(char.to_string()),
            char => Piece::Text(char.to_string()),
        });
    }
    value
}

#[test]
fn places() {
    let critical = Place::Critical { sure: true };
    let directories = directories();
    let landmarks = Landmarks::new(&directories);
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
        ("/tmp/clone/.git", "/home/dev/project", Place::Temp),
        ("/tmp/x", "/home/dev/project", Place::Temp),
        ("/tmp/tmp.$", "/home/dev/project", Place::Temp),
        ("x", "/tmp/tmp.$", Place::Temp),
        ("*", "/tmp/tmp.$", Place::Temp),
        ("/var/tmp/*", "/home/dev/project", Place::Outside),
        ("node_modules", "/home/dev/project", Place::Inside),
        ("build/*", "/home/dev/project", Place::Inside),
        ("*.log", "/home/dev/project", Place::Inside),
        ("sub/.*", "/home/dev/project", Place::Inside),
        ("sub/.g*", "/home/dev/project", critical),
        (".git/rebase-merge", "/home/dev/project", Place::Inside),
        ("build/$", "/home/dev/project", Place::Inside),
        ("packages/$/dist", "/home/dev/project", Place::Inside),
        ("./$/dist", "/home/dev/project", Place::Inside),
        ("./$", "/home/dev/project", Place::Unknown),
        ("$", "/home/dev/project", Place::Unknown),
        ("$/x", "/home/dev/project", Place::Unknown),
        ("$/x/y", "/home/dev/project", Place::Unknown),
        ("build/$/../..", "/home/dev/project", Place::Unknown),
        ("/tmp/$", "/home/dev/project", Place::Unknown),
        ("build", "$", Place::Unknown),
        (".git", "$", Place::Critical { sure: false }),
        ("../other", "/home/dev/project", Place::Outside),
        ("/opt/app/cache", "/home/dev/project", Place::Outside),
        ("/home/dev/x", "$", Place::Outside),
        ("", "/home/dev/project", Place::Nothing),
        ("", "$", Place::Nothing),
        ("build", "/home/dev/project/sub", Place::Inside),
        ("*", "/home/dev/project/build", Place::Inside),
    ] {
        assert_eq!(landmarks.place(&word(operand), &word(cwd)), place, "{operand} in {cwd}");
    }
}

#[test]
fn quoted_globs_are_names() {
    let directories = directories();
    let landmarks = Landmarks::new(&directories);
    assert_eq!(landmarks.place(&Value::of("*"), &Value::of("/home/dev/project")), Place::Inside);
    assert_eq!(landmarks.place(&Value::of("~"), &Value::of("/home/dev/project")), Place::Inside);
}

#[test]
fn nothing_is_inside_the_root() {
    let directories =
        Directories { cwd: "/".to_owned(), home: "/root".to_owned(), temp: vec!["/tmp".to_owned()], writable: None };
    let landmarks = Landmarks::new(&directories);
    assert_eq!(landmarks.place(&Value::of("usr/lib"), &Value::of("/")), Place::Outside);
    assert_eq!(landmarks.place(&Value::of("usr"), &Value::of("/")), Place::Critical { sure: true });
}

#[test]
fn dotfiles_of_a_home() {
    let directories = directories();
    let landmarks = Landmarks::new(&directories);
    let cwd = Value::of("/home/dev/project");
    let found = |text: &str| landmarks.home_dotfile(&word(text), &cwd);
    assert_eq!(found("/home/dev/.bashrc").as_deref(), Some(".bashrc"));
    assert_eq!(found("../.ssh/config").as_deref(), Some(".ssh/config"));
    assert_eq!(found("/root/.profile").as_deref(), Some(".profile"));
    assert_eq!(found("/home/dev/notes"), None);
    assert_eq!(found(".env"), None);
    let own = Directories { cwd: "/home/dev/.dotfiles/x".to_owned(), ..directories.clone() };
    let landmarks = Landmarks::new(&own);
    assert_eq!(landmarks.home_dotfile(&word("/home/dev/.dotfiles/x/y"), &cwd), None);
    assert_eq!(landmarks.home_dotfile(&word("/home/dev/.bashrc"), &cwd).as_deref(), Some(".bashrc"));
}
