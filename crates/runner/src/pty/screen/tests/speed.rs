//! How fast output is taken in, in MB/s: `cargo test --release --lib pty::screen::tests::speed -- --ignored
//! --nocapture`.

use std::time::Instant;

use super::EmulatedScreen;

const SIZE: usize = 64 << 20;

#[test]
#[ignore = "measures, and is for release builds"]
fn speed() {
    let line: String = ('!'..='~').cycle().take(78).collect::<String>() + "\r\n";
    let kinds = [
        ("plain lines of 80 columns", line.clone()),
        ("yes", "y\r\n".into()),
        ("line ends alone", "\r\n".into()),
        ("base64 without line ends", "QmFzZTY0".into()),
        ("UTF-8 lines", "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich\r\n".into()),
        ("coloured lines", format!("\x1b[1;32mok\x1b[0m {} \x1b[38;5;196mred\x1b[m\r\n", &line[..60])),
        ("a full-screen program", format!("\x1b[5;1H{}\x1b[K\x1b[20;1H{}\x1b[K", &line[..60], &line[..40])),
    ];
    for (kind, text) in kinds {
        let bytes = text.repeat(SIZE / text.len()).into_bytes();
        for read in [4095, 65536] {
            let mut screen = EmulatedScreen::new(80, 24);
            let began = Instant::now();
            bytes.chunks(read).for_each(|chunk| screen.feed_all(chunk));
            let lines = screen.content().lines.len();
            let rate = bytes.len() as f64 / 1e6 / began.elapsed().as_secs_f64();
            println!(
                "{kind:28} in reads of {read:5}: {rate:7.0} MB/s, {:5.1} % not drawn, {lines} rows",
                screen.painter.terminal.skipped as f64 * 100.0 / bytes.len() as f64
            );
        }
        let mut screen = EmulatedScreen::new(80, 24);
        screen.painter.terminal.draws_all = true;
        let began = Instant::now();
        screen.feed_all(&bytes);
        println!(
            "{kind:28} all drawn:           {:7.0} MB/s",
            bytes.len() as f64 / 1e6 / began.elapsed().as_secs_f64()
        );
    }
}
