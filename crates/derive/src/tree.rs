//! `#[derive(Tree)]`: structs and enums whose fields are trees, fixed values or ignored.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Fields, parse_quote};

/// What a field is to the tree.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Tree,
    Fixed,
    Skip,
}

struct Member {
    /// Its name in a pattern.
    binding: syn::Ident,
    /// Its name or number in the type.
    member: syn::Member,
    role: Role,
}

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let ident = &input.ident;
    let mut generics = input.generics.clone();
    generics.type_params_mut().for_each(|param| param.bounds.push(parse_quote!(::pullback::Tree)));
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let variants = variants_of(input)?;
    let (mut leaves, mut with_leaves, mut structure, mut names) = (vec![], vec![], vec![], vec![]);
    for (number, (path, members)) in variants.iter().enumerate() {
        let pattern = pattern(path, members);
        let of = |role: Role| members.iter().filter(move |member| member.role == role).map(|member| &member.binding);
        let (trees, trees_again, fixed) = (of(Role::Tree), of(Role::Tree), of(Role::Fixed));
        leaves.push(quote!(#pattern => { #(::pullback::Tree::leaves(#trees, into);)* }));
        let made = members.iter().map(rebuilt);
        with_leaves.push(quote!(#pattern => #path { #(#made),* },));
        // One variant needs no number.
        let variant = (variants.len() > 1).then(|| quote!(into.number(#number);));
        structure.push(quote!(#pattern => {
            #variant
            #(into.fixed(#fixed);)*
            #(::pullback::Tree::structure(#trees_again, into);)*
        }));
        let named = members.iter().filter(|member| member.role == Role::Tree).map(named);
        names.push(quote!(#pattern => { #(#named)* }));
    }
    Ok(quote! {
        #[automatically_derived]
        #[allow(unused_variables)]
        impl #impl_generics ::pullback::Tree for #ident #type_generics #where_clause {
            fn leaves<'a>(&'a self, into: &mut ::std::vec::Vec<&'a ::pullback::Array>) {
                match self { #(#leaves)* }
            }
            fn with_leaves(&self, leaves: &mut dyn ::std::iter::Iterator<Item = ::pullback::Array>) -> Self {
                match self { #(#with_leaves)* }
            }
            fn structure(&self, into: &mut ::pullback::Structure) {
                match self { #(#structure)* }
            }
            fn names(&self, path: &str, into: &mut ::std::vec::Vec<::std::string::String>) {
                match self { #(#names)* }
            }
        }
    })
}

/// The paths of the variants with their fields; a struct has one.
fn variants_of(input: &DeriveInput) -> syn::Result<Vec<(TokenStream, Vec<Member>)>> {
    match &input.data {
        Data::Struct(data) => Ok(vec![(quote!(Self), members_of(&data.fields)?)]),
        Data::Enum(data) => {
            let variant = |variant: &syn::Variant| {
                let name = &variant.ident;
                Ok((quote!(Self::#name), members_of(&variant.fields)?))
            };
            data.variants.iter().map(variant).collect()
        }
        Data::Union(_) => {
            Err(syn::Error::new_spanned(input, "a union is no tree: it does not say which field it holds"))
        }
    }
}

fn members_of(fields: &Fields) -> syn::Result<Vec<Member>> {
    let member = |(number, field): (usize, &syn::Field)| {
        let member = field.ident.clone().map_or_else(|| syn::Member::from(number), syn::Member::from);
        Ok(Member { binding: format_ident!("field_{}", number), member, role: role_of(field)? })
    };
    fields.iter().enumerate().map(member).collect()
}

fn role_of(field: &syn::Field) -> syn::Result<Role> {
    let mut role = Role::Tree;
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("tree")) {
        attribute.parse_nested_meta(|meta| {
            role = match () {
                () if meta.path.is_ident("fixed") => Role::Fixed,
                () if meta.path.is_ident("skip") => Role::Skip,
                () => return Err(meta.error("a field is `#[tree(fixed)]` or `#[tree(skip)]`")),
            };
            Ok(())
        })?;
    }
    Ok(role)
}

fn pattern(path: &TokenStream, members: &[Member]) -> TokenStream {
    let fields = members.iter().map(|Member { binding, member, .. }| quote!(#member: #binding));
    quote!(#path { #(#fields),* })
}

fn rebuilt(field: &Member) -> TokenStream {
    let Member { binding, member, role } = field;
    match role {
        Role::Tree => quote!(#member: ::pullback::Tree::with_leaves(#binding, leaves)),
        Role::Fixed | Role::Skip => quote!(#member: ::std::clone::Clone::clone(#binding)),
    }
}

/// The names of the leaves of a field.
fn named(Member { binding, member, .. }: &Member) -> TokenStream {
    let name = match member {
        syn::Member::Named(name) => syn::ext::IdentExt::unraw(name).to_string(),
        syn::Member::Unnamed(index) => index.index.to_string(),
    };
    quote! {
        let below = if path.is_empty() { ::std::string::String::from(#name) } else { ::std::format!("{path}.{}", #name) };
        ::pullback::Tree::names(#binding, &below, into);
    }
}
