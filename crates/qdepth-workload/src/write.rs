//! A plan as TOML, which a person keeps, reads and changes: what was made by another program's
//! words is told so, and never read again to be run.

use toml_edit::{Item, Table, Value};

use crate::profile::PlanFile;

/// A plan with a number that TOML does not have.
pub use toml_edit::ser::Error as WriteTomlError;

/// The lists of tables that are sections of their own; what else is nested stands on one line.
const SECTIONS: [&str; 7] =
    ["profile", "sweep", "step", "load", "target", "variant", "requirement"];

impl PlanFile {
    /// The plan as a file of its own, which [`FromStr`](std::str::FromStr) reads back as the same.
    ///
    /// # Errors
    /// A number that TOML does not have: a seed or stamp of 2^63 or more.
    pub fn to_toml(&self) -> Result<String, WriteTomlError> {
        let mut document = toml_edit::ser::to_document(self)?;
        divide(document.as_table_mut());
        Ok(document.to_string())
    }
}

/// Divides a table into its sections, and leaves out lists that say as much where they are not.
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
    fn every_shipped_plan_reads_back_as_the_same() {
        for name in shipped_plan_names() {
            let file: PlanFile = shipped_plan_text(name).unwrap().parse().unwrap();
            let text = file.to_toml().unwrap();
            let again: PlanFile =
                text.parse().unwrap_or_else(|why| panic!("{name}: {why}\n{text}"));
            assert_eq!(again, file, "{name}\n{text}");
        }
    }

    #[test]
    fn sections_stand_apart_and_what_they_hold_on_a_line() {
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
