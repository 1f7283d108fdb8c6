//! Generated states.

use proptest::prelude::*;

use super::super::quoting::push_quoted;
use super::TestShells;

fn text() -> impl Strategy<Value = Vec<u8>> {
    let sign = prop_oneof![
        4 => prop::sample::select(b"ab \n\t'\"\\$`!*?[](){}<>|&;#~=,:\x01\x7f\x1b".to_vec()),
        1 => 1u8..=255,
    ];
    prop::collection::vec(sign, 0..12)
}

fn quoted(text: &[u8]) -> String {
    let mut code = b"$'".to_vec();
    for byte in text {
        code.extend_from_slice(format!("\\{byte:03o}").as_bytes());
    }
    code.push(b'\'');
    String::from_utf8(code).expect("plain signs")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "stress: it takes more than a second"]
    fn values_last(
        values in prop::collection::vec(text(), 8),
        keys in prop::collection::btree_set(text().prop_filter("a key", |key| !key.is_empty()), 0..5),
        locale in prop::sample::select(vec!["C", "C.UTF-8"]),
    ) {
        let mut shells = TestShells::new().with_env("LC_ALL", locale);
        let mut first = String::new();
        for (index, value) in values.iter().enumerate() {
            first.push_str(&format!("v{index}={0}\nexport e{index}={0}\na[{index}*3]={0}\nalias a{index}={0}\n", quoted(value)));
        }
        first.push_str("declare -A m=()\n");
        for (index, key) in keys.iter().enumerate() {
            first.push_str(&format!("k={}\nm[\"$k\"]={}\n", quoted(key), quoted(&values[index])));
        }
        first.push_str(&format!("\\t\\rap {} USR1\n", quoted(&values[0])));
        let show = "printf '<%s>\\0' \"${v0-}\" \"${v7-}\" \"$e3\" \"${a[@]}\"; for k in \"${!m[@]}\"; do printf '%s=%s\\0' \"$k\" \"${m[$k]}\" | od -c; done | sort";
        let here = shells.run(&format!("{first}{show}")).stdout;
        prop_assert!(shells.saved);
        let before = shells.state.clone();
        let there = shells.run(show);
        prop_assert_eq!(&there.stdout, &here);
        prop_assert!(shells.saved);
        prop_assert_eq!(&shells.state, &before);
    }

    #[test]
    #[ignore = "stress: it takes more than a second"]
    fn functions_last(bodies in prop::collection::vec((prop::sample::select(BODIES.to_vec()), text()), 1..6)) {
        let mut shells = TestShells::new();
        let mut first = String::from("shopt -s extglob\n");
        for (index, (body, value)) in bodies.iter().enumerate() {
            let mut plain: Vec<u8> = value.iter().copied().filter(|byte| byte.is_ascii() && *byte > 1 && *byte < 127).collect();
            // In a heredoc `$$` is the pid, which differs in the next shell.
            plain.dedup_by(|one, before| (*one, *before) == (b'$', b'$'));
            let mut word = Vec::new();
            push_quoted(&mut word, &plain);
            let word = String::from_utf8(word).expect("ascii");
            first.push_str(&format!("f{index}() {{\n{}\n}}\n", body.replace("WORD", &word)));
        }
        let show = "declare -f; for f in f0 f1 f2 f3 f4 f5; do $f; done";
        let here = shells.run(&format!("{first}{show}")).stdout;
        prop_assert!(shells.saved);
        let before = shells.state.clone();
        let there = shells.run(show);
        prop_assert_eq!(String::from_utf8_lossy(&there.stdout), String::from_utf8_lossy(&here));
        prop_assert_eq!(&shells.state, &before);
    }
}

const BODIES: [&str; 12] = [
    "echo WORD",
    "cat <<E\nf1 () \n{ \n}\nE",
    "cat <<-'E' | tr a b\n\tWORD\n\t$x\n\tE",
    "case WORD in @(a|b)) echo 1 ;; !(c)*) echo 2 ;& *) echo 3 ;; esac",
    "local x=WORD; echo \"${x//[a-z]/WORD}\" \"${x:-$(echo WORD)}\"",
    "for i in WORD 'x y'; do echo \"$i\"; done; while false; do :; done; until :; do :; done",
    "( echo WORD; { echo 2; } >&2 ) 2>&1 || ! echo no",
    "[[ WORD =~ ^a(b|c) && ! -e /x ]] && echo \"${BASH_REMATCH[1]}\"; (( 1 + (2 << 1) )) && echo $((3 * 4))",
    "inner() { echo WORD; }; inner; unset -f inner",
    "local -a a=(WORD [3]=x); echo \"${a[@]}\" \"${#a[@]}\"",
    "x=$(cat <<E\nWORD\nE\n); echo \"$x\" `echo b`; unset x",
    "if [ WORD = a ]; then echo yes; elif :; then echo no; else :; fi; time :; select s in; do break; done",
];
