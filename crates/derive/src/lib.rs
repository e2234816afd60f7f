//! The macros: of primitive parameters, of declarations of public functions ([`public`], [`keywords`]), and of trees of
//! the Rust front ([`tree`]).
//!
//! `#[derive(Params)]` on a struct with named fields implements `pullback_ir::ParamSet`: each field is converted to and
//! from a `ParamValue` by its `ParamField`. A field name that is not a Rust identifier is given by `#[param(name = "…")]`,
//! one that stays out of JAX's printed form by `#[param(hidden)]`. It does nothing else.
#![forbid(unsafe_code)]

mod keywords;
mod public;
mod signature;
mod tree;

use proc_macro::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Fields, LitStr, parse_macro_input};

/// Implements `pullback_ir::ParamSet`.
#[proc_macro_derive(Params, attributes(param))]
pub fn params(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Implements `pullback::Tree`: every field is a tree, but for those marked `#[tree(fixed)]`, which belong to the structure,
/// and `#[tree(skip)]`, which are copied.
#[proc_macro_derive(Tree, attributes(tree))]
pub fn tree(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    tree::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Declares a public function of `pullback-lib`: see its module `declare`.
#[proc_macro_attribute]
pub fn public(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let public = parse_macro_input!(attribute as public::Public);
    let function = parse_macro_input!(item as syn::ItemFn);
    public::expand(&public, &function).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Implements `Group` of `pullback-lib` for a struct of keywords: see its module `declare`.
#[proc_macro_derive(Keywords, attributes(keyword))]
pub fn keywords(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    keywords::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

struct Field {
    ident: syn::Ident,
    name: String,
    hidden: bool,
}

fn expand(input: &DeriveInput) -> syn::Result<proc_macro2::TokenStream> {
    let fields = fields_of(input)?;
    let ty = &input.ident;
    let idents: Vec<_> = fields.iter().map(|field| &field.ident).collect();
    let names: Vec<_> = fields.iter().map(|field| &field.name).collect();
    let hidden: Vec<_> = fields.iter().filter(|field| field.hidden).map(|field| &field.name).collect();
    Ok(quote! {
        impl ::pullback_ir::ParamSet for #ty {
            const HIDDEN: &'static [&'static str] = &[#(#hidden),*];
            fn fields(&self) -> ::pullback_ir::ParamFields {
                vec![#((#names, ::pullback_ir::ParamField::to_value(&self.#idents))),*]
            }
            fn from_fields(fields: &[(String, ::pullback_ir::ParamValue)]) -> ::pullback_base::Result<Self> {
                Ok(#ty { #(#idents: ::pullback_ir::read_field(fields, #names)?),* })
            }
        }
    })
}

fn fields_of(input: &DeriveInput) -> syn::Result<Vec<Field>> {
    let Data::Struct(data) = &input.data else {
        return Err(syn::Error::new_spanned(input, "Params is derived for structs"));
    };
    let Fields::Named(named) = &data.fields else {
        return Err(syn::Error::new_spanned(input, "Params needs named fields"));
    };
    named.named.iter().map(field_of).collect()
}

fn field_of(field: &syn::Field) -> syn::Result<Field> {
    let ident = field.ident.clone().expect("a named field");
    let mut result = Field { name: ident.to_string(), ident, hidden: false };
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("param")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("hidden") {
                result.hidden = true;
            } else {
                result.name = meta.value()?.parse::<LitStr>()?.value();
            }
            Ok(())
        })?;
    }
    Ok(result)
}
