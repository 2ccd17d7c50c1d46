//! How long documents take to read: `read_speed FOLDER [ROUNDS]`, each file below it once a round.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use twigcast_kernel_core::document::read::{Limits, Reader};
use twigcast_kernel_core::document::tree::Tree;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("a folder");
    let rounds = arguments
        .next()
        .map_or(20, |rounds| rounds.parse().expect("how many rounds"));
    let mut documents = Vec::new();
    gather(Path::new(&folder), &mut documents);
    let bytes: usize = documents.iter().map(Vec::len).sum();
    let (mut reader, mut tree) = (Reader::default(), Tree::default());
    let mut times = Vec::new();
    let mut unsure = 0;
    for _ in 0..rounds {
        unsure = 0;
        let start = Instant::now();
        for document in &documents {
            let outcome = reader.read(document, &Limits::default(), &mut tree);
            unsure += usize::from(outcome.is_err());
            black_box(&tree);
        }
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let each = |seconds: f64| seconds * 1e6 / documents.len() as f64;
    println!(
        "{} documents, {unsure} unsure: best {:.2}, median {:.2} µs a document, {:.0} MB/s",
        documents.len(),
        each(times[0]),
        each(times[times.len() / 2]),
        bytes as f64 / times[0] / 1e6,
    );
}

fn gather(path: &Path, into: &mut Vec<Vec<u8>>) {
    if path.is_dir() {
        for entry in path.read_dir().expect("a folder that can be read") {
            gather(&entry.expect("an entry").path(), into);
        }
    } else {
        into.push(std::fs::read(path).expect("a file that can be read"));
    }
}
