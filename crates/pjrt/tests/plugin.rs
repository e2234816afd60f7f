//! The binding on a real plugin: the one named by `PULLBACK_TEST_PLUGIN`, else the wheel's in the virtual environment
//! beside the crates. Without one every test says so and passes nothing.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use pullback_base::array::Buffer;
use pullback_base::{DType, ErrorKind};
use pullback_pjrt::{Client, CompileOptions, DeviceBuffer, ElementType, Plugin, Setting};

fn find_plugin() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("PULLBACK_TEST_PLUGIN") {
        return Some(path.into());
    }
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/lib");
    let found = std::fs::read_dir(lib).ok()?.filter_map(Result::ok);
    let file = "site-packages/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so";
    found.map(|python| python.path().join(file)).find(|path| path.is_file())
}

/// The client of eight devices, shared by all tests: a plugin has one.
fn client() -> Option<&'static Client> {
    static CLIENT: OnceLock<Option<Client>> = OnceLock::new();
    let make = || {
        let Some(path) = find_plugin() else {
            eprintln!("skipped: no plugin; install lammps-jax-pjrt-cpu or set PULLBACK_TEST_PLUGIN");
            return None;
        };
        let plugin = Plugin::load(&path).expect("a plugin");
        Some(Client::create(&plugin, &[("cpu_device_count".into(), Setting::Int(8))], None).expect("a client"))
    };
    CLIENT.get_or_init(make).as_ref()
}

fn memory_of(bytes: &[u8]) -> Buffer {
    let mut memory = Buffer::allocate(bytes.len()).expect("memory");
    memory.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
    memory.freeze()
}

fn put(client: &Client, device: usize, values: &[f32]) -> DeviceBuffer {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let devices = client.devices().expect("devices");
    let kind = ElementType::of(DType::F32);
    DeviceBuffer::from_host(client, &devices[device], memory_of(&bytes), kind, &[values.len() as i64])
        .expect("a buffer")
}

fn read(buffer: &DeviceBuffer) -> Vec<f32> {
    let mut bytes = vec![0; buffer.host_bytes().expect("a size")];
    buffer.to_host(&mut bytes).expect("elements");
    bytes.chunks_exact(4).map(|x| f32::from_le_bytes(x.try_into().expect("four"))).collect()
}

const DOUBLE: &str = "module @m { func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = stablehlo.add %x, %x : tensor<4xf32>
    return %y : tensor<4xf32> } }";

const DOUBLE_IN_PLACE: &str = "module @m {
  func.func public @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
    %y = stablehlo.add %x, %x : tensor<4xf32>
    return %y : tensor<4xf32> } }";

fn on(device: i64) -> CompileOptions {
    CompileOptions { devices: vec![device], ..CompileOptions::default() }
}

#[test]
fn devices_say_what_they_are() {
    let Some(client) = client() else { return };
    let devices = client.devices().expect("devices");
    assert_eq!(client.platform().expect("a name"), "cpu");
    let ids: Vec<i32> = devices.iter().map(|device| device.id().expect("a number")).collect();
    assert_eq!(ids, (0..8).collect::<Vec<_>>());
    for device in devices {
        assert_eq!(device.kind().expect("a kind"), "cpu");
        assert_eq!(device.process_index().expect("a process"), 0);
        assert!(device.is_addressable().expect("known"));
        assert!(!device.names().expect("names").1.is_empty());
        device.attributes().expect("attributes");
        assert!(!device.memory_kinds().expect("kinds").is_empty());
    }
    assert!(client.plugin().version() >= (0, 81));
    assert!(client.plugin().extensions().contains(&5), "functions of the host can be called");
    assert!(
        client.plugin().attributes().expect("attributes").iter().any(|(name, _)| name == "stablehlo_current_version")
    );
}

#[test]
fn elements_go_and_come_back() {
    let Some(client) = client() else { return };
    let x = put(client, 3, &[1.0, -2.0, 3.5]);
    assert_eq!((x.shape().expect("a shape"), x.element_type().expect("a type")), (vec![3], ElementType(11)));
    assert_eq!(read(&x), [1.0, -2.0, 3.5]);
    let copy = x.copy_to(&client.devices().expect("devices")[5]).expect("a copy");
    x.delete();
    assert!(x.is_deleted() && !copy.is_deleted());
    let error = x.to_host(&mut [0; 12]).expect_err("it is gone");
    assert_eq!(error.kind(), ErrorKind::Runtime, "{}", error.message());
    assert_eq!(read(&copy), [1.0, -2.0, 3.5]);
}

#[test]
fn programs_run_where_they_were_compiled_for() {
    let Some(client) = client() else { return };
    for device in [0, 6] {
        let program = client.compile(DOUBLE, &on(device as i64)).expect("compiles");
        let x = put(client, device, &[1.0, 2.0, 3.0, 4.0]);
        let results = program.run(&[vec![&x]], &[]).expect("runs");
        assert_eq!(read(&results[0][0]), [2.0, 4.0, 6.0, 8.0]);
        assert_eq!(read(&x), [1.0, 2.0, 3.0, 4.0]);
    }
}

#[test]
fn donated_arguments_are_gone_unless_kept() {
    let Some(client) = client() else { return };
    let program = client.compile(DOUBLE_IN_PLACE, &on(0)).expect("compiles");
    let x = put(client, 0, &[1.0, 2.0, 3.0, 4.0]);
    let kept = program.run_to_end(&[vec![&x]], &[0]).expect("runs");
    assert!(!x.is_deleted());
    let results = program.run_to_end(&[vec![&x]], &[]).expect("runs");
    assert!(x.is_deleted());
    assert_eq!(read(&kept[0][0]), read(&results[0][0]));
    let error = program.run(&[vec![&x]], &[]).err().expect("it is gone");
    assert_eq!(error.kind(), ErrorKind::Runtime, "{}", error.message());
}

#[test]
fn executables_are_bytes_that_load_again() {
    let Some(client) = client() else { return };
    let program = client.compile(DOUBLE, &on(0)).expect("compiles");
    let bytes = program.serialize().expect("bytes");
    let again = client.load(&bytes, &on(0)).expect("loads");
    let x = put(client, 0, &[0.5, 0.0, -1.0, 4.0]);
    assert_eq!(read(&again.run(&[vec![&x]], &[]).expect("runs")[0][0]), [1.0, 0.0, -2.0, 8.0]);
    let error = client.load(&bytes[..bytes.len() / 2], &on(0)).err().expect("half of the bytes are no executable");
    assert!(!error.message().is_empty());
    // The plugin of the CPU makes no estimate, and says so.
    assert!(program.cost().map_or_else(|error| error.kind() == ErrorKind::NotImplemented, |cost| !cost.is_empty()));
    assert_eq!(program.memory().expect("bytes").arguments, 16);
    assert!(!program.optimized().expect("a program").0.is_empty());
}

#[test]
fn a_program_for_eight_devices_runs_on_eight() {
    let Some(client) = client() else { return };
    let text = "module @m attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
      sdy.mesh @mesh = <[\"x\"=8]>
      func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>})
          -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
        %z = stablehlo.constant dense<0.0> : tensor<f32>
        %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
        return %0 : tensor<f32> } }";
    let options = CompileOptions { devices: (0..8).collect(), is_divided: true, ..CompileOptions::default() };
    let program = client.compile(text, &options).expect("compiles");
    let parts: Vec<DeviceBuffer> = (0..8).map(|device| put(client, device, &[device as f32])).collect();
    let arguments: Vec<Vec<&DeviceBuffer>> = parts.iter().map(|part| vec![part]).collect();
    let results = program.run(&arguments, &[]).expect("runs");
    assert!(results.iter().all(|list| read(&list[0]) == [28.0]));
}

#[test]
fn errors_have_the_compilers_text() {
    let Some(client) = client() else { return };
    let error = client.compile("module { what }", &on(0)).err().expect("it is no program");
    assert!(error.message().contains("custom op 'what' is unknown"), "{}", error.message());
    let error = client.compile(DOUBLE, &on(99)).err().expect("there is no such device");
    assert!(!error.message().is_empty());
}

#[test]
fn what_is_no_plugin_is_an_error_that_names_the_file() {
    for (file, reason) in [("nowhere.so", "there is no such file"), ("Cargo.toml", "")] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let error = Plugin::load(&path).err().expect("it is no plugin");
        assert_eq!(error.kind(), ErrorKind::Runtime);
        assert!(error.message().contains(file) && error.message().contains(reason), "{}", error.message());
    }
}

#[test]
fn memory_that_is_read_in_place_is_not_written() {
    let Some(client) = client() else { return };
    let program = client.compile(DOUBLE_IN_PLACE, &on(0)).expect("compiles");
    let doubled = |x: &DeviceBuffer| program.run_to_end(&[vec![x]], &[]).expect("runs").remove(0).remove(0);
    let x = Arc::new(doubled(&put(client, 0, &[1.0, 2.0, 3.0, 4.0])));
    let view = x.host_view(16).expect("elements").expect("the memory is the host's");
    assert_eq!(view.as_ptr() as usize, x.address().expect("an address"));
    doubled(&x);
    x.delete();
    assert!(!x.is_deleted());
    drop(x);
    let values: Vec<f32> =
        view.bytes().chunks_exact(4).map(|x| f32::from_le_bytes(x.try_into().expect("four"))).collect();
    assert_eq!(values, [2.0, 4.0, 6.0, 8.0]);
}
