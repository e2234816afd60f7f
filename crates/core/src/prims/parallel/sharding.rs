//! Params that say where values lie: meshes, specs, and shardings. They print as the front end shows them.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use pullback_base::array::place::{Layout, Mesh, Spec};
use pullback_ir::{AxisName, Opaque, ParamField, ParamValue};

fn opaque<T: Clone + Send + Sync + 'static>(text: &str, value: &T) -> ParamValue {
    ParamValue::Opaque(Opaque { text: text.into(), value: Arc::new(value.clone()) })
}

fn inside<T: Clone + Send + Sync + 'static>(value: &ParamValue) -> Option<T> {
    match value {
        ParamValue::Opaque(opaque) => opaque.value.downcast_ref::<T>().cloned(),
        _ => None,
    }
}

macro_rules! opaque_field {
    ($($ty:ident: $value:ident => $text:expr;)*) => {$(
        impl ParamField for $ty {
            fn to_value(&self) -> ParamValue {
                let $value = self;
                opaque($text, self)
            }
            fn from_value(value: &ParamValue) -> Option<Self> {
                inside(value)
            }
        }
        impl fmt::Debug for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $value = self;
                f.write_str($text)
            }
        }
    )*};
}
opaque_field! {
    MeshParam: mesh => &mesh.0.text;
    SpecParam: spec => &spec.text;
    ShardingParam: sharding => &sharding.text;
    NameSet: set => &set.text();
}

/// A mesh of devices.
#[derive(Clone)]
pub struct MeshParam(pub Arc<Mesh>);

impl PartialEq for MeshParam {
    fn eq(&self, other: &MeshParam) -> bool {
        self.0.is_like(&other.0)
    }
}

impl Eq for MeshParam {}

impl Hash for MeshParam {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.0.axes, &self.0.devices).hash(state);
    }
}

/// How a value is split over a mesh.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SpecParam {
    /// For each axis the mesh axes that split it.
    pub entries: Spec,
    /// How it prints.
    pub text: Arc<str>,
}

impl SpecParam {
    /// A spec with the text that it has in the reference.
    pub fn new(entries: Spec) -> SpecParam {
        let quoted = |name: &AxisName| format!("'{name}'");
        let entry = |names: &Vec<AxisName>| match &names[..] {
            [] => "None".to_string(),
            [name] => quoted(name),
            names => format!("({})", names.iter().map(quoted).collect::<Vec<_>>().join(", ")),
        };
        let parts: Vec<String> = entries.iter().map(entry).collect();
        let comma = if parts.len() == 1 { "," } else { "" };
        let text = format!("P({}{comma})", parts.join(", ")).into();
        SpecParam { entries, text }
    }

    /// With a whole axis in front.
    #[must_use]
    pub fn behind_axis(&self, names: Vec<AxisName>) -> SpecParam {
        SpecParam::new(std::iter::once(names).chain(self.entries.iter().cloned()).collect())
    }
}

/// A place that a program asks for.
#[derive(Clone)]
pub struct ShardingParam {
    /// Which devices hold which parts.
    pub layout: Layout,
    /// How it prints.
    pub text: Arc<str>,
}

impl ShardingParam {
    /// The spec, if a mesh splits the value.
    pub fn layout_spec(&self) -> Spec {
        match &self.layout {
            Layout::Device(_) => vec![],
            Layout::Split(_, spec) => spec.clone(),
        }
    }
}

impl PartialEq for ShardingParam {
    fn eq(&self, other: &ShardingParam) -> bool {
        self.layout == other.layout
    }
}

impl Eq for ShardingParam {}

impl Hash for ShardingParam {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.layout.devices().hash(state);
    }
}

/// A set of names of axes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct NameSet(pub Vec<AxisName>);

impl NameSet {
    fn text(&self) -> String {
        let names: Vec<String> = self.0.iter().map(|name| format!("'{name}'")).collect();
        format!("frozenset({{{}}})", names.join(", "))
    }
}
