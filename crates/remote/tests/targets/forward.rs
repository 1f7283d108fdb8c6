//! Reaches ports of a target by ports of this machine.

use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::time::Duration;

use remote::client::{RemoteTarget, TargetState};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{PATIENCE, cut, run, settings, within};

async fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
    let port = listener.local_addr().expect("a port").port();
    (listener, port)
}

async fn dial(port: u16) -> TcpStream {
    within("a connection", TcpStream::connect((Ipv4Addr::LOCALHOST, port))).await.expect("a port")
}

/// Reads to the end of the connection. The bytes before it, and whether it was reset.
async fn rest(stream: &mut TcpStream) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    match within("the end of a connection", stream.read_to_end(&mut bytes)).await {
        Ok(_) => (bytes, false),
        Err(error) if error.kind() == ErrorKind::ConnectionReset => (bytes, true),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_pass_both_ways_and_each_end_by_itself() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings(home.path(), PATIENCE)).await.expect("a target");
    let (server, port) = listener().await;
    let forward = target.forward("localhost", port, 0).await.expect("a port");
    let sent: Vec<u8> = (0..5_000_000_u32).map(|at| (at % 251) as u8).collect();
    let mut client = dial(forward.port()).await;
    let (mut served, _) = within("the connection there", server.accept()).await.expect("a connection");
    let (mut read, mut write) = client.split();
    let question = async {
        write.write_all(&sent).await.expect("a connection");
        write.shutdown().await.expect("a connection");
    };
    let answer = async {
        let (bytes, reset) = rest(&mut served).await;
        assert!(bytes == sent && !reset, "{} bytes", bytes.len());
        // The other direction is still open.
        served.write_all(&bytes).await.expect("a connection");
        drop(served);
    };
    let mut back = Vec::new();
    let (.., read) = within("both ways", async { tokio::join!(question, answer, read.read_to_end(&mut back)) }).await;
    assert_eq!(read.expect("no reset"), sent.len());
    assert!(back == sent);
    // One that the server ends first.
    let mut client = dial(forward.port()).await;
    let (mut served, _) = within("the connection there", server.accept()).await.expect("a connection");
    served.write_all(b"bye").await.expect("a connection");
    served.shutdown().await.expect("a connection");
    assert_eq!(rest(&mut client).await, (b"bye".to_vec(), false));
    client.write_all(b"late").await.expect("a connection");
    drop(client);
    assert_eq!(rest(&mut served).await, (b"late".to_vec(), false));
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_dial_and_a_reset_there_reset_the_connection_here() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings(home.path(), PATIENCE)).await.expect("a target");
    let (server, port) = listener().await;
    let forward = target.forward("127.0.0.1", port, 0).await.expect("a port");
    let mut client = dial(forward.port()).await;
    let (mut served, _) = within("the connection there", server.accept()).await.expect("a connection");
    served.write_all(b"half").await.expect("a connection");
    let mut half = [0; 4];
    within("the bytes", client.read_exact(&mut half)).await.expect("a connection");
    served.set_zero_linger().expect("a connection");
    drop(served);
    assert_eq!(rest(&mut client).await, (Vec::new(), true));
    drop(server);
    match within("a connection", TcpStream::connect((Ipv4Addr::LOCALHOST, forward.port()))).await {
        Ok(mut client) => assert_eq!(rest(&mut client).await, (Vec::new(), true)),
        // The reset was faster.
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
    let taken = target.forward("127.0.0.1", port, forward.port()).await.err().expect("a refusal");
    assert_eq!(taken.code(), "EADDRINUSE");
    target.close();
    let closed = target.forward("127.0.0.1", port, 0).await.err().expect("a refusal");
    assert_eq!(closed.code(), "ERR_BASH_CLOSED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_resets_connections_and_the_port_stays_until_it_is_closed() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings(home.path(), PATIENCE)).await.expect("a target");
    let (server, port) = listener().await;
    let forward = target.forward("127.0.0.1", port, 0).await.expect("a port");
    let mut client = dial(forward.port()).await;
    let (mut served, _) = within("the connection there", server.accept()).await.expect("a connection");
    let mut states = target.watch();
    assert!(cut(home.path()));
    within("the cut", states.wait_for(|state| *state == TargetState::Disconnected)).await.expect("a target");
    assert_eq!(rest(&mut client).await, (Vec::new(), true));
    // A connection of this time waits for the link. What is left of the old one ends there.
    let mut client = dial(forward.port()).await;
    client.write_all(b"early").await.expect("a connection");
    let (mut later, _) = within("the connection there", server.accept()).await.expect("a connection");
    let mut early = [0; 5];
    within("the bytes", later.read_exact(&mut early)).await.expect("a connection");
    assert_eq!(rest(&mut served).await, (Vec::new(), true));
    within("the end of the port", forward.close()).await;
    assert_eq!(rest(&mut client).await, (Vec::new(), true));
    assert_eq!(rest(&mut later).await, (Vec::new(), true));
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_ends_with_its_target() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings(home.path(), PATIENCE)).await.expect("a target");
    let forward = target.forward("127.0.0.1", 9, 0).await.expect("a port");
    drop(target);
    within("the end of the port", async {
        while TcpStream::connect((Ipv4Addr::LOCALHOST, forward.port())).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_nobody_reads_holds_back_its_server_alone_and_more_than_256_wait() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings(home.path(), PATIENCE)).await.expect("a target");
    let (server, port) = listener().await;
    let forward = target.forward("127.0.0.1", port, 0).await.expect("a port");
    let mut clients = vec![dial(forward.port()).await];
    let (mut flooding, _) = within("the connection there", server.accept()).await.expect("a connection");
    let flood = tokio::spawn(async move {
        // Far more than sockets and credit hold.
        for _ in 0..1024 {
            if flooding.write_all(&[7; 64 * 1024]).await.is_err() {
                return false;
            }
        }
        true
    });
    let mut served = Vec::new();
    for _ in 1..256 {
        clients.push(dial(forward.port()).await);
        served.push(within("the connection there", server.accept()).await.expect("a connection").0);
    }
    let mut waiting = dial(forward.port()).await;
    waiting.write_all(b"me").await.expect("a connection");
    assert_eq!(run(&target, "echo beside", "{}").outcome().await.stdout, "beside\n");
    assert!(!flood.is_finished());
    let more = tokio::time::timeout(Duration::from_millis(50), server.accept()).await;
    assert!(more.is_err(), "257 connections at once");
    drop(served.pop());
    drop(clients.pop());
    let (mut last, _) = within("the connection there", server.accept()).await.expect("a connection");
    let mut bytes = [0; 2];
    within("the bytes", last.read_exact(&mut bytes)).await.expect("a connection");
    within("the end of the port", forward.close()).await;
    assert!(!within("the end of the flood", flood).await.expect("no panic"));
    target.close();
}
