//! Certificates in the logbook, each with the digest of its document.

use qdepth_record::{CertificateRecord, export_certificate_json};
use rusqlite::{Connection, Result, params};
use sha2::{Digest as _, Sha256};

/// Stores a certificate with the digest of its document.
pub(crate) fn keep(connection: &Connection, certificate: &CertificateRecord) -> Result<()> {
    let CertificateRecord { id, at, host, .. } = certificate;
    store(connection, id, at, host, &export_certificate_json(certificate))
}

/// Newest undamaged certificate of a machine.
pub(crate) fn newest(
    connection: &Connection,
    host: &str,
    cpu: &str,
) -> Result<Option<CertificateRecord>> {
    let of_host = rows(connection)?.into_iter().rev().filter(|row| row.host == host);
    let mut whole = of_host.filter_map(|row| row.whole());
    Ok(whole.find(|certificate| certificate.cpu == cpu))
}

fn store(connection: &Connection, id: &str, at: &str, host: &str, text: &str) -> Result<()> {
    let sha256: [u8; 32] = Sha256::digest(text).into();
    connection.execute(
        "INSERT OR IGNORE INTO certificate (id, at, host, document, sha256)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        params![id, at, host, text, sha256],
    )?;
    Ok(())
}

struct Kept {
    id: String,
    at: String,
    host: String,
    document: String,
    sha256: Vec<u8>,
}

impl Kept {
    /// The certificate; `None` if the document does not match its digest or its columns.
    fn whole(&self) -> Option<CertificateRecord> {
        let sha256: [u8; 32] = Sha256::digest(&self.document).into();
        let read: CertificateRecord = serde_json::from_str(&self.document).ok()?;
        let is_whole = self.sha256 == sha256
            && (&read.id, &read.at, &read.host) == (&self.id, &self.at, &self.host);
        is_whole.then_some(read)
    }
}

/// All certificates, the oldest first; empty in a file with an older schema.
fn rows(connection: &Connection) -> Result<Vec<Kept>> {
    if !connection.table_exists(None, "certificate")? {
        return Ok(Vec::new());
    }
    let query = "SELECT id, at, host, document, sha256 FROM certificate ORDER BY at, id";
    let mut statement = connection.prepare_cached(query)?;
    let kept = statement.query_map([], |row| {
        // An unreadable value counts as damaged, and must not stop a run.
        let text = |column: usize| row.get::<_, String>(column).unwrap_or_default();
        let sha256 = row.get(4).unwrap_or_default();
        Ok(Kept { id: text(0), at: text(1), host: text(2), document: text(3), sha256 })
    })?;
    kept.collect()
}

/// IDs of damaged certificates.
pub(crate) fn damaged(connection: &Connection) -> Result<Vec<String>> {
    let all = rows(connection)?.into_iter();
    Ok(all.filter(|row| row.whole().is_none()).map(|row| row.id).collect())
}

/// Adds the undamaged certificates of another logbook that are missing here.
pub(crate) fn merge(here: &Connection, there: &Connection) -> Result<()> {
    for row in rows(there)?.iter().filter(|row| row.whole().is_some()) {
        store(here, &row.id, &row.at, &row.host, &row.document)?;
    }
    Ok(())
}
