//! The plan of a command line.

use super::Ior;

impl Ior {
    /// The plan in TOML, on as many targets as there are [`names`](Self::names), for so many tasks.
    pub fn plan(&self, tasks: u32) -> String {
        let files = if self.file_per_process { "per-stream" } else { "shared" };
        let duration = if self.deadline_s > 0 { self.deadline_s } else { 86_400 };
        let mut text = format!(
            "name = \"ior\"\ntitle = \"IOR\"\ntargets = \"together\"\nfiles = \"{files}\"\n\
             seed = {}\n\
             warm_up = \"0s\"\nduration = \"{duration}s\"\nbytes_per_stream = \"{}B\"\n",
            self.seed(),
            self.bytes_per_task()
        );
        let targets = self.names().len() as u32;
        let name = |path: &String| path.rsplit('/').next().unwrap_or_default().to_owned().into();
        let names = toml::Value::Array(self.names().iter().map(name).collect());
        let keep = self.keep || !self.writes;
        text.push_str(&format!("file_names = {names}\nkeep_files = {keep}\n"));
        if self.multi_file {
            text.push_str(&format!("file_suffix = \"{}\"\n", self.suffix()));
        }
        if let Some(signature) = self.signature {
            text.push_str(&format!("stamp = {signature}\n"));
        }
        let share = |target: u32| tasks / targets + u32::from(target < tasks % targets);
        let on: Vec<u32> = (0..targets).filter(|target| share(*target) > 0).collect();
        let phases = self.phases();
        for phase in &phases {
            for target in &on {
                text.push_str(&self.profile(phase, *target + 1, share(*target)));
            }
        }
        for repetition in 1..=self.repetitions {
            for phase in &phases {
                let loads: Vec<String> = on.iter().map(|on| self.load(phase, on + 1)).collect();
                text.push_str(&format!(
                    "\n[[step]]\ntitle = \"{phase}, repetition {}\"\nload = [{}]\n",
                    repetition + self.repetition,
                    loads.join(", ")
                ));
            }
        }
        text
    }

    /// What the order of requests comes from; TOML's whole numbers have a sign.
    fn seed(&self) -> u64 {
        let said = self.random_seed.or(Some(self.reorder_seed).filter(|seed| *seed != 0));
        let signature = self.signature.map(i64::from);
        said.or(signature).map_or(1, |seed| seed.unsigned_abs() >> 1)
    }

    fn phases(&self) -> Vec<&'static str> {
        let all = [("write", self.writes), ("check", self.check_write), ("read", self.reads)];
        all.into_iter().filter_map(|(phase, asked)| asked.then_some(phase)).collect()
    }

    fn load(&self, phase: &str, target: u32) -> String {
        let mut text =
            format!("{{ profile = \"ior-{phase}-{target}\", outstanding = 1, target = {target}");
        if self.delay_s > 0 && phase != "check" {
            text.push_str(&format!(", delay = \"{}s\"", self.delay_s));
        }
        if self.wear_out {
            text.push_str(", catches_up = true");
        }
        text + " }"
    }

    fn profile(&self, phase: &str, target: u32, tasks: u32) -> String {
        let read = if phase == "write" { 0 } else { 100 };
        // What bears a number is held against it by a later run.
        let checked = self.check_read || self.check_write || self.signature.is_some();
        let verify = checked && (phase != "read" || self.check_read);
        let order = match self.random {
            0 => "random = 0".to_owned(),
            1 => "random = 100\ndistribution = { kind = \"each-once\" }".to_owned(),
            _ => format!("random = {}", 100.0 * self.transfer as f64 / self.block as f64),
        };
        let fsync = match (phase, self.fsync_each, self.fsync) {
            ("write", true, _) => "{ kind = \"every\", writes = 1 }",
            ("write", false, true) => "{ kind = \"end\" }",
            _ => "{ kind = \"never\" }",
        };
        let apart = self.file_per_process || self.there.is_some();
        let segments = if apart { 1 } else { self.segments_used() };
        format!(
            "\n[[profile]]\nname = \"ior-{phase}-{target}\"\ntitle = \"{phase}\"\n{order}\n\
             read = {read}\n\
             request_size = \"{0}B\"\nalignment = \"{0}B\"\narea = {{ size = \"{1}B\" }}\n\
             streams = {tasks}\nworkers = {tasks}\nsegments = {segments}\ndirect = {2}\n\
             fsync = {fsync}\nverify = {verify}\nreported_as = \"throughput\"\n",
            self.transfer,
            self.room_per_task().saturating_mul(u64::from(tasks)),
            self.direct,
        )
    }
}
