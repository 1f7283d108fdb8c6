//! Compiles the rules of `rules/*.toml`: each list of patterns becomes an automaton that the crate includes as bytes,
//! so that no pattern of a shipped rule is compiled at run time. Of the lines by which tests are counted, only those
//! few that an automaton finds are read with their patterns.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "src/rules/file.rs"]
#[expect(dead_code, reason = "rules of users have more errors")]
mod file;

#[path = "build/counting.rs"]
mod counting;
#[path = "build/prefix.rs"]
mod prefix;
#[path = "build/which.rs"]
mod which;

use counting::CountingCodeGenerator;

fn main() {
    for path in ["rules", "build", "src/rules/file.rs", "src/rules/counting.rs"] {
        println!("cargo::rerun-if-changed={path}");
    }
    compile(Path::new("rules"), Path::new(&std::env::var_os("OUT_DIR").expect("OUT_DIR")));
}

/// Writes `rules.rs` and the automata into `out`.
fn compile(rules: &Path, out: &Path) {
    let mut paths: Vec<PathBuf> = fs::read_dir(rules)
        .expect("the directory of the rules")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    paths.sort();
    let mut counting = CountingCodeGenerator::default();
    let mut code = format!("/// The shipped rules.\npub static RULES: [OutputRule; {}] = [\n", paths.len());
    for path in &paths {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        let text = fs::read_to_string(path).expect("a rule");
        let compiled = file::compile(&text, true).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let [rule] = compiled.as_slice() else { panic!("{name}: one rule a file") };
        assert!(rule.name.is_none(), "{name}: the file has the name");
        writeln!(code, "OutputRule {{ name: Cow::Borrowed({name:?}), hint: ProgramHints::Shipped(&{:?}),", rule.hint)
            .expect("text");
        for (part, automaton) in [("proof", &rule.proof), ("drop", &rule.drop), ("pin", &rule.pin)] {
            let file = out.join(format!("{name}.{part}.dfa"));
            let bytes = automaton.as_ref().map(|automaton| automaton.to_bytes_little_endian());
            fs::write(&file, bytes.unwrap_or_default()).expect("a file");
            writeln!(code, "{part}: LinePatterns::shipped(include_bytes!({:?})),", file.display().to_string())
                .expect("text");
        }
        writeln!(
            code,
            "always: {}, check: {}",
            rule.always,
            option(rule.check.map(|check| format!("CheckKind::{check:?}")))
        )
        .expect("text");
        writeln!(code, ", counting: {} }},", option(rule.tests.as_ref().map(|tests| counting.add(tests, out))))
            .expect("text");
    }
    code.push_str("];\n");
    fs::write(out.join("rules.rs"), code).expect("the rules");
    counting.write(out);
}

fn option(code: Option<String>) -> String {
    code.map_or_else(|| "None".to_owned(), |code| format!("Some({code})"))
}
