//! Writes a plan as TOML for people to keep, read and change, for example after conversion from
//! another program's options.

use toml_edit::{Item, Table, Value};

use crate::profile::PlanFile;

/// Error for a number that TOML does not support.
pub use toml_edit::ser::Error as WriteTomlError;

/// Lists of tables that become sections; other nested values are on one line.
const SECTIONS: [&str; 7] =
    ["profile", "sweep", "step", "load", "target", "variant", "requirement"];

impl PlanFile {
    /// The plan as a file of its own, which [`FromStr`](std::str::FromStr) reads back as the same.
    ///
    /// # Errors
    /// If TOML does not support a number: a seed or stamp of 2^63 or more.
    pub fn to_toml(&self) -> Result<String, WriteTomlError> {
        let mut document = toml_edit::ser::to_document(self)?;
        divide(document.as_table_mut());
        Ok(document.to_string())
    }
}

/// Divides a table into its sections, and removes empty lists and tables, which mean the same as
/// missing ones.
fn divide(table: &mut Table) {
    table.retain(|_, item| !is_empty(item));
    for (_, item) in table.iter_mut().filter(|(key, _)| SECTIONS.contains(&key.get())) {
        match std::mem::take(item).into_array_of_tables() {
            Ok(mut sections) => {
                sections.iter_mut().for_each(divide);
                *item = Item::ArrayOfTables(sections);
            }
            Err(other) => *item = other,
        }
    }
}

fn is_empty(item: &Item) -> bool {
    match item.as_value() {
        Some(Value::Array(list)) => list.is_empty(),
        Some(Value::InlineTable(table)) => table.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped::{shipped_plan_names, shipped_plan_text};

    #[test]
    fn every_shipped_plan_round_trips_through_toml() {
        for name in shipped_plan_names() {
            let file: PlanFile = shipped_plan_text(name).unwrap().parse().unwrap();
            let text = file.to_toml().unwrap();
            let again: PlanFile =
                text.parse().unwrap_or_else(|why| panic!("{name}: {why}\n{text}"));
            assert_eq!(again, file, "{name}\n{text}");
        }
    }

    #[test]
    fn written_plan_has_separated_sections_and_inline_tables() {
        let text = "name = \"a\"\ntargets = \"in-turn\"\nseed = 7\n\n\
                    [[profile]]\nname = \"p\"\nrandom = 100.0\nread = 50.0\n\
                    block_size = [{ size = \"4KiB\", weight = 1 }, { size = \"8KiB\", \
                    weight = 3 }]\n\
                    area = { size = \"50%\", offset = \"1MiB\" }\n\n\
                    [[step]]\ntitle = \"a step\"\n\n\
                    [[step.load]]\nprofile = \"p\"\nqueue_depth = 8\nduration = \"1500ms\"\n";
        let file: PlanFile = text.parse().unwrap();
        let written = file.to_toml().unwrap();
        assert_eq!(written.parse::<PlanFile>().unwrap(), file);
        assert_eq!(written, text);
    }
}
