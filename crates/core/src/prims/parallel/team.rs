//! The devices that run one program together, and the meetings at which their collectives exchange values.
//!
//! Each device is a thread with a place in a mesh of named axes. A collective is a meeting of a group of devices: each
//! brings bytes, waits for the others, and takes what all brought. Meetings of the same group follow one another in
//! program order, so a group and a number name a meeting. A device that fails or ends early ends the wait of the others
//! with an error; nobody waits for ever.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use pullback_base::{Error, ErrorKind, Result};
use pullback_ir::AxisName;

/// What one member brought to a meeting.
pub type Brought = Arc<[u8]>;

/// A meeting: the sorted group, and how many it had before.
type MeetingId = (Arc<[usize]>, u64);

#[derive(Default)]
struct Meeting {
    brought: HashMap<usize, Brought>,
    n_left: usize,
}

#[derive(Default)]
struct State {
    meetings: HashMap<MeetingId, Meeting>,
    /// Devices whose program ended.
    ended: Vec<usize>,
    failure: Option<Error>,
}

/// Devices in a mesh of named axes that run one program.
pub struct Team {
    axes: Vec<(AxisName, usize)>,
    state: Mutex<State>,
    changed: Condvar,
}

impl Team {
    /// A team with one device for each position of the mesh; the first axis is the slowest.
    pub fn new(axes: Vec<(AxisName, usize)>) -> Team {
        Team { axes, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Number of devices.
    pub fn size(&self) -> usize {
        self.axes.iter().map(|(_, size)| size).product()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all meetings with an error; the first one stays.
    pub fn fail(&self, error: Error) {
        self.lock().failure.get_or_insert(error);
        self.changed.notify_all();
    }

    /// The error that ended the run.
    pub fn failure(&self) -> Option<Error> {
        self.lock().failure.clone()
    }

    /// Runs `program` on this thread as the device at `position`; its error ends the run of the others.
    ///
    /// # Errors
    /// What the program raises, or what ended the run.
    pub fn run_as<T>(self: &Arc<Self>, position: usize, program: impl FnOnce() -> Result<T>) -> Result<T> {
        let device = Device { team: self.clone(), position, n_met: HashMap::new() };
        let outside = DEVICE.replace(Some(device));
        let result = program();
        DEVICE.set(outside);
        let mut state = self.lock();
        // Under one lock, so that nobody takes a device that failed for one that ended early.
        if let Err(error) = &result {
            state.failure.get_or_insert_with(|| error.clone());
        }
        state.ended.push(position);
        self.changed.notify_all();
        result
    }

    /// Position along the axis of the device at `position`.
    fn coordinate(&self, position: usize, name: &AxisName) -> Option<usize> {
        let at = self.axes.iter().position(|(known, _)| known == name)?;
        let stride: usize = self.axes[at + 1..].iter().map(|(_, size)| size).product();
        Some(position / stride % self.axes[at].1)
    }

    /// Devices that differ from the one at `position` only along the named axes, ordered by these.
    fn group(&self, position: usize, names: &[AxisName]) -> Result<Vec<usize>> {
        let is_fixed = |(name, _): &&(AxisName, usize)| !names.contains(name);
        let fixed: Vec<&AxisName> = self.axes.iter().filter(is_fixed).map(|(name, _)| name).collect();
        if let Some(name) = names.iter().find(|name| self.coordinate(position, name).is_none()) {
            return Err(unbound(name));
        }
        let same =
            |other: &usize| fixed.iter().all(|name| self.coordinate(*other, name) == self.coordinate(position, name));
        let mut group: Vec<usize> = (0..self.size()).filter(same).collect();
        group.sort_by_key(|&other| names.iter().map(|name| self.coordinate(other, name)).collect::<Vec<_>>());
        Ok(group)
    }

    fn meet(&self, position: usize, id: MeetingId, bytes: &[u8], order: &[usize]) -> Result<Vec<Brought>> {
        let mut state = self.lock();
        let meeting = state.meetings.entry(id.clone()).or_default();
        meeting.brought.insert(position, bytes.into());
        if meeting.brought.len() == order.len() {
            self.changed.notify_all();
        }
        loop {
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            let meeting = &state.meetings[&id];
            if meeting.brought.len() == order.len() {
                break;
            }
            let is_missing = |other: &&usize| !meeting.brought.contains_key(other) && state.ended.contains(other);
            if let Some(absent) = order.iter().find(is_missing) {
                let text = format!(
                    "device {position} waits at a collective that device {absent} did not reach. All devices of a group must \
                     make the same collectives: do not put one under a condition that differs between them."
                );
                return Err(Error::new(ErrorKind::Runtime, text));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let meeting = state.meetings.get_mut(&id).expect("a meeting lasts until all left");
        let all: Vec<Brought> = order.iter().map(|other| meeting.brought[other].clone()).collect();
        meeting.n_left += 1;
        if meeting.n_left == order.len() {
            state.meetings.remove(&id);
        }
        match all.iter().find(|other| other.len() != bytes.len()) {
            Some(other) => Err(Error::internal(format!("devices met with {} and {} bytes", bytes.len(), other.len()))),
            None => Ok(all),
        }
    }
}

struct Device {
    team: Arc<Team>,
    position: usize,
    /// How many meetings each group had.
    n_met: HashMap<Arc<[usize]>, u64>,
}

thread_local! {
    static DEVICE: RefCell<Option<Device>> = const { RefCell::new(None) };
}

/// The error of a name that no map around the program has.
pub fn unbound(name: &str) -> Error {
    Error::new(ErrorKind::Name, format!("unbound axis name: {name}"))
}

/// The group of a collective on this thread: what it is called, who is in it in order, and which of them this is.
struct Group {
    order: Vec<usize>,
    own: usize,
}

fn group(team: &Team, position: usize, names: &[AxisName], groups: &super::axes::Groups) -> Result<Group> {
    let all = team.group(position, names)?;
    let index = all.iter().position(|&other| other == position).expect("a device is in its own group");
    let Some(groups) = groups else { return Ok(Group { order: all, own: index }) };
    let part = groups.iter().find(|part| part.contains(&index));
    let Some(part) = part.filter(|part| part.iter().all(|&i| i < all.len())) else {
        return Err(Error::value_error("axis_index_groups must cover all indices exactly once"));
    };
    let own = part.iter().position(|&i| i == index).expect("the part has the index");
    Ok(Group { order: part.iter().map(|&i| all[i]).collect(), own })
}

fn on_device<T>(names: &[AxisName], act: impl FnOnce(&mut Device) -> Result<T>) -> Result<T> {
    DEVICE.with_borrow_mut(|device| match device {
        Some(device) => act(device),
        None => Err(unbound(names.first().map_or("", |name| &**name))),
    })
}

/// What all members of this thread's group brought, in order, and which of them this is.
///
/// # Errors
/// `Name` when no team runs or it lacks an axis; the error of another device that ended the run.
pub fn exchange(names: &[AxisName], groups: &super::axes::Groups, bytes: &[u8]) -> Result<(Vec<Brought>, usize)> {
    let (team, position, group, id) = on_device(names, |device| {
        let group = group(&device.team, device.position, names, groups)?;
        let mut sorted = group.order.clone();
        sorted.sort_unstable();
        let members: Arc<[usize]> = sorted.into();
        let number = device.n_met.entry(members.clone()).or_default();
        *number += 1;
        Ok((device.team.clone(), device.position, group, (members, *number)))
    })?;
    Ok((team.meet(position, id, bytes, &group.order)?, group.own))
}

/// The position of this thread's device along an axis.
///
/// # Errors
/// `Name` when no team runs or it lacks the axis.
pub fn coordinate(name: &AxisName) -> Result<usize> {
    on_device(std::slice::from_ref(name), |device| {
        device.team.coordinate(device.position, name).ok_or_else(|| unbound(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(team: &Arc<Team>, program: impl Fn(usize) -> Result<Vec<u8>> + Sync) -> Vec<Result<Vec<u8>>> {
        std::thread::scope(|scope| {
            let program = &program;
            let start = |position| scope.spawn(move || team.run_as(position, || program(position)));
            let threads: Vec<_> = (0..team.size()).map(start).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        })
    }

    fn team() -> Arc<Team> {
        Arc::new(Team::new(vec![("x".into(), 2), ("y".into(), 3)]))
    }

    fn heads(all: &[Brought]) -> Vec<u8> {
        all.iter().map(|bytes| bytes[0]).collect()
    }

    #[test]
    fn groups_differ_only_along_the_named_axes() {
        let team = team();
        let along = |names: &'static [&'static str]| {
            let names: Vec<AxisName> = names.iter().map(|&name| name.into()).collect();
            run(&team, move |position| Ok(heads(&exchange(&names, &None, &[position as u8])?.0)))
                .into_iter()
                .map(|result| result.expect("all meet"))
                .collect::<Vec<_>>()
        };
        assert_eq!(along(&["x"])[4], [1, 4]);
        let team = self::team();
        let names: Vec<AxisName> = vec!["y".into(), "x".into()];
        let all = run(&team, |position| Ok(heads(&exchange(&names, &None, &[position as u8])?.0)));
        assert_eq!(*all[0].as_ref().expect("all meet"), [0, 3, 1, 4, 2, 5]);
    }

    #[test]
    fn an_error_of_one_device_ends_all() {
        let names: Vec<AxisName> = vec!["x".into(), "y".into()];
        let all = run(&team(), |position| match position {
            2 => Err(Error::value_error("two is wrong")),
            _ => Ok(heads(&exchange(&names, &None, &[0])?.0)),
        });
        assert!(all.iter().all(|result| result.as_ref().is_err_and(|error| error.message() == "two is wrong")));
    }

    #[test]
    fn a_device_that_does_not_come_is_named() {
        let names: Vec<AxisName> = vec!["x".into(), "y".into()];
        let all = run(
            &team(),
            |position| if position == 5 { Ok(vec![]) } else { Ok(heads(&exchange(&names, &None, &[0])?.0)) },
        );
        let error = all[0].as_ref().expect_err("one is missing");
        assert!(error.message().contains("device 5 did not reach"), "{error:?}");
    }

    #[test]
    fn a_name_outside_of_a_team_is_unbound() {
        let error = coordinate(&"i".into()).expect_err("no team");
        assert_eq!((error.kind(), error.message()), (ErrorKind::Name, "unbound axis name: i"));
    }
}
