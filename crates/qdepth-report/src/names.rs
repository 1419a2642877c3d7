//! Display names of targets: products instead of target expressions.

use qdepth_record::{Observation, RunRecord, TargetKind, TargetRecord};

use crate::words::{Words, fill_in};

/// Key of the fact with the product name of an emulated device.
const PRODUCT: &str = "product";

/// Display name of a target in texts and legends. The mark of emulated targets is removed, because
/// every row and picture has it already.
pub(crate) fn shown(run: &RunRecord, words: &Words, name: &str) -> String {
    if run.emulated {
        let name = name.replace(&format!(" ({})", words.emulated[0]), "");
        return emulated(run, &name);
    }
    let target = run.targets.iter().find(|target| target.name == name);
    let Some(target) = target else { return name.to_owned() };
    match target.kind {
        TargetKind::Directory | TargetKind::File => {
            on_devices(words, target).unwrap_or_else(|| name.to_owned())
        }
        TargetKind::BlockDevice => model_first(&target.expression, name),
        TargetKind::Emulated => name.to_owned(),
    }
}

/// Turns `/dev/nvme0n1 (INTEL SSDPEDMD800G4)` into `INTEL SSDPEDMD800G4 (nvme0n1)`: readers look
/// for the product, and the node distinguishes equal products.
fn model_first(expression: &str, name: &str) -> String {
    let model = name.strip_prefix(expression).and_then(|rest| rest.strip_prefix(" ("));
    let Some((model, number)) = model.and_then(|rest| rest.rsplit_once(')')) else {
        return name.to_owned();
    };
    let node = expression.rsplit('/').next().unwrap_or(expression);
    format!("{} ({node}){number}", model.trim())
}

/// `bench (ext4 on vda)` in the report's language, from the facts of the target: the stored name is
/// English and is never parsed.
fn on_devices(words: &Words, target: &TargetRecord) -> Option<String> {
    let fact = |key: &str| {
        let is_it = |seen: &&Observation| seen.subject == "file_system" && seen.key == key;
        target.facts.iter().find(is_it)?.value.as_deref().ok()
    };
    let (system, devices) = (fact("type")?, fact("devices")?.replace(' ', ", "));
    let (path, number) = target.name.rsplit_once(&format!(" ({system} on {devices})"))?;
    let values = [
        ("path", path.to_owned()),
        ("system", system.to_owned()),
        ("devices", devices),
        ("number", number.to_owned()),
    ];
    Some(fill_in(words.answer.on_devices, &values))
}

/// Product name of a device model; else its name in the catalogue.
pub(crate) fn product<'r>(run: &'r RunRecord, subject: &str) -> Option<&'r str> {
    let facts = run.targets.iter().flat_map(|target| &target.facts);
    let mut products = facts.filter(|seen| seen.key == PRODUCT && seen.subject == subject);
    products.find_map(|seen| seen.value.as_deref().ok())
}

fn emulated(run: &RunRecord, name: &str) -> String {
    let facts = run.targets.iter().flat_map(|target| &target.facts);
    let products = facts.filter(|seen| seen.key == PRODUCT);
    let mut products: Vec<(&str, &str)> =
        products.filter_map(|seen| Some((&*seen.subject, seen.value.as_deref().ok()?))).collect();
    // A name must be tried before its own prefixes.
    products.sort_by_key(|(subject, _)| std::cmp::Reverse(subject.len()));
    // Members are separated by commas, which names of products may contain.
    let named = products.into_iter().fold(arrays(name), |name, (subject, product)| {
        name.replace(&format!("media:{subject}"), product)
    });
    named.replace("media:", "")
}

/// Turns `raid0(X*4)` into `RAID 0 (4 × X)`, and `independent(X*4)` into `4 × X`; members of
/// several kinds are listed.
fn arrays(name: &str) -> String {
    let Some((kind, rest)) = name.split_once('(') else { return times(name) };
    let Some((members, behind)) = rest.rsplit_once(')') else { return times(name) };
    let level = kind.strip_prefix("raid").filter(|level| level.bytes().all(|b| b.is_ascii_digit()));
    if kind != "independent" && level.is_none() || members.contains(['(', ')']) {
        return times(name);
    }
    let mut kinds: Vec<(&str, u32)> = Vec::new();
    for member in members.split(',').map(str::trim) {
        let (kind, count) = member.rsplit_once('*').unwrap_or((member, "1"));
        let count = count.trim().parse().unwrap_or(1);
        match kinds.iter_mut().find(|(known, _)| *known == kind.trim()) {
            Some((_, all)) => *all += count,
            None => kinds.push((kind.trim(), count)),
        }
    }
    let member = |(kind, count): &(&str, u32)| format!("{count} × {kind}");
    let members = kinds.iter().map(member).collect::<Vec<_>>().join(" + ");
    match level {
        Some(level) => format!("RAID {level} ({members}){behind}"),
        None => format!("{members}{behind}"),
    }
}

/// Turns `X*4` into `4 × X` in expressions without a wording of their own.
fn times(name: &str) -> String {
    name.replace('*', " × ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;
    use crate::words::{Lang, words};

    fn emulated_run() -> RunRecord {
        let mut run = fixture::run(1);
        run.emulated = true;
        let products = [
            ("p3700", "Intel P3700 800 GB"),
            ("p3700-2tb", "Intel P3700 2 TB"),
            ("iodrive-320gb/maximum", "Fusion-io ioDrive 320 GB, Maximum Capacity"),
        ];
        run.targets[0].facts.extend(products.map(|(subject, product)| Observation {
            subject: subject.into(),
            key: PRODUCT.into(),
            value: Ok(product.into()),
            source: qdepth_record::source::DESCRIPTION.into(),
        }));
        run
    }

    #[test]
    fn product_names_replace_target_expressions() {
        let run = emulated_run();
        let printed = |name| shown(&run, words(Lang::En), name);
        for (expression, name) in [
            ("media:p3700 (EMULATED)", "Intel P3700 800 GB"),
            ("media:p3700 (EMULATED) #2", "Intel P3700 800 GB #2"),
            ("media:p3700-2tb (EMULATED)", "Intel P3700 2 TB"),
            ("raid0(media:p3700*4) (EMULATED)", "RAID 0 (4 × Intel P3700 800 GB)"),
            ("raid10(media:p3700*4)@area=full", "RAID 10 (4 × Intel P3700 800 GB)@area=full"),
            ("independent(media:p3700*4)", "4 × Intel P3700 800 GB"),
            (
                "raid1(media:p3700,media:p3700-2tb)",
                "RAID 1 (1 × Intel P3700 800 GB + 1 × Intel P3700 2 TB)",
            ),
            ("raid1(media:p3700, media:p3700)", "RAID 1 (2 × Intel P3700 800 GB)"),
            ("media:iodrive-320gb/maximum", "Fusion-io ioDrive 320 GB, Maximum Capacity"),
            (
                "raid1(media:iodrive-320gb/maximum*2)",
                "RAID 1 (2 × Fusion-io ioDrive 320 GB, Maximum Capacity)",
            ),
            ("media:own", "own"),
            ("delay(media:p3700, 100us)", "delay(Intel P3700 800 GB, 100us)"),
            ("", ""),
            ("raid0(", "raid0("),
            (")(", ")("),
        ] {
            assert_eq!(printed(expression), name, "{expression}");
        }
    }

    #[test]
    fn drives_have_model_names_and_directories_translated_names() {
        let mut run = fixture::run(1);
        run.targets[0].name = "/dev/nvme0n1 (INTEL SSDPEDMD800G4)".into();
        let name = run.targets[0].name.clone();
        assert_eq!(shown(&run, words(Lang::En), &name), "INTEL SSDPEDMD800G4 (nvme0n1)");
        run.targets[0].kind = TargetKind::Directory;
        run.targets[0].name = "bench (run on sda) (ext4 on vda, vdb) #2".into();
        let name = run.targets[0].name.clone();
        for lang in Lang::ALL {
            assert_eq!(shown(&run, words(lang), &name), name, "nothing is known of it");
        }
        let facts = [("type", "ext4"), ("devices", "vda vdb")];
        run.targets[0].facts.extend(facts.map(|(key, value)| {
            fixture::observation("file_system", key, Ok(value), "/proc/self/mountinfo")
        }));
        assert_eq!(shown(&run, words(Lang::En), &name), name);
        assert_eq!(
            shown(&run, words(Lang::Ja), &name),
            "bench (run on sda)（vda, vdb 上の ext4） #2"
        );
        assert_eq!(shown(&run, words(Lang::Ja), "unknown (ext4 on vda)"), "unknown (ext4 on vda)");
    }
}
