//! Rules of Gauss for integrals: nodes and weights.

/// The nodes of a rule, in ascending order, with their weights.
pub(crate) struct Quadrature;

type Rule = std::vec::IntoIter<(f64, f64)>;

impl Quadrature {
    /// Integrals from 0 to 1.
    pub(crate) fn legendre(order: usize) -> Rule {
        let beside = |k: f64| k / (4.0 * k * k - 1.0).sqrt();
        let rule = golub_welsch(vec![0.0; order], (1..order).map(|k| beside(k as f64)).collect());
        rule.into_iter().map(|(node, weight)| (0.5 + 0.5 * node, weight)).collect::<Vec<_>>().into_iter()
    }

    /// Integrals from 0 on with the weight `exp(-x)`.
    pub(crate) fn laguerre(order: usize) -> Rule {
        let diagonal = (0..order).map(|k| (2 * k + 1) as f64).collect();
        golub_welsch(diagonal, (1..order).map(|k| k as f64).collect()).into_iter()
    }

    /// Integrals over all numbers with the weight `exp(-x²)`, which has the integral √π.
    pub(crate) fn hermite(order: usize) -> Rule {
        let beside = (1..order).map(|k| (k as f64 / 2.0).sqrt()).collect();
        let rule = golub_welsch(vec![0.0; order], beside);
        let all = std::f64::consts::PI.sqrt();
        rule.into_iter().map(|(node, weight)| (node, all * weight)).collect::<Vec<_>>().into_iter()
    }
}

/// The eigenvalues of a symmetric tridiagonal matrix, and the squares of the first elements of the eigenvectors, which are
/// the weights as parts of the whole: G. Golub and J. Welsch, "Calculation of Gauss quadrature rules", 1969. By implicit QL
/// steps.
fn golub_welsch(mut d: Vec<f64>, beside: Vec<f64>) -> Vec<(f64, f64)> {
    let n = d.len();
    let mut e = beside;
    e.push(0.0);
    let mut first = vec![0.0; n];
    first[0] = 1.0;
    for l in 0..n {
        while let Some(m) = coupled(&d, &e, l) {
            ql_step(&mut d, &mut e, &mut first, l, m);
        }
    }
    let mut rule: Vec<(f64, f64)> = d.into_iter().zip(first).map(|(node, first)| (node, first * first)).collect();
    rule.sort_by(|x, y| x.0.total_cmp(&y.0));
    rule
}

/// The end of the block that starts at `l`, unless it is one number.
fn coupled(d: &[f64], e: &[f64], l: usize) -> Option<usize> {
    let is_split = |m: usize| e[m].abs() <= f64::EPSILON * (d[m].abs() + d[m + 1].abs());
    let m = (l..d.len() - 1).find(|&m| is_split(m)).unwrap_or(d.len() - 1);
    (m > l).then_some(m)
}

fn ql_step(d: &mut [f64], e: &mut [f64], first: &mut [f64], l: usize, m: usize) {
    let slope = (d[l + 1] - d[l]) / (2.0 * e[l]);
    let mut g = d[m] - d[l] + e[l] / (slope + slope.hypot(1.0).copysign(slope));
    let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
    for i in (l..m).rev() {
        let (f, b) = (s * e[i], c * e[i]);
        let r = f.hypot(g);
        e[i + 1] = r;
        if r == 0.0 {
            d[i + 1] -= p;
            e[m] = 0.0;
            return;
        }
        (s, c) = (f / r, g / r);
        g = d[i + 1] - p;
        let r = (d[i] - g) * s + 2.0 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        (first[i + 1], first[i]) = (s * first[i] + c * first[i + 1], c * first[i] - s * first[i + 1]);
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0.0;
}

#[cfg(test)]
mod tests {
    use super::Quadrature;

    fn integral(rule: super::Rule, f: impl Fn(f64) -> f64) -> f64 {
        rule.map(|(node, weight)| weight * f(node)).sum()
    }

    #[test]
    fn rules_are_exact_for_polynomials() {
        let close = |x: f64, y: f64| assert!((x / y - 1.0).abs() < 1e-13, "{x} is not {y}");
        for order in [12, 24] {
            close(integral(Quadrature::legendre(order), |x| x.powi(7)), 1.0 / 8.0);
        }
        close(integral(Quadrature::laguerre(96), |x| x.powi(5)), 120.0);
        close(integral(Quadrature::hermite(128), |x| x.powi(4)), 0.75 * std::f64::consts::PI.sqrt());
    }
}
