//! Directories for the entries of several points, which a later run may use again.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::guard::{self, Use};
use crate::measurement_file::{cannot_make, failure};
use crate::own_files::{OwnFiles, not_ours};
use crate::own_folder::OwnFolder;
use crate::refusal::{Failure, Guard, Problem, Refusal};

pub use crate::own_folder::EntryUse;

impl OwnFiles {
    /// Opens the directory for entries with this name. A missing one is created, with these
    /// entries: files of `file_bytes` bytes, or directories. One that an earlier run kept is used
    /// only if runs created all that it contains; a point that creates entries replaces it.
    ///
    /// # Errors
    /// Refused: G8 if the directory or one of its entries is foreign, or if it must be kept on a
    /// file system that cannot store marks; G2 if another run uses it. Failed: if it or an entry
    /// cannot be created.
    pub fn directory(
        &mut self,
        name: &str,
        how: EntryUse,
        entries: impl Iterator<Item = String>,
        file_bytes: Option<u64>,
    ) -> Result<OwnedFd, Problem> {
        let path = self.path.join(name);
        let failed = |doing| {
            let path = path.clone();
            move |error: io::Error| -> Failure { failure(doing, &path, error) }
        };
        if let Some(own) = self.folders.iter().find(|own| own.name == name) {
            if let EntryUse::Create { directories } = how {
                let wanted = |kind| (kind == FileType::Directory) == directories;
                own.empty(wanted).map_err(failed("empty"))?;
            }
            return Ok(own.file.try_clone().map_err(failed("open"))?);
        }
        match (self.check_directory(name, how)?, how) {
            (Some(kept), EntryUse::Create { .. }) => {
                kept.remove(&self.directory).map_err(failed("remove"))?;
            }
            // If another rank created it, that rank removes it when the run ends.
            (Some(kept), EntryUse::Remove) if kept.maker().as_ref() != Some(&self.run_id) => {
                let file = kept.file.try_clone().map_err(failed("open"))?;
                self.folders.push(kept);
                return Ok(file);
            }
            (Some(used), _) => return Ok(used.file),
            (None, _) => {}
        }
        let folder = OwnFolder::make(&self.directory, name.to_owned(), &self.run_id)
            .map_err(|error| cannot_make(&path, error))?;
        if self.keep && folder.maker().is_none() {
            folder.remove(&self.directory).map_err(failed("remove"))?;
            return Err(unmarkable(&path).into());
        }
        let file = folder.file.try_clone().map_err(failed("open"));
        let filled = match how {
            EntryUse::Create { .. } | EntryUse::Join => Ok(()),
            EntryUse::Use | EntryUse::Remove => folder.fill(entries, file_bytes),
        };
        // Removed later even if filling failed.
        self.folders.push(folder);
        filled.map_err(failed("fill"))?;
        Ok(file?)
    }

    /// Checks an existing directory with this name: a run must have created it and all its entries.
    /// Locks it. `None` if there is none.
    pub(crate) fn check_directory(
        &self,
        name: &str,
        how: EntryUse,
    ) -> Result<Option<OwnFolder>, Problem> {
        let path = &self.path.join(name);
        let folder = match OwnFolder::open(&self.directory, name.to_owned()) {
            Err(Errno::NOENT) if how != EntryUse::Join => return Ok(None),
            Err(Errno::NOENT) => return Err(failure("open", path, Errno::NOENT.into()).into()),
            Err(_) => return Err(not_ours(path).into()),
            Ok(folder) => folder,
        };
        let maker = folder.maker().ok_or_else(|| match how {
            EntryUse::Join => unmarkable(path),
            _ => not_ours(path),
        })?;
        let is_ready = how == EntryUse::Join || maker == self.run_id;
        if is_ready && !matches!(how, EntryUse::Create { .. }) {
            return Ok(Some(folder));
        }
        let removes = how != EntryUse::Use;
        guard::lock_directory(&folder.file, path, if removes { Use::Write } else { Use::Read })?;
        // The names are enough for a point that changes nothing: reading all files would take long,
        // and fill the caches.
        match folder.foreign(removes).map_err(|error| failure("look into", path, error))? {
            Some(entry) => Err(mixed(path, &entry).into()),
            None => Ok(Some(folder)),
        }
    }
}

fn mixed(path: &Path, entry: &str) -> Refusal {
    Refusal::new(
        Guard::G8Ownership,
        format!("{} contains {entry}, which was not created by qdepth", path.display()),
        "Move it elsewhere, or use another directory",
    )
}

fn unmarkable(path: &Path) -> Refusal {
    Refusal::new(
        Guard::G8Ownership,
        format!(
            "other runs and ranks could not recognise {}: its file system lacks extended \
             attributes or locks",
            path.display()
        ),
        "Create, use and remove the entries in one run of one process",
    )
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files as a user does")]
mod tests {
    use super::*;
    use crate::own_files::{Naming, Wanted, clear};
    use crate::system::System;
    use crate::target::inspect;

    const CREATE: EntryUse = EntryUse::Create { directories: false };

    fn files(parent: &Path, run_id: &str, keep: bool) -> Result<OwnFiles, Problem> {
        let system = System::real();
        let naming = Naming { stem: "e".to_owned(), first: 0, stride: 1, suffix: String::new() };
        let wanted = Wanted { size_bytes: 4096, run_id, naming, writes: true, keep };
        clear(&system, &inspect(&system, parent).unwrap(), &wanted, 0)
    }

    #[test]
    fn kept_directory_is_used_and_removed_later() {
        let parent = tempfile::tempdir().unwrap();
        let names = || ["f0000000000", "d0000000001"].map(str::to_owned).into_iter();
        let none = std::iter::empty;
        let folder = parent.path().join("e");
        let mut kept = files(parent.path(), "a", true).unwrap();
        if let Err(Problem::Refused(why)) = kept.directory("e", CREATE, none(), None) {
            println!("SKIPPED: a kept directory: {}", why.found);
            return;
        }
        std::fs::write(folder.join("f0000000000"), "").unwrap();
        std::fs::create_dir(folder.join("d0000000001")).unwrap();
        // A later phase of the same run finds all entries; one that creates files empties it.
        kept.directory("e", EntryUse::Use, names(), Some(1)).unwrap();
        kept.directory("e", CREATE, none(), None).unwrap();
        assert!(!folder.join("f0000000000").exists() && folder.join("d0000000001").exists());
        std::fs::write(folder.join("notes"), "mine").unwrap();
        let why = kept.directory("e", CREATE, none(), None).unwrap_err().to_string();
        assert!(why.contains("contains notes") && folder.join("notes").exists(), "{why}");
        std::fs::remove_file(folder.join("notes")).unwrap();
        std::fs::write(folder.join("f0000000000"), "").unwrap();
        let mut other = files(parent.path(), "b", false).unwrap_err().to_string();
        assert!(other.contains("locked"), "{other}");
        // Another rank joins a directory that its leader has locked.
        let mut rank = files(&parent.path().join("e"), "b", true).unwrap();
        (rank.path, rank.directory) = (kept.path.clone(), kept.directory.try_clone().unwrap());
        rank.directory("e", EntryUse::Join, none(), None).unwrap();
        assert!(rank.directory("absent", EntryUse::Join, none(), None).is_err());
        rank.end().unwrap();
        kept.end().unwrap();

        std::fs::write(folder.join("notes"), "mine").unwrap();
        other = files(parent.path(), "b", false).unwrap_err().to_string();
        assert!(other.contains("contains notes"), "{other}");
        std::fs::remove_file(folder.join("notes")).unwrap();
        std::fs::write(folder.join("f0000000000"), "not written by a run").unwrap();
        let mut later = files(parent.path(), "b", false).unwrap();
        later.directory("e", EntryUse::Use, names(), None).unwrap();
        for how in [EntryUse::Remove, CREATE] {
            let why = later.directory("e", how, names(), None).unwrap_err().to_string();
            assert!(why.contains("contains f0000000000"), "{why}");
        }
        later.end().unwrap();
        assert!(folder.join("f0000000000").exists(), "it is not ours");
        std::fs::write(folder.join("f0000000000"), "").unwrap();
        let mut last = files(parent.path(), "c", false).unwrap();
        last.directory("e", EntryUse::Remove, names(), None).unwrap();
        std::fs::write(folder.join("notes"), "mine").unwrap();
        let why = last.end().unwrap_err().to_string();
        assert!(why.contains("contains notes") && folder.join("notes").exists(), "{why}");
    }
}
