//! Where the nodes of a graph lie: in layers, so that edges go one way as far as that can be.

use rust_sugiyama::configure::{Config, RankingType};
use rust_sugiyama::from_vertices_and_edges;

/// More nodes than this are not laid out.
pub const MOST_NODES: usize = 400;

/// More edges than this are not.
pub const MOST_EDGES: usize = 800;

/// No side of a node is longer.
const LONGEST: f64 = 4000.0;

/// Between nodes, and between layers.
const SPACING: f64 = 28.0;

/// Parts of a graph that hang together lie beside one another up to this width.
const ROW: f64 = 1400.0;

/// Why a graph is not laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutError {
    /// It has too many nodes or edges.
    TooLarge,
    /// An edge leads to a node that is not there, or a node has a size that is none.
    NoGraph,
}

/// Where the middles of nodes lie, and the size of the whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// By node: x and y of its middle.
    pub middles: Vec<(f64, f64)>,
    /// Width of the whole.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

/// Lays out nodes of these widths and heights; edges go down where nothing is in a circle. Those of a node to itself, and further
/// ones between the same two, do not count.
///
/// # Errors
/// [`LayoutError`]
pub fn layered(sizes: &[(f64, f64)], edges: &[(usize, usize)]) -> Result<Layout, LayoutError> {
    if sizes.len() > MOST_NODES || edges.len() > MOST_EDGES {
        return Err(LayoutError::TooLarge);
    }
    let is_size = |size: f64| size.is_finite() && (1.0..=LONGEST).contains(&size);
    let there = |node: usize| node < sizes.len();
    if !sizes.iter().all(|(width, height)| is_size(*width) && is_size(*height))
        || !edges.iter().all(|(from, to)| there(*from) && there(*to))
    {
        return Err(LayoutError::NoGraph);
    }
    let number = |node: usize| u32::try_from(node).unwrap_or(u32::MAX);
    let vertices: Vec<(u32, (f64, f64))> = sizes.iter().enumerate().map(|(node, size)| (number(node), *size)).collect();
    let mut plain: Vec<(u32, u32)> =
        edges.iter().filter(|(from, to)| from != to).map(|(from, to)| (number(*from), number(*to))).collect();
    plain.sort_unstable();
    plain.dedup();
    // Not its default ranking, MinimizeEdgeLength: that may go on for ever (rust-sugiyama 0.4.0, where edges leave and enter
    // its tree in a circle). Transposing takes minutes on graphs that are not small.
    let config =
        Config { vertex_spacing: SPACING, ranking_type: RankingType::Up, transpose: false, ..Config::default() };
    let mut middles = vec![(0.0, 0.0); sizes.len()];
    let (mut left, mut top, mut row, mut width) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    let mut parts: Vec<Vec<(usize, (f64, f64))>> =
        from_vertices_and_edges(&vertices, &plain, &config).into_iter().map(|(part, ..)| part).collect();
    parts.iter_mut().for_each(|part| part.sort_unstable_by_key(|(node, _)| *node));
    parts.sort_by_key(|part| (std::cmp::Reverse(part.len()), part.first().map(|(node, _)| *node)));
    for part in parts {
        let edge = |low: bool, across: bool| {
            part.iter()
                .map(|(node, (x, y))| {
                    let (wide, high) = sizes.get(*node).copied().unwrap_or_default();
                    let (at, size) = if across { (*x, wide) } else { (*y, high) };
                    if low { at - size / 2.0 } else { -(at + size / 2.0) }
                })
                .fold(f64::INFINITY, f64::min)
        };
        let (first_x, first_y) = (edge(true, true), edge(true, false));
        let (wide, high) = (-edge(false, true) - first_x, -edge(false, false) - first_y);
        if left > 0.0 && left + wide > ROW {
            (left, top, row) = (0.0, top + row + 2.0 * SPACING, 0.0);
        }
        for (node, (x, y)) in &part {
            if let Some(middle) = middles.get_mut(*node) {
                *middle = (x - first_x + left, y - first_y + top);
            }
        }
        width = width.max(left + wide);
        left += wide + 2.0 * SPACING;
        row = row.max(high);
    }
    Ok(Layout { middles, width, height: top + row })
}
