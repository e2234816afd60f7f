//! `jax.scipy.stats`: distributions, a module each, and functions of samples.

pub mod bernoulli;
pub mod beta;
pub mod betabinom;
pub mod binom;
pub mod cauchy;
pub mod chi2;
pub mod dirichlet;
pub mod expon;
pub mod gamma;
pub mod gennorm;
pub mod geom;
pub mod gumbel_l;
pub mod gumbel_r;
pub mod laplace;
pub mod logistic;
pub mod multinomial;
pub mod multivariate_normal;
pub mod nbinom;
pub mod norm;
pub mod pareto;
pub mod poisson;
pub mod samples;
pub mod t;
pub mod truncnorm;
pub mod uniform;
pub mod vonmises;
pub mod wrapcauchy;

pub use samples::*;
