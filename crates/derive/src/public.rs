//! `#[public("numpy.sum(a, axis=None)")]`: the declaration of a public function beside the function.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, Error, Expr, FnArg, GenericArgument, ItemFn, Lit, LitStr, Meta, Pat, PathArguments, Result, ReturnType,
    Token, Type,
};

use crate::signature::{Constant, Kind, Parameter, Signature};

/// The text of the attribute, and other names of the function.
pub(crate) struct Public {
    signature: LitStr,
    aliases: Vec<LitStr>,
}

impl Parse for Public {
    fn parse(input: ParseStream<'_>) -> Result<Public> {
        let signature = input.parse()?;
        let mut aliases = vec![];
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            aliases.push(input.parse()?);
        }
        Ok(Public { signature, aliases })
    }
}

/// The function, and its declaration.
pub(crate) fn expand(public: &Public, function: &ItemFn) -> Result<TokenStream> {
    let signature =
        Signature::parse(&public.signature.value()).map_err(|text| Error::new(public.signature.span(), text))?;
    let (name, alias_names) = (&signature.name, public.aliases.iter());
    let declared = format_ident!("declared_{}", function.sig.ident);
    let operands = operands(function, &signature)?;
    let parameters = signature.parameters.iter().map(|one| parameter(one, &operands));
    let names: Vec<&str> = signature.parameters.iter().map(|one| one.name.as_str()).collect();
    let reads = operands.iter().map(|operand| operand.read(&signature));
    let drops = signature.parameters.iter().enumerate().filter(|(_, one)| is_dropped(one, &operands));
    let drops = drops.map(|(at, one)| {
        let (reader, default) = (reader(one), constant(one.default.as_ref()));
        quote!(d::read::<#reader, ()>(args, #at, #default)?;)
    });
    let (ident, text, doc) = (&function.sig.ident, &signature.text, documentation(&function.attrs));
    let hidden = format!("The declaration of `{ident}`.");
    let passed = operands.iter().map(Operand::passed);
    let (result, value) = result(&function.sig.output, &quote!(#ident(#(#passed),*)));
    Ok(quote! {
        #function

        #[doc = #hidden]
        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        pub static #declared: crate::declare::Declaration = {
            use crate::declare as d;
            #[allow(dead_code)]
            const NAMES: &[&str] = &[#(#names),*];
            static PARAMETERS: &[d::Parameter] = &[#(#parameters),*];
            fn call(args: &mut dyn d::Arguments) -> ::pullback_base::Result<d::Returned> {
                #(#reads)*
                #(#drops)*
                Ok(<#result as d::Return>::returned(#value))
            }
            d::Declaration {
                names: &[#name, #(#alias_names),*],
                path: concat!(module_path!(), "::", stringify!(#declared)),
                signature: #text,
                parameters: PARAMETERS,
                doc: #doc,
                result: <#result as d::Return>::TYPE,
                call,
            }
        };
    })
}

/// A parameter of the Rust function: one of the signature, or a group.
struct Operand {
    ident: syn::Ident,
    /// The type that is read, and how it is passed on.
    owned: Type,
    passing: Passing,
    /// Its position in the signature; none for a group.
    at: Option<usize>,
}

#[derive(Clone, Copy)]
enum Passing {
    Value,
    Reference,
    /// `Option<&T>` of an `Option<T>`.
    AsRef,
    /// `Option<&[T]>` of an `Option<Vec<T>>`.
    AsDeref,
}

fn operands(function: &ItemFn, signature: &Signature) -> Result<Vec<Operand>> {
    let operand = |input: &FnArg| {
        let FnArg::Typed(typed) = input else {
            return Err(Error::new_spanned(input, "a public function has no self"));
        };
        let Pat::Ident(pattern) = &*typed.pat else {
            return Err(Error::new_spanned(&typed.pat, "a parameter of a public function is a name"));
        };
        let name = pattern.ident.to_string();
        let name = name.trim_start_matches("r#").trim_matches('_');
        let at = signature.parameters.iter().position(|parameter| parameter.name.trim_matches('_') == name);
        let (owned, passing) = owned(&typed.ty);
        Ok(Operand { ident: pattern.ident.clone(), owned, passing, at })
    };
    function.sig.inputs.iter().map(operand).collect()
}

/// The type that owns what a reference shows.
fn owned(ty: &Type) -> (Type, Passing) {
    match ty {
        Type::Reference(reference) => (owner(&reference.elem), Passing::Reference),
        _ => match inside_option(ty) {
            Some(Type::Reference(reference)) => {
                let owner = owner(&reference.elem);
                let is_view = matches!(&*reference.elem, Type::Slice(_)) || is_str(&reference.elem);
                let passing = if is_view { Passing::AsDeref } else { Passing::AsRef };
                (syn::parse_quote!(Option<#owner>), passing)
            }
            _ => (ty.clone(), Passing::Value),
        },
    }
}

fn is_str(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("str"))
}

fn owner(shown: &Type) -> Type {
    match shown {
        Type::Slice(slice) => {
            let elem = &slice.elem;
            syn::parse_quote!(Vec<#elem>)
        }
        other if is_str(other) => syn::parse_quote!(String),
        other => other.clone(),
    }
}

fn inside_option(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|segment| segment.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) => Some(inner),
        _ => None,
    }
}

impl Operand {
    /// The statement that reads it.
    fn read(&self, signature: &Signature) -> TokenStream {
        let (ident, owned) = (&self.ident, &self.owned);
        let Some(at) = self.at else {
            return quote! {
                let #ident: #owned = {
                    const AT: [Option<usize>; <#owned as d::Group>::FIELDS.len()] =
                        d::positions(<#owned as d::Group>::FIELDS, NAMES);
                    <#owned as d::Group>::read(args, PARAMETERS, &AT)?
                };
            };
        };
        let parameter = &signature.parameters[at];
        let (reader, default) = (reader(parameter), constant(parameter.default.as_ref()));
        quote!(let #ident: #owned = d::read::<#reader, #owned>(args, #at, #default)?;)
    }

    fn passed(&self) -> TokenStream {
        let ident = &self.ident;
        match self.passing {
            Passing::Value => quote!(#ident),
            Passing::Reference => quote!(&#ident),
            Passing::AsRef => quote!(#ident.as_ref()),
            Passing::AsDeref => quote!(#ident.as_deref()),
        }
    }
}

fn reader(parameter: &Parameter) -> TokenStream {
    match (&parameter.reader, parameter.kind) {
        (Some(reader), _) => {
            let reader = format_ident!("{reader}");
            quote!(d::#reader)
        }
        (None, Kind::Rest) => quote!(d::Rest),
        (None, _) => quote!(d::Own),
    }
}

/// Whether a parameter is read and goes no further: its reader says all, and the function knows nothing of it.
fn is_dropped(parameter: &Parameter, operands: &[Operand]) -> bool {
    parameter.reader.is_some() && own(parameter, operands).is_none()
}

/// The parameter of the Rust function that bears the name.
fn own<'a>(parameter: &Parameter, operands: &'a [Operand]) -> Option<&'a Operand> {
    operands.iter().find(|operand| {
        let ident = operand.ident.to_string();
        operand.at.is_some() && ident.trim_start_matches("r#").trim_matches('_') == parameter.name.trim_matches('_')
    })
}

fn parameter(parameter: &Parameter, operands: &[Operand]) -> TokenStream {
    let name = &parameter.name;
    let kind = format_ident!("{}", format!("{:?}", parameter.kind));
    let default = constant(parameter.default.as_ref());
    let groups = operands.iter().filter(|operand| operand.at.is_none()).map(|operand| &operand.owned);
    let takes = match own(parameter, operands) {
        None if is_dropped(parameter, operands) => {
            let reader = reader(parameter);
            quote!(<#reader as d::Reader<()>>::TYPE)
        }
        Some(operand) => {
            let (reader, owned) = (reader(parameter), &operand.owned);
            quote!(<#reader as d::Reader<#owned>>::TYPE)
        }
        None if parameter.kind == Kind::Keywords || parameter.kind == Kind::Rest => {
            quote!(d::Type { python: "Any", rust: "" })
        }
        None => {
            let mut groups = groups;
            match groups.next() {
                Some(group) => quote!(d::type_of(<#group as d::Group>::FIELDS, #name)),
                None => {
                    let text = format!("the function has no parameter `{name}`");
                    return quote!(compile_error!(#text));
                }
            }
        }
    };
    quote!(d::Parameter { name: #name, kind: d::ParameterKind::#kind, default: #default, takes: #takes })
}

fn constant(default: Option<&Constant>) -> TokenStream {
    match default {
        None => quote!(None),
        Some(Constant::None) => quote!(Some(d::Constant::None)),
        Some(Constant::Bool(truth)) => quote!(Some(d::Constant::Bool(#truth))),
        Some(Constant::Int(number)) => quote!(Some(d::Constant::Int(#number))),
        Some(Constant::Float(number)) => quote!(Some(d::Constant::Float(#number))),
        Some(Constant::Text(text)) => quote!(Some(d::Constant::Text(#text))),
        Some(Constant::Empty) => quote!(Some(d::Constant::Empty)),
    }
}

/// The type of the result, and the expression that calls the function.
fn result(output: &ReturnType, call: &TokenStream) -> (TokenStream, TokenStream) {
    let ReturnType::Type(_, ty) = output else { return (quote!(()), call.clone()) };
    if let Type::Path(path) = &**ty
        && let Some(last) = path.path.segments.last().filter(|segment| segment.ident == "Result")
        && let PathArguments::AngleBracketed(arguments) = &last.arguments
        && let Some(GenericArgument::Type(inner)) = arguments.args.first()
    {
        return (quote!(#inner), quote!(#call?));
    }
    (quote!(#ty), call.clone())
}

/// The comment above the function, without the blank at the start of its lines.
fn documentation(attributes: &[Attribute]) -> String {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    let stripped: Vec<&str> = lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    stripped.join("\n")
}
