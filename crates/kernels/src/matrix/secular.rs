//! What merges two solved halves: an arrow of poles and weights, whose roots are the spectrum of the whole.
//!
//! Both the symmetric eigenproblem and singular values come to `1 + Σ w[j] / (p[j] - x) = 0`, where the poles are the
//! halves' eigenvalues, or the squares of their singular values. Close poles and small weights leave first (J. Cuppen 1981);
//! roots are kept as distances from the nearest pole, by rational interpolation (R. Li, "Solving secular equations stably and
//! efficiently", 1993); and the weights are then taken from the roots, so that vectors are orthogonal whatever the gaps
//! (M. Gu and S. Eisenstat 1994, 1995).

use super::field::{Dense, Field};

/// Steps for one root before it is taken as it is: the bracket is then narrower than rounding.
const MAX_STEPS: usize = 120;

/// A rotation of two basis vectors: `p` becomes `c p - s q`, `q` becomes `c q + s p`.
struct Turn {
    p: usize,
    q: usize,
    c: f64,
    s: f64,
}

/// What remains of an arrow after deflation.
pub(super) struct Deflated {
    /// Positions that the secular equation is about, by ascending pole.
    pub(super) kept: Vec<usize>,
    dropped: Vec<usize>,
    turns: Vec<Turn>,
}

/// Takes out positions whose weight is at most `least` and, by rotations, those whose poles are closer than `tolerance`.
/// The first `fixed` positions stay, in front of all others.
pub(super) fn deflate(poles: &mut [f64], z: &mut [f64], fixed: usize, least: f64, tolerance: f64) -> Deflated {
    let mut order: Vec<usize> = (fixed..poles.len()).collect();
    order.sort_by(|&i, &j| poles[i].total_cmp(&poles[j]));
    let mut out = Deflated { kept: (0..fixed).collect(), dropped: vec![], turns: vec![] };
    let mut waiting: Option<usize> = None;
    for q in order {
        if z[q].abs() <= least {
            out.dropped.push(q);
            continue;
        }
        if let Some(p) = waiting.replace(q) {
            out.settle(poles, z, p, q, tolerance);
        }
    }
    out.kept.extend(waiting);
    out
}

impl Deflated {
    /// Keeps `p`, or turns it into `q`.
    fn settle(&mut self, poles: &mut [f64], z: &mut [f64], p: usize, q: usize, tolerance: f64) {
        let length = z[p].hypot(z[q]);
        let (c, s) = (z[q] / length, z[p] / length);
        if ((poles[q] - poles[p]) * c * s).abs() > tolerance {
            return self.kept.push(p);
        }
        (z[p], z[q]) = (0.0, length);
        let (low, high) = (poles[p], poles[q]);
        (poles[p], poles[q]) = (c * c * low + s * s * high, c * c * high + s * s * low);
        self.turns.push(Turn { p, q, c, s });
        self.dropped.push(p);
    }

    /// The values of roots and of positions that left, ascending; and where each comes from.
    pub(super) fn sorted(&self, roots: &[f64], poles: &[f64]) -> (Vec<f64>, Vec<Source>) {
        let kept = roots.iter().enumerate().map(|(i, &value)| (value, Source::Root(i)));
        let dropped = self.dropped.iter().map(|&p| (poles[p], Source::Position(p)));
        let mut all: Vec<(f64, Source)> = kept.chain(dropped).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.into_iter().unzip()
    }

    /// The matrix that leads from the old basis to the new one, transposed: its rows are those of roots, or unit vectors.
    pub(super) fn basis<S: Field>(&self, sources: &[Source], vectors: &Dense<S>) -> Dense<S> {
        let n = sources.len();
        let mut w = Dense::zeros(n, n);
        for (row, source) in w.data.chunks_exact_mut(n).zip(sources) {
            match *source {
                Source::Root(root) => self.kept.iter().enumerate().for_each(|(i, &p)| row[p] = vectors.at(root, i)),
                Source::Position(p) => row[p] = S::unit(),
            }
            for &Turn { p, q, c, s } in self.turns.iter().rev() {
                let (x, y) = (row[p], row[q]);
                let (c, s) = (S::of(c, 0.0), S::of(s, 0.0));
                (row[p], row[q]) = (c * x + s * y, c * y - s * x);
            }
        }
        w
    }
}

/// Where a value of the whole comes from.
#[derive(Clone, Copy)]
pub(super) enum Source {
    Root(usize),
    Position(usize),
}

/// A secular equation: ascending poles, or numbers whose squares are the poles, and positive weights.
pub(super) struct Secular {
    pub(super) poles: Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) squared: bool,
}

/// A root, as its distance from a pole.
#[derive(Clone, Copy)]
pub(super) struct Root {
    origin: usize,
    offset: f64,
}

/// The equation at one place: sums of the terms to the left and right of it, and of their derivatives.
struct Terms {
    left: f64,
    right: f64,
    left_slope: f64,
    right_slope: f64,
}

impl Terms {
    fn value(&self) -> f64 {
        1.0 + self.left + self.right
    }

    /// Whether the value is nothing but rounding.
    fn is_zero(&self) -> bool {
        self.value().abs() <= 8.0 * f64::EPSILON * (1.0 + self.left.abs() + self.right.abs())
    }
}

impl Secular {
    /// Pole `j` less the root.
    pub(super) fn gap(&self, j: usize, root: Root) -> f64 {
        let (d, origin) = (self.poles[j], self.poles[root.origin]);
        let difference = (d - origin) - root.offset;
        if self.squared { difference * (d + origin + root.offset) } else { difference }
    }

    /// Each pole less the root.
    pub(super) fn gaps(&self, root: Root, out: &mut [f64]) {
        let origin = self.poles[root.origin];
        for (out, d) in out.iter_mut().zip(&self.poles) {
            *out = (d - origin) - root.offset;
        }
        if self.squared {
            let sum = origin + root.offset;
            out.iter_mut().zip(&self.poles).for_each(|(out, d)| *out *= d + sum);
        }
    }

    /// Pole `i` less pole `j`.
    fn between(&self, i: usize, j: usize) -> f64 {
        let (x, y) = (self.poles[i], self.poles[j]);
        if self.squared { (x - y) * (x + y) } else { x - y }
    }

    pub(super) fn value(&self, root: Root) -> f64 {
        self.poles[root.origin] + root.offset
    }

    /// All roots, ascending: one behind each pole.
    pub(super) fn roots(&self) -> Vec<Root> {
        (0..self.poles.len()).map(|i| self.root(i)).collect()
    }

    fn terms(&self, i: usize, root: Root) -> Terms {
        let (left, left_slope) = self.sums(0..i + 1, root);
        let (right, right_slope) = self.sums(i + 1..self.poles.len(), root);
        Terms { left, right, left_slope, right_slope }
    }

    /// Sums of weights over gaps and over their squares, in lanes, as the processor divides.
    fn sums(&self, range: std::ops::Range<usize>, root: Root) -> (f64, f64) {
        const LANES: usize = 4;
        let (poles, weights) = (&self.poles[range.clone()], &self.weights[range.clone()]);
        let (origin, mut sums, mut slopes) = (self.poles[root.origin], [0.0; LANES], [0.0; LANES]);
        let sum = (origin + root.offset, if self.squared { 1.0 } else { 0.0 });
        // Without squares, the second factor is one.
        let gap = |d: f64| ((d - origin) - root.offset) * ((d + sum.0) * sum.1 + (1.0 - sum.1));
        let whole = poles.len() / LANES * LANES;
        for (poles, weights) in poles[..whole].chunks_exact(LANES).zip(weights.chunks_exact(LANES)) {
            for lane in 0..LANES {
                let inverse = 1.0 / gap(poles[lane]);
                let term = weights[lane] * inverse;
                sums[lane] += term;
                slopes[lane] += term * inverse;
            }
        }
        for (lane, (&pole, &weight)) in poles[whole..].iter().zip(&weights[whole..]).enumerate() {
            let inverse = 1.0 / gap(pole);
            sums[lane] += weight * inverse;
            slopes[lane] += weight * inverse * inverse;
        }
        let total = |lanes: [f64; LANES]| (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
        (total(sums), total(slopes))
    }

    /// The root between pole `i` and the next, or behind the last.
    fn root(&self, i: usize) -> Root {
        let (mut root, mut low, mut high) = self.start(i);
        // Seen from either pole, the middle is one place.
        let mut terms = self.terms(i, root);
        if terms.value() < 0.0 && i + 1 < self.poles.len() {
            (low, high) = (-root.offset, 0.0);
            root = Root { origin: i + 1, offset: low };
        }
        for _ in 0..MAX_STEPS {
            let value = terms.value();
            if terms.is_zero() {
                break;
            }
            if value < 0.0 {
                low = root.offset;
            } else {
                high = root.offset;
            }
            let wanted = root.offset + self.step(i, root, &terms);
            let next = if wanted > low && wanted < high { wanted } else { middle(low, high) };
            if next == root.offset || !(next > low && next < high) {
                break;
            }
            root.offset = next;
            terms = self.terms(i, root);
        }
        root
    }

    /// The middle of the interval seen from its first pole, and the offsets between which a root nearer to that pole lies.
    fn start(&self, i: usize) -> (Root, f64, f64) {
        let reach = match self.poles.get(i + 1) {
            Some(&next) => (next - self.poles[i]) / 2.0,
            None => {
                let (d, sum) = (self.poles[i], self.weights.iter().sum::<f64>());
                let reach = if self.squared { sum / (d + (d * d + sum).sqrt()) } else { sum };
                // A little more: the root may be at the very end.
                reach * (1.0 + 4.0 * f64::EPSILON)
            }
        };
        let is_last = i + 1 == self.poles.len();
        (Root { origin: i, offset: if is_last { reach / 2.0 } else { reach } }, 0.0, reach)
    }

    /// The step to the root of the rational function with the two nearest poles that has these values and slopes.
    fn step(&self, i: usize, root: Root, terms: &Terms) -> f64 {
        let (value, slope) = (terms.value(), terms.left_slope + terms.right_slope);
        let left = self.gap(i, root);
        let step = if i + 1 < self.poles.len() {
            let right = self.gap(i + 1, root);
            let c = value - left * terms.left_slope - right * terms.right_slope;
            let a = (left + right) * value - left * right * slope;
            let b = left * right * value;
            let discriminant = (a * a - 4.0 * b * c).max(0.0).sqrt();
            if a <= 0.0 { (a - discriminant) / (2.0 * c) } else { 2.0 * b / (a + discriminant) }
        } else {
            left + left * left * slope / (value - left * slope)
        };
        if !self.squared {
            return step;
        }
        let at = self.value(root);
        step / (at + (at * at + step).sqrt())
    }

    /// The weights, as square roots, of which these roots are exact.
    pub(super) fn exact_weights(&self, roots: &[Root]) -> Vec<f64> {
        let Some(&last) = roots.last() else { return vec![] };
        let n = roots.len();
        let mut products: Vec<f64> = (0..n).map(|i| -self.gap(i, last)).collect();
        // Root by root, so that neighbours in memory are multiplied at once.
        for (k, &root) in roots[..n - 1].iter().enumerate() {
            for (i, product) in products[..k + 1].iter_mut().enumerate() {
                *product *= self.gap(i, root) / self.between(i, k + 1);
            }
            for (i, product) in products.iter_mut().enumerate().skip(k + 1) {
                *product *= self.gap(i, root) / self.between(i, k);
            }
        }
        products.into_iter().map(|product| product.abs().sqrt()).collect()
    }
}

/// Between two offsets, by ratio where they are far apart.
fn middle(low: f64, high: f64) -> f64 {
    if low == 0.0 {
        return high * 2f64.powi(-10);
    }
    if high == 0.0 {
        return low * 2f64.powi(-10);
    }
    let ratio = (low / high).abs();
    if (0.25..=4.0).contains(&ratio) { (low + high) / 2.0 } else { (low * high).sqrt().copysign(low) }
}
