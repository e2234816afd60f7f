//! The client: asks the service, and shows it that this process is alive.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pullback_base::{Error, Result};

use crate::wire::{DONE, Message, ask, expect_greeting, greet, receive, send};

/// Who this process is, and how long things may take.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the service listens: `host:port`.
    pub address: String,
    /// The number of this process.
    pub process: u64,
    /// How many there are.
    pub n_processes: u64,
    /// How long the start may take.
    pub start: Duration,
    /// How long a process may be silent.
    pub silence: Duration,
    /// How long the end may take.
    pub end: Duration,
}

/// How long the service may take beside what a request waits for.
const GRACE: Duration = Duration::from_secs(10);

#[derive(Default)]
struct Life {
    is_over: bool,
    lost: Option<String>,
}

struct Pulse {
    life: Mutex<Life>,
    changed: Condvar,
}

/// A process that joined.
pub struct Client {
    settings: Settings,
    pulse: Arc<Pulse>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

fn unavailable(address: &str, reason: impl std::fmt::Display) -> Error {
    Error::runtime(format!("UNAVAILABLE: the coordinator at {address} cannot be reached: {reason}"))
}

/// A connection over which the greeting was said and heard.
fn connect(address: &str, limit: Duration) -> Result<TcpStream> {
    let failed = |error: std::io::Error| unavailable(address, error);
    let addresses: Vec<SocketAddr> = address.to_socket_addrs().map_err(failed)?.collect();
    let mut last = unavailable(address, "the name has no address");
    for one in addresses {
        let greeted = TcpStream::connect_timeout(&one, limit).and_then(|mut stream| {
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(GRACE))?;
            stream.set_write_timeout(Some(GRACE))?;
            greet(&mut stream)?;
            expect_greeting(&mut stream)?;
            Ok(stream)
        });
        match greeted {
            Ok(stream) => return Ok(stream),
            Err(error) => last = failed(error),
        }
    }
    Err(last)
}

/// The answer to a request, which may take so long.
fn asked(stream: &mut TcpStream, address: &str, message: &Message, limit: Duration) -> Result<Message> {
    let failed = |error: std::io::Error| unavailable(address, error);
    stream.set_read_timeout(Some(limit + GRACE)).map_err(failed)?;
    send(stream, message).map_err(failed)?;
    let answer = receive(stream).map_err(failed)?;
    if answer.code == DONE { Ok(answer) } else { Err(Error::runtime(answer.text(0))) }
}

fn milliseconds(limit: Duration) -> [u8; 8] {
    // Nothing waits for zero time: that would ask whether it is there.
    u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).clamp(1, u64::MAX / 4).to_le_bytes()
}

impl Client {
    /// Joins, and waits for all others.
    ///
    /// # Errors
    /// When the service cannot be reached in time, does not take this process, or others do not come in time.
    pub fn join(settings: Settings) -> Result<Client> {
        let deadline = Instant::now() + settings.start;
        let mut stream = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match connect(&settings.address, left.clamp(Duration::from_millis(10), GRACE)) {
                Ok(stream) => break stream,
                Err(error) if left.is_zero() => {
                    let seconds = settings.start.as_secs_f64();
                    return Err(
                        error.with_message(format!("DEADLINE_EXCEEDED: after {seconds} seconds: {}", error.message()))
                    );
                }
                // The coordinator may start later than we do.
                Err(_) => std::thread::sleep(Duration::from_millis(50).min(left)),
            }
        };
        let fields: [&[u8]; 2] = [&settings.process.to_le_bytes(), &settings.n_processes.to_le_bytes()];
        asked(&mut stream, &settings.address, &Message::new(ask::JOIN, &fields), GRACE)?;
        let pulse = Arc::new(Pulse { life: Mutex::default(), changed: Condvar::new() });
        let (own, address, silence) = (pulse.clone(), settings.address.clone(), settings.silence);
        let thread = std::thread::spawn(move || beat(stream, &address, silence, &own));
        let client = Client { settings, pulse, thread: Mutex::new(Some(thread)) };
        client.barrier("pullback/start", deadline.saturating_duration_since(Instant::now()), &[])?;
        Ok(client)
    }

    /// Who this process is.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Which process, or that the coordinator, was lost.
    pub fn lost(&self) -> Option<String> {
        self.pulse.life.lock().unwrap_or_else(PoisonError::into_inner).lost.clone()
    }

    fn ask(&self, code: u8, fields: &[&[u8]], limit: Duration) -> Result<Message> {
        if let Some(lost) = self.lost() {
            return Err(Error::runtime(lost));
        }
        let address = &self.settings.address;
        asked(&mut connect(address, GRACE)?, address, &Message::new(code, fields), limit)
    }

    /// Keeps a value.
    ///
    /// # Errors
    /// When the key has one and it may not be overwritten; when a process was lost.
    pub fn set(&self, key: &str, value: &[u8], may_overwrite: bool) -> Result<()> {
        let may_overwrite = u64::from(may_overwrite).to_le_bytes();
        self.ask(ask::SET, &[key.as_bytes(), value, &may_overwrite], GRACE).map(drop)
    }

    /// The value of a key; waits for it.
    ///
    /// # Errors
    /// When it does not come in time; when a process was lost.
    pub fn get(&self, key: &str, limit: Duration) -> Result<Vec<u8>> {
        let mut answer = self.ask(ask::GET, &[key.as_bytes(), &milliseconds(limit)], limit)?;
        Ok(answer.fields.pop().unwrap_or_default())
    }

    /// The value of a key that has one.
    ///
    /// # Errors
    /// When it has none; when a process was lost.
    pub fn try_get(&self, key: &str) -> Result<Vec<u8>> {
        let mut answer = self.ask(ask::GET, &[key.as_bytes(), &0u64.to_le_bytes()], GRACE)?;
        Ok(answer.fields.pop().unwrap_or_default())
    }

    /// Keys that begin so, and their values.
    ///
    /// # Errors
    /// When a process was lost.
    pub fn list(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>> {
        let answer = self.ask(ask::LIST, &[prefix.as_bytes()], GRACE)?;
        Ok((0..answer.fields.len() / 2).map(|at| (answer.text(2 * at), answer.bytes(2 * at + 1).to_vec())).collect())
    }

    /// Forgets a key and those below it.
    ///
    /// # Errors
    /// When a process was lost.
    pub fn delete(&self, key: &str) -> Result<()> {
        self.ask(ask::DELETE, &[key.as_bytes()], GRACE).map(drop)
    }

    /// Adds to a number; gives the sum.
    ///
    /// # Errors
    /// When the value is none; when a process was lost.
    pub fn increment(&self, key: &str, by: i64) -> Result<i64> {
        Ok(self.ask(ask::INCREMENT, &[key.as_bytes(), &by.to_le_bytes()], GRACE)?.number(0) as i64)
    }

    /// Waits until all processes, or those named, are here.
    ///
    /// # Errors
    /// When they do not come in time; when a process was lost.
    pub fn barrier(&self, id: &str, limit: Duration, processes: &[u64]) -> Result<()> {
        let (limit_field, own) = (milliseconds(limit), self.settings.process.to_le_bytes());
        let processes: Vec<[u8; 8]> = processes.iter().map(|process| process.to_le_bytes()).collect();
        let head: [&[u8]; 3] = [id.as_bytes(), &limit_field, &own];
        let fields: Vec<&[u8]> = head.into_iter().chain(processes.iter().map(|field| &field[..])).collect();
        self.ask(ask::BARRIER, &fields, limit).map(drop)
    }

    /// Which processes are there.
    ///
    /// # Errors
    /// When a process was lost.
    pub fn live(&self) -> Result<Vec<u64>> {
        let answer = self.ask(ask::LIVE, &[], GRACE)?;
        Ok((0..answer.fields.len()).map(|at| answer.number(at)).collect())
    }

    /// Waits for all others to end too, and leaves.
    ///
    /// # Errors
    /// When they do not end in time; this process has left nevertheless.
    pub fn leave(&self) -> Result<()> {
        let together = self.barrier("pullback/end", self.settings.end, &[]);
        self.stop();
        together
    }

    fn stop(&self) {
        self.pulse.life.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        self.pulse.changed.notify_all();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Shows that this process is alive until it is over, and hears who was lost.
fn beat(mut stream: TcpStream, address: &str, silence: Duration, pulse: &Pulse) {
    let every = (silence / 4).min(Duration::from_secs(1));
    let lost = loop {
        let life = pulse.life.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = pulse.changed.wait_timeout_while(life, every, |life| !life.is_over);
        let is_over = waited.unwrap_or_else(PoisonError::into_inner).0.is_over;
        let code = if is_over { ask::LEAVE } else { ask::ALIVE };
        let answer = asked(&mut stream, address, &Message::new(code, &[]), silence);
        match answer {
            _ if is_over => return,
            Ok(_) => {}
            Err(error) => break error.message().to_string(),
        }
    };
    let mut life = pulse.life.lock().unwrap_or_else(PoisonError::into_inner);
    life.lost = Some(lost);
    drop(life);
    // Connected still, so that leaving is seen as such.
    let life = pulse.life.lock().unwrap_or_else(PoisonError::into_inner);
    drop(pulse.changed.wait_while(life, |life| !life.is_over));
    let _ = send(&mut stream, &Message::new(ask::LEAVE, &[]));
}
