//! Prints the JSON Schema of what `mpi-queues show --format json` and `diagnose --format json` print.

fn main() {
    print!("{}", model::schema());
}
