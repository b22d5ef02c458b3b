//! Nodes do not lie on one another, whatever the graph.

use overview::layout::{Layout, LayoutError, MOST_NODES, layered};
use proptest::prelude::*;

fn check(sizes: &[(f64, f64)], found: &Layout) {
    assert_eq!(found.middles.len(), sizes.len());
    for (one, ((x, y), (wide, high))) in found.middles.iter().zip(sizes).enumerate() {
        assert!(x - wide / 2.0 > -0.5 && x + wide / 2.0 < found.width + 0.5, "{one} is outside: {found:?}");
        assert!(y - high / 2.0 > -0.5 && y + high / 2.0 < found.height + 0.5, "{one} is outside: {found:?}");
        for ((other_x, other_y), (other_wide, other_high)) in found.middles.iter().zip(sizes).take(one) {
            let apart = (x - other_x).abs() + 0.5 >= f64::midpoint(*wide, *other_wide)
                || (y - other_y).abs() + 0.5 >= f64::midpoint(*high, *other_high);
            assert!(apart, "{one} lies on another one: {found:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_graph_is_laid_out(
        sizes in prop::collection::vec((1.0..400.0_f64, 1.0..90.0_f64), 0..40),
        pairs in prop::collection::vec((0..40_usize, 0..40_usize), 0..120),
    ) {
        let edges: Vec<_> = pairs.into_iter().filter(|(from, to)| *from < sizes.len() && *to < sizes.len()).collect();
        let found = layered(&sizes, &edges);
        prop_assert!(found.is_ok());
        if let Ok(found) = found {
            check(&sizes, &found);
        }
    }
}

#[test]
fn edges_go_down_where_there_is_no_circle() {
    let sizes = vec![(100.0, 30.0); 5];
    let edges = [(0, 1), (1, 2), (0, 3), (3, 2), (2, 4)];
    let found = layered(&sizes, &edges).expect("a graph");
    for (from, to) in edges {
        assert!(found.middles[from].1 < found.middles[to].1, "{found:?}");
    }
    check(&sizes, &found);
}

#[test]
fn parts_that_do_not_hang_together_lie_beside_and_below_one_another() {
    let sizes = vec![(400.0, 30.0); 12];
    let found = layered(&sizes, &[]).expect("a graph");
    check(&sizes, &found);
    assert!(found.width < 1500.0, "{found:?}");
}

#[test]
fn what_is_no_graph_is_refused() {
    assert_eq!(layered(&[(10.0, 10.0)], &[(0, 1)]), Err(LayoutError::NoGraph));
    assert_eq!(layered(&[(f64::NAN, 10.0)], &[]), Err(LayoutError::NoGraph));
    assert_eq!(layered(&[(0.0, 10.0)], &[]), Err(LayoutError::NoGraph));
    assert_eq!(layered(&[(f64::INFINITY, 10.0)], &[]), Err(LayoutError::NoGraph));
    assert_eq!(layered(&vec![(10.0, 10.0); MOST_NODES + 1], &[]), Err(LayoutError::TooLarge));
    assert_eq!(layered(&[(10.0, 10.0); 2], &[(0, 1); 2000]), Err(LayoutError::TooLarge));
    let nothing = layered(&[], &[]).expect("an empty one");
    assert_eq!(nothing.middles, []);
}
