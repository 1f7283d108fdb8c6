//! Commands that run in a watched bash, and what their traces prove.

mod watch;

#[test]
fn dump() {
    let Ok(script) = std::env::var("SCRIPT") else { return };
    let (trace, end) = watch::run(&script);
    for event in &trace.expect("bash is watched").events {
        println!("{event:?}");
    }
    println!("{end:?}");
}
