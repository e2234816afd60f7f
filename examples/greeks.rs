//! The price of a European call after Black and Scholes, and its Greeks: derivatives of the price, by `grad`, for many options
//! at once by `vmap`. They are compared with the closed forms.
//!
//! `cargo run --release --example greeks`
#![allow(clippy::print_stdout, reason = "an example prints")]

use pullback::prelude::*;
use pullback::scipy;

/// What an option's price depends on: the price of the share, the volatility and the time to maturity.
#[derive(Tree)]
struct Market {
    spot: Array,
    volatility: Array,
    time: Array,
}

const STRIKE: f64 = 100.0;
const RATE: f64 = 0.03;

fn cdf(x: &Array) -> Array {
    scipy::stats::norm::cdf(x)
}

fn d1(market: &Market) -> Array {
    let drift = (RATE + market.volatility.square() * 0.5) * &market.time;
    ((&market.spot / STRIKE).log() + drift) / (&market.volatility * market.time.sqrt())
}

/// The price of one call.
fn price(market: &Market) -> Array {
    let d1 = d1(market);
    let d2 = &d1 - &market.volatility * market.time.sqrt();
    &market.spot * cdf(&d1) - STRIKE * (-RATE * &market.time).exp() * cdf(&d2)
}

/// Delta, vega and theta: the slopes of the price.
fn greeks(market: &Market) -> Result<Market> {
    grad(price)(market)
}

/// Gamma: the slope of delta.
fn gamma(market: &Market) -> Result<Array> {
    let delta = |market: &Market| greeks(market).map(|slopes| slopes.spot);
    grad(delta)(market).map(|slopes| slopes.spot)
}

fn density(x: &Array) -> Array {
    (x.square() * -0.5).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// The greatest difference of two arrays, relative to the greatest element.
fn difference(got: &Array, want: &Array) -> Result<f32> {
    ((got - want).abs().max() / want.abs().max()).item()
}

fn main() -> Result<()> {
    const N: usize = 1000;
    let [a, b, c] = Key::seed(0).split_n();
    let markets = Market {
        spot: a.uniform(&[N], 60.0, 140.0),
        volatility: b.uniform(&[N], 0.1, 0.5),
        time: c.uniform(&[N], 0.2, 2.0),
    };
    let all = jit(vmap(|market: &Market| Ok((price(market), greeks(market)?, gamma(market)?))));
    let (prices, slopes, gammas) = all(&markets)?;

    let Market { spot, volatility, time } = &markets;
    let d1 = d1(&markets);
    let delta = difference(&slopes.spot, &cdf(&d1))?;
    let vega = difference(&slopes.volatility, &(spot * density(&d1) * time.sqrt()))?;
    let gamma = difference(&gammas, &(density(&d1) / (spot * volatility * time.sqrt())))?;
    println!("{N} calls, of which the first costs {:.3}", prices[0].item::<f32>()?);
    println!("differences from the closed forms: delta {delta:.1e}, vega {vega:.1e}, gamma {gamma:.1e}");
    for (name, difference) in [("delta", delta), ("vega", vega), ("gamma", gamma)] {
        if difference > 1e-4 {
            return Err(Error::runtime(format!("{name} is off by {difference}")));
        }
    }
    Ok(())
}

#[test]
fn it_runs() -> Result<()> {
    main()
}
