//! A world with its gate: two network namespaces that a test makes itself, with real sockets.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::control::GateControl;
use crate::dns::build_query;
use crate::link_sockets::LinkSockets;
use crate::refusals::GateRefusals;
use crate::resolver_pool::ResolverPool;
use crate::server::GateServer;
use crate::{link::GATE_V4, link::GATE_V6, link::PREFIX_V4, link::PREFIX_V6, link::WORLD_V4, link::WORLD_V6};
use crate::{setup::GateNamespaces, setup::GateNetwork, setup::GateSetup};
use crate::{socket_factory::NamespacedSocketFactory, socket_factory::serve_sockets};
use confine_policy::{AllowEntry, AllowHost, NetworkScope};

/// A bound against a hang.
pub(super) const HANG: Duration = Duration::from_secs(20);

/// A thread in a network namespace of its own, which runs functions.
pub(super) struct NamespaceThread {
    work: mpsc::Sender<Box<dyn FnOnce() + Send>>,
    thread: libc::pid_t,
    pub network: OwnedFd,
}

impl NamespaceThread {
    pub fn new() -> io::Result<Self> {
        let (work, todo) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
        let (made, making) = mpsc::channel();
        thread::spawn(move || {
            let network = sys::new_network().and_then(|()| std::fs::File::open("/proc/thread-self/ns/net"));
            let _ = made.send(network.map(|file| (OwnedFd::from(file), nix::unistd::gettid().as_raw())));
            todo.into_iter().for_each(|work| work());
        });
        let (network, thread) = making.recv().expect("a thread")?;
        Ok(Self { work, thread, network })
    }

    /// Runs something there, and waits for it.
    pub fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let (done, result) = mpsc::channel();
        self.work.send(Box::new(move || drop(done.send(work())))).expect("a thread");
        result.recv_timeout(HANG).expect("done in time")
    }

    pub fn ip(&self, commands: Vec<String>) -> io::Result<()> {
        self.run(move || {
            commands.iter().try_for_each(|command| {
                let output = Command::new("ip").args(command.split(' ')).output()?;
                let failed = || io::Error::other(format!("{command}: {}", String::from_utf8_lossy(&output.stderr)));
                output.status.success().then_some(()).ok_or_else(failed)
            })
        })
    }

    /// Runs a script there. It ends with its standard input.
    pub fn bash(&self, script: String) -> Child {
        self.run(move || {
            let mut bash = Command::new("bash");
            bash.args(["-c", &script]).env("AGENT_BASH_TEST_MARK", "marked").stdin(Stdio::piped());
            bash.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("bash")
        })
    }

    pub fn connect(&self, to: SocketAddr) -> io::Result<TcpStream> {
        let stream = self.run(move || TcpStream::connect_timeout(&to, HANG))?;
        stream.set_read_timeout(Some(HANG))?;
        Ok(stream)
    }
}

/// A world with its gate.
pub(super) struct GatedTestWorld {
    pub inside: NamespaceThread,
    pub control: GateControl,
    lifeline: Option<OwnedFd>,
    gate: Option<JoinHandle<io::Result<()>>>,
    _outside: NamespaceThread,
}

/// Returns the names that exist, as far as the host of these tests knows.
pub(super) fn resolve(name: &str) -> Vec<IpAddr> {
    match name {
        "private.test" => vec![[10, 1, 2, 3].into()],
        "loop.test" => vec![[127, 0, 0, 1].into()],
        _ => vec![],
    }
}

impl GatedTestWorld {
    /// Makes one. `None`: this machine does not allow it.
    pub fn new(allow: &[(&str, u16)], mapped: &[&str], expose: &[u16]) -> Option<Self> {
        match Self::make(allow, mapped, expose) {
            Ok(world) => Some(world),
            Err(error) => {
                assert!(std::env::var_os("AGENT_BASH_CI").is_none(), "no network namespaces: {error}");
                eprintln!("skipped: no network namespaces can be made here: {error}");
                None
            }
        }
    }

    pub fn make(allow: &[(&str, u16)], mapped: &[&str], expose: &[u16]) -> io::Result<Self> {
        let (inside, outside) = (NamespaceThread::new()?, NamespaceThread::new()?);
        let net = |address: IpAddr, prefix| format!("{address}/{prefix}");
        outside.ip(vec![
            "link set lo up".into(),
            format!("link add gate type veth peer name world netns {}", inside.thread),
            format!("address add {} dev gate", net(GATE_V4.into(), PREFIX_V4)),
            format!("address add {} dev gate nodad", net(GATE_V6.into(), PREFIX_V6)),
            "link set gate up".into(),
            "route add local 0.0.0.0/0 dev lo table main".into(),
            "-6 route add local ::/0 dev lo table main".into(),
        ])?;
        inside.ip(vec![
            "link set lo up".into(),
            format!("address add {} dev world", net(WORLD_V4.into(), PREFIX_V4)),
            format!("address add {} dev world nodad", net(WORLD_V6.into(), PREFIX_V6)),
            "link set world up".into(),
            format!("route add default via {GATE_V4}"),
            format!("-6 route add default via {GATE_V6}"),
        ])?;
        let entry = |(host, port): &(&str, u16)| {
            let address = host.parse::<IpAddr>().ok();
            let name = || AllowHost::Name((*host).to_owned());
            let host = address.map_or_else(name, |ip| AllowHost::Net(ip, if ip.is_ipv4() { 32 } else { 128 }));
            AllowEntry { host, port: Some(*port) }
        };
        let hosts: BTreeMap<_, _> = mapped.iter().map(|name| ((*name).to_owned(), [127, 0, 0, 1].into())).collect();
        let network = NetworkScope::Allow { entries: allow.iter().map(entry).collect(), hosts };
        let (read, lifeline) = sys::pipe()?;
        let world = inside.network.try_clone()?;
        let place = GateNetwork::Namespaces(GateNamespaces { user: None, gate: None, world });
        let (setup, control) =
            GateSetup::new(&network, expose, place, read, "AGENT_BASH_TEST_MARK").map_err(io::Error::other)?;
        let ports = setup.rules.ports();
        let sockets = outside.run(move || LinkSockets::open(&ports))?;
        let (spring, end) = sys::packet_pair()?;
        let network = inside.network.try_clone()?;
        thread::spawn(move || sys::enter_namespace(network.as_fd()).map(|()| serve_sockets(&end)));
        let gate = thread::spawn(move || {
            GateServer::new(
                setup,
                sockets,
                Some(NamespacedSocketFactory::from_socket(spring)),
                ResolverPool::new(resolve)?,
                None,
            )?
            .run()
        });
        Ok(Self { inside, control, lifeline: Some(lifeline), gate: Some(gate), _outside: outside })
    }

    /// Asks the resolver, and returns the addresses or the code of its answer.
    pub fn look(&self, name: &str, kind: u16) -> Result<IpAddr, u8> {
        let asked = build_query(name, kind);
        let answer = self.inside.run(move || {
            let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
            socket.set_read_timeout(Some(HANG)).expect("a timeout");
            socket.send_to(&asked, (GATE_V4, 53)).expect("sent");
            let mut buffer = [0; 512];
            let (length, from) = socket.recv_from(&mut buffer).expect("an answer");
            assert_eq!(from, (GATE_V4, 53).into());
            buffer[..length].to_vec()
        });
        address_in(&answer, kind)
    }

    pub fn dial(&self, name: &str, port: u16) -> io::Result<TcpStream> {
        let address = self.look(name, 1).map_err(|code| io::Error::other(format!("code {code}")))?;
        self.inside.connect((address, port).into())
    }

    pub fn taken(&self) -> Vec<(String, u64)> {
        let GateRefusals { listed, .. } = self.control.take(None).expect("refusals");
        listed.into_iter().map(|refused| (refused.target, refused.count)).collect()
    }
}

impl Drop for GatedTestWorld {
    fn drop(&mut self) {
        self.lifeline = None;
        let ended = self.gate.take().map(JoinHandle::join);
        if !thread::panicking() {
            ended.expect("a gate").expect("no panic").expect("no error");
        }
    }
}

pub(super) fn address_in(answer: &[u8], kind: u16) -> Result<IpAddr, u8> {
    match (answer[3] & 0xf, answer[7], kind) {
        (0, 1, 1) => Ok(<[u8; 4]>::try_from(&answer[answer.len() - 4..]).expect("four bytes").into()),
        (0, 1, _) => Ok(<[u8; 16]>::try_from(&answer[answer.len() - 16..]).expect("sixteen bytes").into()),
        (code, ..) => Err(code),
    }
}

/// Starts a server on the host's loopback that answers each connection with this function.
pub(super) fn serve(work: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let work = Arc::new(work);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let work = work.clone();
            thread::spawn(move || work(stream));
        }
    });
    port
}

pub(super) fn echo(mut stream: TcpStream) {
    let _ = io::copy(&mut stream.try_clone().expect("a clone"), &mut stream);
    let _ = stream.shutdown(Shutdown::Write);
}

pub(super) fn is_reset(result: io::Result<usize>) -> bool {
    matches!(result, Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe))
}

/// Returns whether a connection that the gate has accepted is reset, perhaps before its program has seen it.
pub(super) fn is_refused(stream: io::Result<TcpStream>) -> bool {
    match stream {
        Ok(stream) => resets(&stream),
        Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
    }
}

/// Reads until the connection is reset.
pub(super) fn resets(mut stream: &TcpStream) -> bool {
    is_reset(stream.read(&mut [0; 16]))
}
