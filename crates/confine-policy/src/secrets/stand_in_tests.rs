//! The forms of stand-ins.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::stand_in::{RandomDigits, checksum, stand_in_for};

fn stand_in(value: &str) -> Option<String> {
    stand_in_for(value, &mut RandomDigits::new()).expect("the system has random numbers")
}

/// Characters by class: one text has the form of another if these are equal.
fn form(text: &str) -> String {
    let class = |character| match character {
        'A'..='Z' => 'A',
        'a'..='z' => 'a',
        '0'..='9' => '0',
        other => other,
    };
    text.chars().map(class).collect()
}

#[test]
fn tokens_keep_their_prefix_and_the_form_of_the_rest() {
    for (value, prefix) in [
        ("sk-ant-api03-Zm9vYmFyYmF6cXV4eHl6enk0NTY3ODkwQUJDREVGR0g-abcDEF_AA", "sk-ant-api03-"),
        ("sk-proj-abcdefghijklmnopqrstuvwxyz0123456789", "sk-proj-"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIA"),
        ("xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx", "xoxb-"),
        ("glpat-abcdefghij0123456789", "glpat-"),
        ("pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0wMDAwLTAwMDAwMDAwMDAwMA", "pypi-AgEIcHlwaS5vcmc"),
        ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""),
        ("correct-horse-battery", ""),
        ("0123456789abcdef0123456789abcdef", ""),
    ] {
        let made = stand_in(value).expect(value);
        assert!(made.starts_with(prefix), "{made}");
        assert_eq!(form(&made), form(value), "{made}");
        assert_ne!(made, value);
        assert_ne!(stand_in(value).expect(value), made, "random");
    }
}

#[test]
fn a_hexadecimal_text_and_one_in_base_32_stay_what_they_are() {
    let hex = stand_in("0123456789abcdef0123456789abcdef").expect("long enough");
    assert!(hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')), "{hex}");
    let base32 = stand_in("AKIAIOSFODNN7EXAMPLE").expect("long enough");
    assert!(base32[4..].bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'2'..=b'7')), "{base32}");
}

#[test]
fn checksums_are_right() {
    // A token of GitHub, revoked.
    assert_eq!(checksum("zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ"), "0mLq17");
    for kind in ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_"] {
        let made = stand_in(&format!("{kind}zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq17")).expect("long enough");
        let (part, sum) = made.strip_prefix(kind).expect("its prefix").split_at(30);
        assert_eq!(checksum(part), sum, "{made}");
        assert_eq!(part.len(), 30);
    }
}

#[test]
fn a_web_token_keeps_its_header_and_its_times() {
    let claims = r#"{"sub":"1234567890","name":"Ann Example","iat":1516239022,"exp":1893456000}"#;
    let [header, body] = [r#"{"alg":"HS256","typ":"JWT"}"#, claims].map(|text| URL_SAFE_NO_PAD.encode(text));
    let value = format!("{header}.{body}.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c");
    let made = stand_in(&value).expect("long enough");
    assert_eq!(made.len(), value.len());
    let parts: Vec<&str> = made.split('.').collect();
    assert_eq!(parts[0], header);
    let read = URL_SAFE_NO_PAD.decode(parts[1]).expect("base64");
    let read: serde_json::Value = serde_json::from_slice(&read).expect("JSON");
    assert_eq!((read["iat"].as_i64(), read["exp"].as_i64()), (Some(1_516_239_022), Some(1_893_456_000)));
    assert!(read.get("name").is_none() && read.get("sub").is_none(), "{read}");
    assert!(!value.ends_with(parts[2]));
}

#[test]
fn a_key_in_pem_keeps_its_first_and_its_last_line() {
    let value = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49\n-----END PRIVATE KEY-----\n";
    let made = stand_in(value).expect("long enough");
    assert!(made.starts_with("-----BEGIN PRIVATE KEY-----\n") && made.ends_with("\n-----END PRIVATE KEY-----\n"));
    assert!(!made.contains("MIGHAgEAMBMGByqGSM49"), "{made}");
}

#[test]
fn a_value_that_leaves_too_little_to_chance_has_no_stand_in() {
    for value in ["", "secret", "abc-def", "!!!!!!!!!!!!!!!!", "пароль-пароль"] {
        assert_eq!(stand_in(value), None, "{value}");
    }
}

proptest! {
    #[test]
    fn a_stand_in_is_as_long_as_its_value_in_every_encoding(value in "[ -~]{12,80}") {
        if let Some(made) = stand_in(&value) {
            prop_assert_eq!(made.len(), value.len());
            prop_assert_ne!(&made, &value);
            let json = |text: &str| serde_json::to_string(text).expect("a text").len();
            prop_assert_eq!(json(&made), json(&value));
            prop_assert_eq!(STANDARD.encode(&made).len(), STANDARD.encode(&value).len());
        }
    }
}
