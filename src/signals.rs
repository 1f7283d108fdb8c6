//! Signal names, so that TypeScript has no table of its own.

use napi_derive::napi;

use sys::Signal;

/// A signal of this platform.
#[napi(object, object_from_js = false)]
pub struct NativeSignal {
    /// As in results: `SIGTERM`, or `SIG35` for a signal without a name.
    pub name: String,
    /// The number of the signal.
    pub number: i32,
}

/// Returns the signal with this name, with or without its `SIG`; `null` if the platform has no signal of this name.
#[napi]
#[must_use]
pub fn signal_of(name: String) -> Option<NativeSignal> {
    let signal = Signal::from_name(&name).or_else(|_| Signal::from_name(&format!("SIG{name}"))).ok()?;
    Some(NativeSignal { name: signal.name(), number: signal.number() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_name_are_known_and_no_others() {
        let number = |name: &str| signal_of(name.to_owned()).map(|signal| signal.number);
        assert_eq!(["SIGTERM", "TERM", "SIG15"].map(number), [Some(15), Some(15), None]);
        assert_eq!(["", "15", "sigterm", "NOTHING"].map(number), [None; 4]);
        assert_eq!(signal_of("INT".to_owned()).map(|signal| signal.name).as_deref(), Some("SIGINT"));
    }
}
