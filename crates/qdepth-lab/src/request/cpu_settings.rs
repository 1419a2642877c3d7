//! Variants of a comparison of CPU settings: real ones for a real target, those of the host for an
//! emulated one.

use std::path::PathBuf;

use qdepth_host::prepare::cpu_settings;
use qdepth_host::system::System;
use qdepth_media::is_emulated;
use qdepth_workload::{Compared, VariantSpec};
use serde_json::json;

use super::PlanRequest;
use crate::failure::Usage;

/// Clock rates and settings of the published papers, for an emulated host.
const EMULATED: [(&str, &str); 4] = [
    ("Performance 3.5 GHz", "@cpu=3.5GHz"),
    ("Performance 2.3 GHz", "@cpu=2.3GHz"),
    ("Performance 1.6 GHz", "@cpu=1.6GHz"),
    ("Default 3.5 GHz", "@cpu=3.5GHz @settings=default"),
];

impl PlanRequest {
    /// Adds a variant for each CPU setting to a plan that compares them.
    ///
    /// # Errors
    /// If it does not name one target, or this machine offers no setting to compare.
    pub fn vary_cpu_settings(&mut self, system: &System) -> Result<(), Usage> {
        if self.file.comparison.as_ref().is_none_or(|spec| spec.of != Compared::CpuSettings) {
            return Ok(());
        }
        let name = &self.file.name;
        let [target] = &self.targets[..] else {
            return Err(Usage(format!(
                "{name}: CPU settings are compared on one target, but {} are named",
                self.targets.len()
            )));
        };
        let target = target.display().to_string();
        if is_emulated(&target) {
            let names = EMULATED.map(|(name, _)| name.to_owned());
            self.choices.variants.get_or_insert(names.to_vec());
            let expression = |(_, settings)| PathBuf::from(format!("{target} {settings}"));
            self.targets = EMULATED.map(expression).to_vec();
            return Ok(());
        }
        let settings = cpu_settings(system);
        if settings.len() < 2 {
            return Err(Usage(format!(
                "{name}: this machine has no CPU setting to compare, because it has neither \
                 frequencies (cpufreq) nor deep idle states (cpuidle), as in most virtual \
                 machines. Run it on the host itself, or on an emulated device: qdepth run {name} \
                 media:p3700-800gb"
            )));
        }
        self.file.variants = settings
            .into_iter()
            .map(|(name, settings)| VariantSpec {
                name: name.to_owned(),
                target: target.clone(),
                prepare: settings
                    .iter()
                    .map(|s| json!({"step": "setting", "path": s.path(), "value": s.value()}))
                    .collect(),
            })
            .collect();
        self.targets.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use qdepth_workload::{Choices, shipped_plan_text};

    use super::*;

    fn asked(targets: &[&str], system: &System) -> Result<PlanRequest, String> {
        let file = shipped_plan_text("frequency").unwrap().parse().unwrap();
        let targets = targets.iter().map(PathBuf::from).collect();
        let mut asked = PlanRequest { file, choices: Choices::default(), targets };
        asked.vary_cpu_settings(system).map_err(|usage| usage.0)?;
        Ok(asked)
    }

    #[test]
    fn machine_without_cpu_settings_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let system = System::staged(root.path());
        let why = asked(&["/tmp"], &system).unwrap_err();
        assert!(why.contains("cpufreq") && why.contains("media:p3700-800gb"), "{why}");
        let emulated = asked(&["media:p4800x-375gb"], &system).unwrap();
        assert_eq!(emulated.targets.len(), EMULATED.len());
        let why = asked(&["media:null", "/tmp"], &system).unwrap_err();
        assert!(why.contains("2 are named"), "{why}");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test makes a machine of its own")]
    fn settings_of_machine_become_prepared_variants() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("sys/devices/system/cpu/cpu0/cpufreq");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("scaling_governor"), "schedutil\n").unwrap();
        let found = asked(&["/tmp"], &System::staged(root.path())).unwrap();
        let variants = found.variants().unwrap();
        assert!(found.targets.is_empty());
        let steps: Vec<usize> = variants.iter().map(|v| v.file.host_steps().len()).collect();
        assert_eq!(steps, [0, 1]);
        assert_eq!(found.file.variants[1].name, "performance");
    }
}
