//! Rules of a front end as params: shared, printed by name, compared by identity.

macro_rules! shared_rule {
    ($name:ident $trait:path, $text:expr, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone)]
        pub struct $name(pub std::sync::Arc<dyn $trait>);

        impl PartialEq for $name {
            fn eq(&self, other: &$name) -> bool {
                std::sync::Arc::ptr_eq(&self.0, &other.0)
            }
        }

        impl Eq for $name {}

        impl std::hash::Hash for $name {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                std::hash::Hash::hash(&std::sync::Arc::as_ptr(&self.0).cast::<()>(), state);
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&$text(&*self.0))
            }
        }

        impl pullback_ir::ParamField for $name {
            fn to_value(&self) -> pullback_ir::ParamValue {
                pullback_ir::ParamValue::Opaque(pullback_ir::Opaque {
                    text: $text(&*self.0).into(),
                    value: std::sync::Arc::new(self.clone()),
                })
            }
            fn from_value(value: &pullback_ir::ParamValue) -> Option<Self> {
                match value {
                    pullback_ir::ParamValue::Opaque(opaque) => opaque.value.downcast_ref::<$name>().cloned(),
                    _ => None,
                }
            }
        }
    };
}

pub(super) use shared_rule;
