//! Workflows, action, image and manifests: each is accepted by a linter for its format, which
//! rejects a broken copy. `cargo xtask test` fetches the linters.

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::common::{Workspace, program, sh};

    const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

    fn text(file: &str) -> String {
        fs::read_to_string(format!("{ROOT}/{file}")).unwrap()
    }

    /// Asserts that the tool accepts the files, and rejects each with `right` replaced by `wrong`.
    #[track_caller]
    fn is_checked(tool: &str, files: &[&str], right: &str, wrong: &str) {
        let tools = format!("{}/../readers/bin", env!("CARGO_TARGET_TMPDIR"));
        let name = tool.split(' ').next().unwrap();
        if sh(&format!("test -x '{tools}'/{name}")).is_err() {
            println!("SKIPPED: {files:?}: {name} is not there; `cargo xtask test` fetches it");
            return;
        }
        let workspace = Workspace::new();
        for file in files {
            let accepted = sh(&format!("'{tools}'/{tool} '{ROOT}'/{file} 1>&2"));
            assert!(accepted.is_ok(), "{accepted:?}");
            assert!(text(file).contains(right), "{file}");
            workspace.write("broken.yml", &text(file).replace(right, wrong));
            let broken = workspace.join("broken.yml");
            let refused = sh(&format!("'{tools}'/{tool} {} 1>&2", broken.display()));
            assert!(refused.is_err(), "{name} accepts a broken {file}");
        }
    }

    #[test]
    fn actionlint_accepts_the_workflows() {
        let files = [".github/workflows/ci.yml", ".github/workflows/release.yml"];
        is_checked("actionlint", &files, "runs-on:", "runs-at:");
    }

    #[test]
    fn compare_action_matches_the_action_schema() {
        let tool = "check-jsonschema --builtin-schema vendor.github-actions";
        is_checked(tool, &[".github/actions/compare/action.yml"], "using:", "uses:");
    }

    #[test]
    fn hadolint_accepts_the_images() {
        is_checked("hadolint", &["deploy/Dockerfile"], "WORKDIR /data", "WORKDIR data");
        is_checked("hadolint", &["deploy/Dockerfile.mpi"], "USER 1000", "USER");
    }

    #[test]
    fn manifests_match_the_kubernetes_schemas() {
        let files = ["deploy/kubernetes/claim.yaml", "deploy/kubernetes/job.yaml"];
        is_checked("kubernetes-validate --strict", &files, "spec:", "specs:");
    }

    /// The pods of the MPI job are checked as pods, and the fields around them against those of
    /// `kubeflow.org/v2beta1`, whose schema is not among the linter's.
    #[test]
    fn mpi_job_matches_the_operator_fields() {
        let tools = format!("{}/../readers/bin", env!("CARGO_TARGET_TMPDIR"));
        let workspace = Workspace::new();
        workspace.write(
            "pods.py",
            "import sys, yaml, json\n\
             job = yaml.safe_load(open(sys.argv[1]))\n\
             spec = job['spec']\n\
             for name, replica in spec['mpiReplicaSpecs'].items():\n\
             \x20   pod = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name.lower()}}\n\
             \x20   pod |= replica.pop('template')\n\
             \x20   json.dump(pod, open(name + '.json', 'w'))\n\
             print(job['apiVersion'], job['kind'], sorted(spec), spec['runPolicy'], end=' ')\n\
             print(spec['mpiReplicaSpecs'])\n",
        );
        let job = format!("{ROOT}/deploy/kubernetes/mpijob.yaml");
        let folder = workspace.path().display();
        let around = sh(&format!("cd '{folder}' && /usr/bin/python3 pods.py '{job}'"));
        if around.as_ref().is_err_and(|why| why.contains("No module named")) {
            println!("SKIPPED: the MPI job: python3-yaml is not installed");
            return;
        }
        assert_eq!(
            around.as_deref().map(str::trim),
            Ok("kubeflow.org/v2beta1 MPIJob ['launcherCreationPolicy', 'mpiReplicaSpecs', \
                'runPolicy', 'slotsPerWorker', 'sshAuthMountPath'] \
                {'cleanPodPolicy': 'Running', 'backoffLimit': 0} \
                {'Launcher': {}, 'Worker': {'replicas': 4}}")
        );
        let validate = format!("'{tools}'/kubernetes-validate --strict");
        if sh(&format!("test -x '{tools}'/kubernetes-validate")).is_err() {
            println!("SKIPPED: pods of the MPI job: `cargo xtask test` fetches the linter");
            return;
        }
        let valid = sh(&format!("cd '{folder}' && {validate} Launcher.json Worker.json 1>&2"));
        assert!(valid.is_ok(), "{valid:?}");
        sh(&format!("cd '{folder}' && sed -i s/containers/container/ Worker.json")).unwrap();
        assert!(sh(&format!("cd '{folder}' && {validate} Worker.json 1>&2")).is_err());
    }

    #[test]
    fn mpi_job_command_runs_in_the_volume() {
        let job = text("deploy/kubernetes/mpijob.yaml");
        let (_, args) = job.split_once("args: [qdepth, ").unwrap();
        let words = args.split_once(']').unwrap().0.replace(", ", " ");
        let workspace = Workspace::new();
        let words = words.replace("/data", ".").replace("4GiB", "16MiB");
        workspace.run(&format!("{words} --threads 1,2")).expect_finished();
        assert!(
            workspace.join("qdepth.db").exists() && workspace.join("qdepth-report.html").exists()
        );
        assert!(job.contains("workingDir: /data"), "the logbook would not be in the volume");
    }

    #[test]
    fn kubernetes_page_shows_the_manifests() {
        let page = text("docs/recipes/kubernetes.md");
        let kustomization = text("deploy/kubernetes/kustomization.yaml");
        for file in ["claim.yaml", "job.yaml"] {
            assert!(page.contains(&text(&format!("deploy/kubernetes/{file}"))), "{file}");
            assert!(kustomization.contains(file), "{file}");
        }
    }

    #[test]
    fn compare_action_exits_with_the_comparison_status() {
        let action = text(".github/actions/compare/action.yml");
        let (_, step) = action.split_once("- id: compare").unwrap();
        let (_, script) = step.split_once("run: |\n").unwrap();
        let workspace = Workspace::new();
        workspace.write("compare.sh", script);
        let plan = "run quick --profile database --queue-depth 8 --duration 60ms --no-report";
        for (logbook, medium) in [("a.db", "p3700-800gb"), ("c.db", "iodrive-320gb")] {
            for seed in 0..3 {
                let words = format!("{plan} media:{medium} --seed {seed} --logbook {logbook}");
                workspace.run(&words).expect(0);
            }
        }
        let ends = |runs: &str, inconclusive: &str| {
            let (folder, program) = (workspace.path().display(), program());
            sh(&format!(
                "cd {folder} && ln -sf {program} qdepth && PATH=$PWD:$PATH BEFORE=a.db:{runs} \
                 AFTER=c.db:{runs} THRESHOLD=2% INCONCLUSIVE={inconclusive} GITHUB_OUTPUT=out \
                 GITHUB_STEP_SUMMARY=sum bash -e compare.sh; echo $?"
            ))
        };
        assert_eq!(ends("all", "fail").as_deref(), Ok("1"));
        assert_eq!(ends("latest", "fail").as_deref(), Ok("5"));
        assert_eq!(ends("latest", "pass").as_deref(), Ok("0"));
        assert_eq!(
            fs::read_to_string(workspace.join("out")).unwrap(),
            "status=1\nstatus=5\nstatus=5\n"
        );
        assert!(fs::read_to_string(workspace.join("sum")).unwrap().contains("B is slower in"));
    }
}
