//! The process of a gate.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::broker_events::GateBroker;
use super::control::{self, GateAnswer};
use super::link_sockets::{LinkSockets, wait_for};
use super::resolver_pool::{self, ResolverPool};
use super::server::GateServer;
use super::setup::{GateError, GateNamespaces, GateNetwork, GateSetup};
use super::socket_factory::{NamespacedSocketFactory, give_up_privileges};

/// The most descriptors that a gate may open, if the machine allows as many.
const DESCRIPTORS: u64 = 16 * 1024;

/// Runs a gate in this process, which has just been forked and has one thread. Closes all other descriptors. Never
/// returns: the process exits with its world.
pub fn serve(setup: GateSetup) -> ! {
    sys::close_all_but(&setup.descriptors());
    let _ = sys::reset_signals();
    let _ = sys::name_process(c"agent-bash-gate");
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard.min(DESCRIPTORS), hard);
    }
    let control = setup.control.try_clone();
    let done = open(setup).and_then(|mut gate| gate.run().map_err(GateError::at_step("the gate failed")));
    if let (Err(error), Ok(control)) = (&done, control) {
        report_error(&control, error);
    }
    sys::exit_now(i32::from(done.is_err()));
}

/// Reports to the supervisor why there is no gate. The supervisor asks first.
fn report_error(control: &OwnedFd, error: &GateError) {
    let (step, source) = match error {
        GateError::Step { step, source } => ((*step).to_owned(), source),
        GateError::Expose { source, .. } => (error.to_string(), source),
    };
    if wait_for(control.as_fd(), nix::poll::PollFlags::POLLIN).is_ok()
        && let Some((_, asker)) = control::receive(control.as_fd())
    {
        control::send_answer(&asker, &GateAnswer::Failed(step, source.raw_os_error().unwrap_or(libc::EIO)));
    }
}

/// Opens all sockets on which a gate listens. This process has one thread.
fn open(mut setup: GateSetup) -> Result<GateServer, GateError> {
    let (sockets, spring) = match &setup.network {
        GateNetwork::Namespaces(namespaces) => open_in_namespaces(namespaces, &setup)?,
        GateNetwork::HostLoopback(_) => (LinkSockets::default(), None),
    };
    // From here on the gate reads bytes from programs of the world. It needs no privileges besides dialling.
    give_up_privileges();
    let pool = ResolverPool::new(resolver_pool::by_host).map_err(GateError::at_step("no pipe could be made"))?;
    let keeps = setup.secrets.is_some() || setup.agent.is_some();
    let start = || {
        // The memory of this process will hold values.
        setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
        sys::refuse_tracers()?;
        GateBroker::start(setup.secrets.take(), setup.agent.take(), &setup.variable)
    };
    let broker = keeps.then(start).transpose();
    let broker = broker.map_err(GateError::at_step("the broker of secrets could not start"))?;
    GateServer::new(setup, sockets, spring, pool, broker).map_err(GateError::at_step("readiness cannot be waited for"))
}

/// Opens the sockets in the namespaces of a world.
fn open_in_namespaces(
    namespaces: &GateNamespaces,
    setup: &GateSetup,
) -> Result<(LinkSockets, Option<NamespacedSocketFactory>), GateError> {
    let GateNamespaces { user, gate, world } = namespaces;
    let with_user = |network| user.iter().chain([network]).map(AsFd::as_fd).collect::<Vec<BorrowedFd<'_>>>();
    let sockets = match gate {
        Some(gate) => LinkSockets::open_in(&with_user(gate), || LinkSockets::open(&setup.rules.ports()))
            .map_err(GateError::at_step("the gate cannot listen in the network of its world"))?,
        // Without a resolver no name resolves either. Only the record of the names is missing then.
        None if setup.isolated => {
            LinkSockets::open_in(&with_user(world), LinkSockets::open_resolver).unwrap_or_default()
        }
        None => LinkSockets::default(),
    };
    let spring = (!setup.exposed.is_empty()).then(|| NamespacedSocketFactory::start(&with_user(world))).transpose();
    Ok((sockets, spring.map_err(GateError::at_step("the gate cannot enter the network of its world"))?))
}
