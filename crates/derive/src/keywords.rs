//! `#[derive(Keywords)]`: a struct whose fields are parameters of a public function.
//!
//! A field has the name of its parameter, but for underscores at the end; `#[keyword(Reader)]` names how it is read.
//! The struct's `Default` says what a field is that a function has no parameter for.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, Result};

/// The implementation of `Group`.
pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(input, "Keywords is derived for structs"));
    };
    let Fields::Named(named) = &data.fields else {
        return Err(Error::new_spanned(input, "Keywords needs named fields"));
    };
    let ty = &input.ident;
    let (mut types, mut reads) = (vec![], vec![]);
    for (i, field) in named.named.iter().enumerate() {
        let (ident, of) = (field.ident.as_ref().expect("a named field"), &field.ty);
        let name = ident.to_string();
        let (name, reader) = (name.trim_start_matches("r#").trim_end_matches('_'), reader(field)?);
        types.push(quote!((#name, <d::#reader as d::Reader<#of>>::TYPE, <d::#reader as d::Reader<#of>>::OPTIONAL)));
        reads.push(quote! {
            if let Some(at) = at[#i] {
                group.#ident = d::read::<d::#reader, #of>(args, at, parameters[at].default)?;
            }
        });
    }
    Ok(quote! {
        const _: () = {
            use crate::declare as d;
            impl d::Group for #ty {
                const FIELDS: &'static [d::Field] = &[#(#types),*];
                fn read(
                    args: &mut dyn d::Arguments,
                    parameters: &[d::Parameter],
                    at: &[Option<usize>],
                ) -> ::pullback_base::Result<Self> {
                    let mut group = <#ty as Default>::default();
                    #(#reads)*
                    Ok(group)
                }
            }
        };
    })
}

fn reader(field: &Field) -> Result<Ident> {
    match field.attrs.iter().find(|attribute| attribute.path().is_ident("keyword")) {
        Some(attribute) => attribute.parse_args(),
        None => Ok(format_ident!("Own")),
    }
}
