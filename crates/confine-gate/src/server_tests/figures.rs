//! Figures, which no check reads.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::Instant;

use super::gated_test_world::{GatedTestWorld, echo, serve};

/// Prints figures: `cargo test --release -- --ignored --nocapture gate_figures`.
#[test]
#[ignore = "it measures"]
fn gate_figures() {
    let port = serve(echo);
    let Some(world) = GatedTestWorld::new(&[("a.test", port)], &["a.test"], &[]) else { return };
    let direct = || TcpStream::connect(("127.0.0.1", port)).expect("connected");
    let through = || world.dial("a.test", port).expect("connected");
    let address = world.look("a.test", 1).expect("an address");
    for (what, stream) in [("direct", direct()), ("gate", through())] {
        let (mut reader, mut writer) = (stream.try_clone().expect("a clone"), stream);
        writer.set_nodelay(true).expect("no delay");
        let begun = Instant::now();
        for _ in 0..5_000 {
            writer.write_all(b"x").expect("written");
            reader.read_exact(&mut [0; 1]).expect("echoed");
        }
        let trip = begun.elapsed() / 5_000;
        let bytes = 1_usize << 30;
        let begun = Instant::now();
        let written = thread::spawn(move || {
            let block = vec![1; 1 << 18];
            (0..bytes >> 18).for_each(|_| writer.write_all(&block).expect("written"));
            writer.shutdown(Shutdown::Write).expect("closed");
        });
        let mut block = vec![0; 1 << 18];
        while reader.read(&mut block).expect("read") > 0 {}
        written.join().expect("written");
        let rate = bytes as f64 / begun.elapsed().as_secs_f64() / 1e6;
        println!("{what}: round trip {trip:?}, echoed {rate:.0} MB/s");
    }
    let first = |to: SocketAddr| {
        let begun = Instant::now();
        for _ in 0..500 {
            let mut stream = TcpStream::connect(to).expect("connected");
            stream.write_all(b"x").expect("written");
            stream.read_exact(&mut [0; 1]).expect("echoed");
        }
        begun.elapsed() / 500
    };
    println!("connect and echo: direct {:?}", first(([127, 0, 0, 1], port).into()));
    let to: SocketAddr = (address, port).into();
    println!("connect and echo: gate {:?}", world.inside.run(move || first(to)));
}
