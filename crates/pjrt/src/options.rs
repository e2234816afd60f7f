//! Options: named values of clients and descriptions, and the message that says how to compile.

use std::ptr::null;

use crate::abi::{NamedValue, value};

/// The value of an option or of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// Text.
    Text(String),
    /// A number.
    Int(i64),
    /// Numbers.
    Ints(Vec<i64>),
    /// A fraction.
    Float(f32),
    /// A truth.
    Bool(bool),
}

/// Options in the plugin's form; they borrow from the settings.
pub(crate) fn named(settings: &[(String, Setting)]) -> Vec<NamedValue> {
    let one = |(name, setting): &(String, Setting)| {
        let (kind, value, value_size) = match setting {
            Setting::Text(text) => (value::TEXT, text.as_ptr() as u64, text.len()),
            Setting::Int(number) => (value::INT, *number as u64, 1),
            Setting::Ints(numbers) => (value::INTS, numbers.as_ptr() as u64, numbers.len()),
            Setting::Float(number) => (value::FLOAT, u64::from(number.to_bits()), 1),
            Setting::Bool(truth) => (value::BOOL, u64::from(*truth), 1),
        };
        NamedValue {
            struct_size: size_of::<NamedValue>(),
            extensions: null(),
            name: name.as_ptr().cast(),
            name_size: name.len(),
            kind,
            value,
            value_size,
        }
    };
    settings.iter().map(one).collect()
}

/// How to compile: for which devices, split how, with which flags of the compiler.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompileOptions {
    /// The devices by their numbers in the plugin, one for each part of the program.
    pub devices: Vec<i64>,
    /// Whether the text says how arrays are split over the devices.
    pub is_divided: bool,
    /// Flags of the compiler by name, without dashes.
    pub overrides: Vec<(String, Setting)>,
}

impl CompileOptions {
    /// The message in the wire format of protocol buffers (`CompileOptionsProto`).
    pub fn encode(&self) -> Vec<u8> {
        let n = self.devices.len().max(1) as u64;
        let mut assignment = vec![];
        number(&mut assignment, 1, 1);
        number(&mut assignment, 2, n);
        for &device in &self.devices {
            let mut ids = vec![];
            varint(&mut ids, device as u64);
            let mut computation = vec![];
            bytes(&mut computation, 1, &ids);
            bytes(&mut assignment, 3, &computation);
        }
        let mut build = vec![];
        // No single device: those of the assignment.
        number(&mut build, 1, -1i64 as u64);
        number(&mut build, 4, 1);
        number(&mut build, 5, n);
        if self.is_divided {
            number(&mut build, 6, 1);
        }
        if !self.devices.is_empty() {
            bytes(&mut build, 9, &assignment);
        }
        if self.is_divided {
            number(&mut build, 19, 1);
        }
        let mut message = vec![];
        bytes(&mut message, 3, &build);
        for (name, setting) in &self.overrides {
            let mut option = vec![];
            match setting {
                Setting::Text(text) => bytes(&mut option, 1, text.as_bytes()),
                Setting::Bool(truth) => number(&mut option, 2, u64::from(*truth)),
                Setting::Int(int) => number(&mut option, 3, *int as u64),
                Setting::Float(float) => {
                    varint(&mut option, 4 << 3 | 1);
                    option.extend(f64::from(*float).to_le_bytes());
                }
                Setting::Ints(_) => continue,
            }
            let mut entry = vec![];
            bytes(&mut entry, 1, name.as_bytes());
            bytes(&mut entry, 2, &option);
            bytes(&mut message, 7, &entry);
        }
        message
    }
}

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn number(out: &mut Vec<u8>, field: u64, number: u64) {
    varint(out, field << 3);
    varint(out, number);
}

fn bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_device_is_one_partition() {
        let options = CompileOptions { devices: vec![3], ..CompileOptions::default() };
        let build =
            [8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 32, 1, 40, 1, 74, 9, 8, 1, 16, 1, 26, 3, 10, 1, 3];
        assert_eq!(options.encode(), [&[26, build.len() as u8][..], &build].concat());
    }

    #[test]
    fn flags_are_a_map() {
        let overrides = vec![("a".into(), Setting::Bool(true))];
        let message = CompileOptions { overrides, ..CompileOptions::default() }.encode();
        assert_eq!(message[message.len() - 9..], [58, 7, 10, 1, b'a', 18, 2, 16, 1]);
    }
}
