//! Where recordings go.

use std::fs;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::support::{agent, command, demo, said};
use target::files::is_root;

/// A directory of its own, which goes with this.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let place = std::env::temp_dir().join(format!("mpiq-agent-{name}-{}", std::process::id()));
        fs::create_dir(&place).unwrap();
        Self(place)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn record(output: &str) -> (Option<i32>, String) {
    let output = agent(&["record", "--recording", &demo(), "-o", output]);
    (output.status.code(), said(&output))
}

fn shown(recording: &str) -> Vec<u8> {
    agent(&["diagnose", "--recording", recording]).stdout
}

#[test]
fn a_recording_is_written_whole_and_replaces_an_older_one() {
    let place = Place::new("written");
    let file = place.path("a.mpirec");
    assert_eq!(record(&file), (Some(0), String::new()));
    assert_eq!(shown(&file), shown(&demo()));
    // It holds memory of a process: nobody else reads it, whatever the umask.
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(record(&file), (Some(0), String::new()));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    // Through a link of one's own, which stays.
    symlink("a.mpirec", place.0.join("link")).unwrap();
    assert_eq!(record(&place.path("link")), (Some(0), String::new()));
    assert!(fs::symlink_metadata(place.0.join("link")).unwrap().is_symlink());
    assert_eq!(place.names(), ["a.mpirec", "link"]);
}

#[test]
fn what_is_no_recording_is_left_as_it_is() {
    let place = Place::new("left");
    fs::write(place.0.join("notes"), "mine").unwrap();
    let (status, said) = record(&place.path("notes"));
    assert_eq!(status, Some(3));
    assert!(said.contains("exists and is not a recording; it was not changed"), "{said}");
    assert_eq!(fs::read(place.0.join("notes")).unwrap(), b"mine");
    for (name, because) in [("none/a", "No such file"), (".", "is a directory"), ("", "is a directory")] {
        let (status, said) = record(&place.path(name));
        assert_eq!(status, Some(3), "{name}: {said}");
        assert!(said.contains("cannot write the recording") || said.contains("No such file"), "{because}: {said}");
        assert!(said.ends_with("name another place: -o FILE\n"), "{said}");
    }
    // Nothing was read: nothing is written.
    let output = agent(&["record", "--recording", "/etc/passwd", "-o", &place.path("new")]);
    assert_eq!((output.status.code(), place.names()), (Some(3), vec!["notes".to_owned()]));
}

#[test]
fn nothing_is_written_through_a_link_of_another_user() {
    if !is_root() {
        return;
    }
    let place = Place::new("links");
    fs::create_dir(place.0.join("mine")).unwrap();
    symlink("mine", place.0.join("link")).unwrap();
    lchown(place.0.join("link"), Some(61_234), Some(61_234)).unwrap();
    let (status, said) = record(&place.path("link/a.mpirec"));
    assert_eq!(status, Some(3));
    assert!(said.contains("link in it is a link of another user (uid 61234)"), "{said}");
    assert!(!Path::new(&place.path("mine/a.mpirec")).exists());
}

#[test]
fn standard_output_takes_a_recording_and_its_failure_is_told() {
    let place = Place::new("pipe");
    let output = agent(&["record", "--recording", &demo()]);
    assert_eq!((output.status.code(), said(&output)), (Some(0), String::new()));
    fs::write(place.0.join("a"), &output.stdout).unwrap();
    assert_eq!(shown(&place.path("a")), shown(&demo()));
    for words in [["record", "--recording"], ["show", "--recording"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command(&words).arg(demo()).stdout(Stdio::from(full)).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains("cannot write to standard output: No space left"), "{}", said(&output));
    }
    // Whoever reads has seen enough.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command(&["show", "--recording", &demo()]).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), said(&output)), (Some(141), String::new()));
}
