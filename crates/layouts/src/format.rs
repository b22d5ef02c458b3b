//! Writing a profile: JSON with one field a line, so that two builds can be compared with `diff`.

use std::fmt::Write;

use serde::Serialize;

use super::{Profile, TypeLayout};

impl Profile {
    /// The profile as JSON text: compact, one field a line, fields in the order in which they lie in memory. The same
    /// profile always gives the same bytes.
    pub fn to_json(&self) -> String {
        let mut out = String::from("{\n");
        for (name, value) in [("schema", &self.schema), ("format", &self.format), ("name", &self.name)] {
            line(&mut out, 1, name, value, ",");
        }
        out.push_str(" \"producer\": {\n");
        line(&mut out, 2, "tool", &self.producer.tool, ",");
        line(&mut out, 2, "command", &self.producer.command, ",");
        line(&mut out, 2, "sources", &self.producer.sources, ",");
        line(&mut out, 2, "missing", &self.producer.missing, "");
        out.push_str(" },\n \"identity\": {\n");
        line(&mut out, 2, "implementation", &self.identity.implementation, ",");
        line(&mut out, 2, "version", &self.identity.version, ",");
        line(&mut out, 2, "fits", &self.identity.fits, ",");
        let (device, sizes) = (&self.identity.device, &self.identity.sizes);
        let end = |more: bool| if more { "," } else { "" };
        line(&mut out, 2, "build_ids", &self.identity.build_ids, end(device.is_some() || !sizes.is_empty()));
        if let Some(device) = device {
            line(&mut out, 2, "device", device, end(!sizes.is_empty()));
        }
        if !sizes.is_empty() {
            line(&mut out, 2, "sizes", sizes, "");
        }
        out.push_str(" },\n");
        line(&mut out, 1, "target", &self.target, ",");
        out.push_str(" \"constants\": {\n");
        for (index, (name, value)) in self.constants.iter().enumerate() {
            line(&mut out, 2, name, value, comma(index, self.constants.len()));
        }
        out.push_str(" },\n \"types\": {\n");
        for (index, (name, layout)) in self.types.iter().enumerate() {
            type_lines(&mut out, name, layout, comma(index, self.types.len()));
        }
        out.push_str(" }\n}\n");
        out
    }
}

fn type_lines(out: &mut String, name: &str, layout: &TypeLayout, end: &str) {
    let _ = writeln!(out, "  {}: {{\"size\": {}, \"fields\": {{", json(name), layout.size);
    let mut fields: Vec<_> = layout.fields.iter().collect();
    fields.sort_by_key(|(name, field)| (field.offset, *name));
    for (index, (name, field)) in fields.iter().enumerate() {
        let (offset, size, kind) = (field.offset, field.size, json(&field.kind));
        let (name, type_name, end) = (json(name), json(&field.type_name), comma(index, fields.len()));
        let _ = writeln!(
            out,
            "   {name}: {{\"offset\": {offset}, \"size\": {size}, \"kind\": {kind}, \"type\": {type_name}}}{end}"
        );
    }
    let _ = writeln!(out, "  }}}}{end}");
}

fn line(out: &mut String, indent: usize, name: &str, value: &(impl Serialize + ?Sized), end: &str) {
    let _ = writeln!(out, "{:indent$}{}: {}{end}", "", json(name), json(value));
}

fn comma(index: usize, count: usize) -> &'static str {
    if index + 1 < count { "," } else { "" }
}

/// Our own strings, numbers and unit variants always serialise; an empty text would be seen by the first parse.
fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
