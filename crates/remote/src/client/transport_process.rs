//! The transport of a link: a process of this machine, or one of the target through which the link leads.

use std::io;
use std::sync::Arc;

use super::target_settings::TargetSettings;
use super::transport_via::{TransportVia, ViaFailure};
use crate::carrier_process::CarrierProcess;
use crate::frame_link::FrameLink;

/// A running transport.
pub struct TransportProcess {
    /// The link through it.
    pub link: FrameLink,
    place: TransportPlace,
}

/// Where the transport runs.
enum TransportPlace {
    /// On this machine.
    Here(CarrierProcess),
    /// On another target.
    Via(TransportVia),
}

impl TransportProcess {
    /// Starts a transport with its arguments.
    pub fn start(settings: &TargetSettings, argv: Vec<String>) -> Result<Self, ViaFailure> {
        if let Some(via) = &settings.via {
            let (link, via) = Arc::clone(via).start_transport(argv)?;
            return Ok(Self { link, place: TransportPlace::Via(via) });
        }
        let program = argv.first().cloned().unwrap_or_default();
        Self::start_here(&argv).map_err(|error| ViaFailure::Failed(format!("{program}: {error}")))
    }

    fn start_here(argv: &[String]) -> io::Result<Self> {
        let (frames, output) = sys::pipe()?;
        let (input, theirs) = sys::pipe()?;
        let carrier = CarrierProcess::start(argv, &frames, theirs)?;
        Ok(Self { link: FrameLink::new(input, output)?, place: TransportPlace::Here(carrier) })
    }

    /// Says goodbye to the program there, and waits until the transport has ended.
    pub async fn goodbye(self) {
        let Self { link, place } = self;
        drop(link);
        match place {
            TransportPlace::Here(carrier) => carrier.wait().await,
            TransportPlace::Via(via) => drop(via.last_words().await),
        }
    }

    /// Waits for the exit of a transport whose link has ended. Returns its exit code and its messages, cleaned.
    ///
    /// # Errors
    /// If the target through which it led is to blame.
    pub async fn last_words(self) -> Result<(Option<i32>, String), ViaFailure> {
        let Self { link, place } = self;
        let (code, said) = match place {
            TransportPlace::Here(carrier) => carrier.last_words().await,
            TransportPlace::Via(via) => {
                drop(link);
                via.last_words().await?
            }
        };
        Ok((code, clean(&said)))
    }

    /// Ends the transport without a goodbye to the program there. Returns its messages so far, cleaned.
    pub async fn give_up(self) -> String {
        let said = match self.place {
            TransportPlace::Here(carrier) => {
                carrier.drop_link();
                carrier.stderr_text()
            }
            TransportPlace::Via(via) => via.give_up().await,
        };
        clean(&said)
    }

    /// Ends the transport, without a goodbye to the program there. Waits for nothing.
    pub fn drop_link(self) {
        match self.place {
            TransportPlace::Here(carrier) => carrier.drop_link(),
            TransportPlace::Via(via) => via.drop_link(),
        }
    }

    /// Returns why the link is cut, which this error has ended.
    pub fn cut_reason(&self, error: &io::Error) -> String {
        match &self.place {
            TransportPlace::Via(via) if let Some(why) = via.cut_reason() => format!("the link is cut: {why}"),
            _ => format!("the link is cut: {error}"),
        }
    }
}

/// Removes the escape sequences and control characters of a program that connects or of a login shell. A carriage
/// return ends a line. Output of commands is cleaned by `capture`, which can do so in parts.
pub(super) fn clean(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', " ");
    strip_ansi_escapes::strip_str(lines).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn the_words_of_a_transport_have_no_control_characters() {
        let said = "\x1b[1;31mssh:\x1b[0m no\troute\r\n\x1b]0;title\x07try 1\rtry\x08 2\x1b[K\u{9b}31m\r\n\r\n";
        let cleaned = clean(said);
        assert!(cleaned.starts_with("ssh: no route\ntry 1\ntry 2"), "{cleaned:?}");
        assert!(!cleaned.chars().any(|c| c.is_control() && c != '\n'), "{cleaned:?}");
    }
}
