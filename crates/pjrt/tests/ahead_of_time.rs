//! Compiling for machines that are described and not there: an H200 by NVIDIA's plugin, a TPU by libtpu.
//!
//! `PULLBACK_TEST_CUDA_PLUGIN` and `PULLBACK_TEST_TPU_PLUGIN` name the libraries; without them a test says so and passes
//! nothing. `make test-aot` finds them.

use std::path::Path;

use pullback_pjrt::{CompileOptions, Plugin, Setting, Topology};

const PROGRAM: &str = "module @m { func.func public @main(%x: tensor<64x64xbf16>, %y: tensor<64xf32>) -> tensor<64x64xf32> {
    %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xf32>
    %1 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>
    %2 = stablehlo.add %0, %1 : tensor<64x64xf32>
    %3 = stablehlo.maximum %2, %0 : tensor<64x64xf32>
    return %3 : tensor<64x64xf32> } }";

fn plugin(variable: &str) -> Option<Plugin> {
    let Some(path) = std::env::var_os(variable) else {
        eprintln!("skipped: {variable} names no plugin");
        return None;
    };
    Some(Plugin::load(Path::new(&path)).expect("a plugin"))
}

fn compiles_for(topology: &Topology, n: usize) {
    assert_eq!(topology.device_kinds().expect("kinds").len(), n);
    let compiled = topology.compile(PROGRAM, &CompileOptions { devices: vec![0], ..CompileOptions::default() });
    let bytes = compiled.expect("compiles").serialize().expect("bytes");
    assert!(bytes.len() > 1000, "{} bytes are no program", bytes.len());
    let error = topology.compile("module { what }", &CompileOptions::default()).err().expect("it is no program");
    assert!(error.message().contains("what"), "{}", error.message());
}

#[test]
fn an_h200_that_is_not_there() {
    let Some(plugin) = plugin("PULLBACK_TEST_CUDA_PLUGIN") else { return };
    let config = include_str!("h200.txtpb").to_string();
    let options = [("target_config".into(), Setting::Text(config)), ("topology".into(), Setting::Text("1x1x8".into()))];
    compiles_for(&Topology::create(&plugin, "", &options).expect("a topology"), 8);
}

#[test]
fn a_tpu_that_is_not_there() {
    let Some(plugin) = plugin("PULLBACK_TEST_TPU_PLUGIN") else { return };
    compiles_for(&Topology::create(&plugin, "v5e:2x4", &[]).expect("a topology"), 8);
}
