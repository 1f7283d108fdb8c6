//! The corpus of `__test__/safety/corpus`, held against the engine.

use super::*;

#[test]
fn corpus() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/__test__/safety/corpus");
    let environment = "HOME=/home/dev\0USER=dev\0PATH=/usr/local/bin:/usr/bin:/bin\0LANG=C.UTF-8\0";
    let setting = Setting {
        cwd: "/home/dev/project",
        home: "/home/dev",
        environment: Environment(environment),
        ..Setting::default()
    };
    let mut missed = Vec::new();
    let mut count = 0;
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        for line in std::fs::read_to_string(&file).unwrap().lines().filter(|line| !line.trim().is_empty()) {
            let (wanted, rule, command, why): (String, Option<String>, String, String) =
                serde_json::from_str(line).unwrap();
            let analysis = analyze(&command, setting, &Policy::default());
            count += 1;
            let found = |rule: Option<&String>| {
                rule.is_none_or(|rules| {
                    rules.split('|').any(|rule| analysis.findings.iter().any(|finding| finding.rule_id == rule))
                })
            };
            let ok = match wanted.as_str() {
                "stop" => analysis.verdict >= Verdict::Ask && found(rule.as_ref()),
                "deny" => analysis.verdict == Verdict::Deny && found(rule.as_ref()),
                "ask" => analysis.verdict == Verdict::Ask && found(rule.as_ref()),
                _ => analysis.verdict <= Verdict::Warn && analysis.complete,
            };
            if !ok {
                let found: Vec<_> = analysis
                    .findings
                    .iter()
                    .map(|finding| format!("{}/{:?}/{:?}", finding.rule_id, finding.level, finding.confidence))
                    .collect();
                missed.push(format!(
                    "{} {} -> {:?} complete={} {found:?}: {command:?} ({why})",
                    wanted,
                    rule.unwrap_or_default(),
                    analysis.verdict,
                    analysis.complete
                ));
            }
        }
    }
    println!("{}\n{} of {count} missed", missed.join("\n"), missed.len());
    assert!(missed.is_empty());
}

#[test]
#[ignore = "dev"]
fn speed() {
    let environment = "HOME=/home/dev\0USER=dev\0PATH=/usr/local/bin:/usr/bin:/bin\0LANG=C.UTF-8\0";
    let setting = Setting {
        cwd: "/home/dev/project",
        home: "/home/dev",
        environment: Environment(environment),
        ..Setting::default()
    };
    let mut s = String::new();
    let mut i = 0;
    while s.len() < 4096 {
        s += &format!(
            "for f in src/a{i}.ts src/b.ts; do if [ -f \"$f\" ]; then echo \"$f: $(wc -l < \"$f\")\" >> out.txt; fi; done\n"
        );
        i += 1;
    }
    let time = |name: &str, f: &mut dyn FnMut()| {
        let mut t: Vec<u128> = (0..200)
            .map(|_| {
                let start = std::time::Instant::now();
                f();
                start.elapsed().as_micros()
            })
            .collect();
        t.sort();
        println!("{name} {} µs", t[100]);
    };
    time("read", &mut || {
        std::hint::black_box(read::read(&s));
    });
    time("witness", &mut || {
        std::hint::black_box(read::heads(&s));
    });
    time("all", &mut || {
        std::hint::black_box(analyze(&s, setting, &Policy::default()));
    });
    let analysis = analyze(&s, setting, &Policy::default());
    time("json", &mut || {
        std::hint::black_box(serde_json::to_string(&analysis).unwrap());
    });
    println!("{} commands, {} bytes json", analysis.commands.len(), serde_json::to_string(&analysis).unwrap().len());
}
