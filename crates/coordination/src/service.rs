//! The service: values, barriers and who is alive.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pullback_base::{Error, Result};

use crate::wire::{DONE, Message, ask, expect_greeting, greet, receive, send};

/// Codes of failures, and the names that texts begin with.
mod failure {
    pub(super) const INVALID_ARGUMENT: (u8, &str) = (3, "INVALID_ARGUMENT");
    pub(super) const DEADLINE_EXCEEDED: (u8, &str) = (4, "DEADLINE_EXCEEDED");
    pub(super) const NOT_FOUND: (u8, &str) = (5, "NOT_FOUND");
    pub(super) const ALREADY_EXISTS: (u8, &str) = (6, "ALREADY_EXISTS");
    pub(super) const UNAVAILABLE: (u8, &str) = (14, "UNAVAILABLE");
}

/// Connections at one time: more are sent away.
const MAX_CONNECTIONS: usize = 4096;

/// How long a connection may take to say what it is.
const GREETING_TIME: Duration = Duration::from_secs(5);

#[derive(Default)]
struct Barrier {
    arrived: BTreeSet<u64>,
    /// How often all have met, or failed to.
    round: u64,
    failed_rounds: BTreeSet<u64>,
}

#[derive(Default)]
struct State {
    values: BTreeMap<String, Vec<u8>>,
    barriers: HashMap<String, Barrier>,
    joined: BTreeSet<u64>,
    left: BTreeSet<u64>,
    /// Which process is gone, and how that was seen.
    lost: Option<String>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    n_processes: u64,
    silence: Duration,
    is_closing: AtomicBool,
    n_connections: AtomicUsize,
}

/// A running service; it ends when this is dropped.
pub struct Service {
    shared: Arc<Shared>,
    address: SocketAddr,
}

impl Service {
    /// Listens at an address for so many processes. One that is silent for longer than `silence` is gone.
    ///
    /// # Errors
    /// When the address cannot be listened at.
    pub fn start(address: &str, n_processes: u64, silence: Duration) -> Result<Service> {
        let failed = |error: std::io::Error| {
            Error::runtime(format!("UNAVAILABLE: the coordinator cannot listen at {address}: {error}"))
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            n_processes,
            silence,
            is_closing: AtomicBool::new(false),
            n_connections: AtomicUsize::new(0),
        });
        let own = shared.clone();
        std::thread::spawn(move || accept(&listener, &own));
        Ok(Service { shared, address })
    }

    /// The port that it listens at.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Waits, not longer than given, until all processes that joined have left.
    pub fn wait_for_end(&self, limit: Duration) {
        let state = self.shared.lock();
        let is_busy = |state: &mut State| state.lost.is_none() && state.left.len() < state.joined.len();
        drop(self.shared.changed.wait_timeout_while(state, limit, is_busy));
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shared.is_closing.store(true, Ordering::Release);
        self.shared.changed.notify_all();
        // The listener wakes up and sees that it is over.
        let port = self.address.port();
        let _ = TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), Duration::from_secs(1));
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_closing.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = stream else { continue };
        if shared.n_connections.fetch_add(1, Ordering::AcqRel) >= MAX_CONNECTIONS {
            shared.n_connections.fetch_sub(1, Ordering::AcqRel);
            continue;
        }
        let shared = shared.clone();
        std::thread::spawn(move || {
            // Whoever does not speak the protocol is sent away: the connection ends here.
            let _ = serve(stream, &shared);
            shared.n_connections.fetch_sub(1, Ordering::AcqRel);
        });
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(GREETING_TIME))?;
    expect_greeting(&mut stream)?;
    greet(&mut stream)?;
    let first = receive(&mut stream)?;
    if first.code == ask::JOIN {
        return stay(stream, shared, &first);
    }
    send(&mut stream, &shared.answer(&first))
}

/// The connection by which a process shows that it is there.
fn stay(mut stream: TcpStream, shared: &Shared, first: &Message) -> std::io::Result<()> {
    let process = first.number(0);
    let answer = shared.join(process, first.number(1));
    send(&mut stream, &answer)?;
    if answer.code != DONE {
        return Ok(());
    }
    stream.set_read_timeout(Some(shared.silence))?;
    loop {
        match receive(&mut stream) {
            Ok(message) if message.code == ask::LEAVE => {
                shared.lock().left.insert(process);
                shared.changed.notify_all();
                return send(&mut stream, &Message::new(DONE, &[]));
            }
            Ok(_) => {
                let lost = shared.lock().lost.clone();
                let answer = lost.map_or_else(|| Message::new(DONE, &[]), |lost| failed(failure::UNAVAILABLE, &lost));
                send(&mut stream, &answer)?;
            }
            Err(error) => {
                shared.lose(process, &error);
                return Ok(());
            }
        }
    }
}

fn failed((code, name): (u8, &str), text: &str) -> Message {
    Message::new(code, &[format!("{name}: {text}").as_bytes()])
}

type Answer = std::result::Result<Vec<Vec<u8>>, Message>;

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn join(&self, process: u64, n_processes: u64) -> Message {
        if n_processes != self.n_processes || process >= n_processes {
            let text = format!(
                "process {process} of {n_processes} does not belong to the {} processes of this coordinator",
                self.n_processes
            );
            return failed(failure::INVALID_ARGUMENT, &text);
        }
        if !self.lock().joined.insert(process) {
            return failed(failure::ALREADY_EXISTS, &format!("a process with number {process} has joined already"));
        }
        self.changed.notify_all();
        Message::new(DONE, &[])
    }

    fn lose(&self, process: u64, error: &std::io::Error) {
        use std::io::ErrorKind::{TimedOut, WouldBlock};
        let how = match error.kind() {
            TimedOut | WouldBlock => format!("gave no sign of life for {} seconds", self.silence.as_secs_f64()),
            _ => "ended without leaving".to_string(),
        };
        self.lock().lost.get_or_insert_with(|| format!("process {process} {how}"));
        self.changed.notify_all();
    }

    fn answer(&self, message: &Message) -> Message {
        let answer = match message.code {
            ask::SET => self.set(message),
            ask::GET => self.get(message),
            ask::LIST => self.list(message),
            ask::DELETE => self.delete(message),
            ask::INCREMENT => self.increment(message),
            ask::BARRIER => self.barrier(message),
            ask::LIVE => self.live(),
            other => Err(failed(failure::INVALID_ARGUMENT, &format!("nothing is known of request {other}"))),
        };
        answer.map_or_else(|failed| failed, |fields| Message { code: DONE, fields })
    }

    /// Waits until `found` finds something, a process is lost, or the time is over, of which `late` tells.
    fn wait<T>(
        &self,
        milliseconds: u64,
        mut found: impl FnMut(&mut State) -> Option<T>,
        late: impl FnOnce(&mut State) -> Message,
    ) -> std::result::Result<T, Message> {
        let deadline = Instant::now() + Duration::from_millis(milliseconds);
        let mut state = self.lock();
        loop {
            if let Some(found) = found(&mut state) {
                return Ok(found);
            }
            if let Some(lost) = &state.lost {
                return Err(failed(failure::UNAVAILABLE, lost));
            }
            if self.is_closing.load(Ordering::Acquire) {
                return Err(failed(failure::UNAVAILABLE, "the coordinator ended"));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let answer = late(&mut state);
                self.changed.notify_all();
                return Err(answer);
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn set(&self, message: &Message) -> Answer {
        let (key, value, may_overwrite) = (message.text(0), message.bytes(1).to_vec(), message.number(2) != 0);
        let mut state = self.lock();
        if !may_overwrite && state.values.contains_key(&key) {
            return Err(failed(failure::ALREADY_EXISTS, &format!("Config key {key} already exists.")));
        }
        state.values.insert(key, value);
        self.changed.notify_all();
        Ok(vec![])
    }

    fn get(&self, message: &Message) -> Answer {
        let (key, milliseconds) = (message.text(0), message.number(1));
        if milliseconds == 0 {
            let found = self.lock().values.get(&key).cloned();
            return found
                .map(|value| vec![value])
                .ok_or_else(|| failed(failure::NOT_FOUND, &format!("Config key {key} not found.")));
        }
        let late = |_: &mut State| {
            let text = format!("GetKeyValue() timed out with key: {key} and duration: {milliseconds}ms");
            failed(failure::DEADLINE_EXCEEDED, &text)
        };
        self.wait(milliseconds, |state| state.values.get(&key).map(|value| vec![value.clone()]), late)
    }

    fn list(&self, message: &Message) -> Answer {
        let prefix = message.text(0);
        let state = self.lock();
        let known = state.values.iter().filter(|(key, _)| key.starts_with(&prefix));
        Ok(known.flat_map(|(key, value)| [key.clone().into_bytes(), value.clone()]).collect())
    }

    /// A key, and those below it.
    fn delete(&self, message: &Message) -> Answer {
        let key = message.text(0);
        let below = format!("{}/", key.trim_end_matches('/'));
        self.lock().values.retain(|known, _| *known != key && !known.starts_with(&below));
        Ok(vec![])
    }

    fn increment(&self, message: &Message) -> Answer {
        let (key, by) = (message.text(0), message.number(1) as i64);
        let mut state = self.lock();
        let old = state.values.get(&key).map_or(Some(0), |value| String::from_utf8_lossy(value).parse::<i64>().ok());
        let sum = old.and_then(|old| old.checked_add(by));
        let Some(sum) = sum else {
            return Err(failed(
                failure::INVALID_ARGUMENT,
                &format!("the value of key {key} is no number to add {by} to"),
            ));
        };
        state.values.insert(key, sum.to_string().into_bytes());
        self.changed.notify_all();
        Ok(vec![(sum as u64).to_le_bytes().to_vec()])
    }

    /// Holds a process until all that take part are there; when one comes too late, all of that round fail.
    fn barrier(&self, message: &Message) -> Answer {
        let (id, milliseconds, process) = (message.text(0), message.number(1), message.number(2));
        let named: BTreeSet<u64> = (3..message.fields.len()).map(|at| message.number(at)).collect();
        let parts = if named.is_empty() { (0..self.n_processes).collect() } else { named };
        if !parts.contains(&process) {
            let text = format!("process {process} is not one of those that barrier {id} is for");
            return Err(failed(failure::INVALID_ARGUMENT, &text));
        }
        let own_round = self.arrive(&id, process, &parts);
        let text = |state: &State| {
            let arrived = state.barriers.get(&id).map(|barrier| barrier.arrived.clone()).unwrap_or_default();
            let missing: Vec<String> = parts.difference(&arrived).map(u64::to_string).collect();
            format!("Barrier timed out. Id: {id}. Timed out task names: {}", missing.join(", "))
        };
        let is_over = |state: &mut State| {
            let barrier = state.barriers.get(&id)?;
            (barrier.round > own_round).then(|| barrier.failed_rounds.contains(&own_round))
        };
        let late = |state: &mut State| {
            let text = text(state);
            let barrier = state.barriers.entry(id.clone()).or_default();
            barrier.failed_rounds.insert(barrier.round);
            barrier.round += 1;
            barrier.arrived.clear();
            failed(failure::DEADLINE_EXCEEDED, &text)
        };
        match self.wait(milliseconds, is_over, late)? {
            false => Ok(vec![]),
            true => Err(failed(failure::DEADLINE_EXCEEDED, &format!("Barrier timed out. Id: {id}"))),
        }
    }

    /// Notes that a process reached a barrier; gives the round that it waits in.
    fn arrive(&self, id: &str, process: u64, parts: &BTreeSet<u64>) -> u64 {
        let mut state = self.lock();
        let barrier = state.barriers.entry(id.to_string()).or_default();
        let round = barrier.round;
        barrier.arrived.insert(process);
        if barrier.arrived.is_superset(parts) {
            barrier.round += 1;
            barrier.arrived.clear();
            self.changed.notify_all();
        }
        round
    }

    fn live(&self) -> Answer {
        let state = self.lock();
        Ok(state.joined.difference(&state.left).map(|process| process.to_le_bytes().to_vec()).collect())
    }
}
