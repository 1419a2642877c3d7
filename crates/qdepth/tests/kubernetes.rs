//! The manifest of docs/recipes/kubernetes.md: its fields are those of the API, its parts name one
//! another, and its container's command line runs in a volume.

use std::collections::BTreeSet;
use std::fs;

use crate::common::{Workspace, sh};
use serde_json::Value;

const PAGE: &str = include_str!("../../../docs/recipes/kubernetes.md");

/// Permitted fields with their paths: of core/v1 PersistentVolumeClaim and batch/v1 Job. The names
/// come from the API, against whose types the manifest was decoded strictly.
const FIELDS: [&str; 33] = [
    "PersistentVolumeClaim.apiVersion",
    "PersistentVolumeClaim.kind",
    "PersistentVolumeClaim.metadata",
    "PersistentVolumeClaim.metadata.name",
    "PersistentVolumeClaim.spec",
    "PersistentVolumeClaim.spec.accessModes",
    "PersistentVolumeClaim.spec.resources",
    "PersistentVolumeClaim.spec.resources.requests",
    "PersistentVolumeClaim.spec.resources.requests.storage",
    "PersistentVolumeClaim.spec.storageClassName",
    "Job.apiVersion",
    "Job.kind",
    "Job.metadata",
    "Job.metadata.name",
    "Job.spec",
    "Job.spec.backoffLimit",
    "Job.spec.template",
    "Job.spec.template.spec",
    "Job.spec.template.spec.containers",
    "Job.spec.template.spec.containers.args",
    "Job.spec.template.spec.containers.image",
    "Job.spec.template.spec.containers.name",
    "Job.spec.template.spec.containers.resources",
    "Job.spec.template.spec.containers.resources.limits.cpu",
    "Job.spec.template.spec.containers.resources.limits.memory",
    "Job.spec.template.spec.containers.resources.requests.cpu",
    "Job.spec.template.spec.containers.resources.requests.memory",
    "Job.spec.template.spec.containers.volumeMounts.mountPath",
    "Job.spec.template.spec.containers.volumeMounts.name",
    "Job.spec.template.spec.restartPolicy",
    "Job.spec.template.spec.securityContext.fsGroup",
    "Job.spec.template.spec.volumes.name",
    "Job.spec.template.spec.volumes.persistentVolumeClaim.claimName",
];

/// The page's manifests.
#[cfg(test)]
fn manifests() -> &'static str {
    PAGE.split_once("```yaml\n").unwrap().1.split("```").next().unwrap()
}

/// Documents of the page; `None`, with the reason printed, without a YAML reader.
#[cfg(test)]
fn manifest(test: &str, workspace: &Workspace) -> Option<[Value; 2]> {
    workspace.write("job.yaml", manifests());
    let read = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(sys.stdin))))";
    let file = workspace.join("job.yaml");
    match sh(&format!("/usr/bin/python3 -c '{read}' <{}", file.display())) {
        Ok(text) => Some(serde_json::from_str(&text).unwrap()),
        Err(why) if why.contains("No module named") || why.contains("not found") => {
            println!("SKIPPED: {test}: python3-yaml is not installed");
            None
        }
        Err(why) => panic!("{why}"),
    }
}

/// Collects the paths of all values below this one.
#[cfg(test)]
fn fields(value: &Value, place: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, below) in object {
                let place = format!("{place}.{name}");
                found.insert(place.clone());
                fields(below, &place, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|below| fields(below, place, found)),
        _ => {}
    }
}

/// A size as Kubernetes or qdepth writes it, in GiB.
#[cfg(test)]
fn gib(text: &str) -> u64 {
    text.trim_end_matches('B').strip_suffix("Gi").unwrap().parse().unwrap()
}

#[test]
fn kubernetes_fields_exist_and_references_match() {
    let test = "kubernetes_fields_exist_and_references_match";
    let workspace = Workspace::new();
    let Some([claim, job]) = manifest(test, &workspace) else { return };
    let mut found = BTreeSet::new();
    fields(&claim, claim["kind"].as_str().unwrap(), &mut found);
    fields(&job, job["kind"].as_str().unwrap(), &mut found);
    let is = |field: &&String| {
        FIELDS.iter().any(|known| *known == **field || known.starts_with(&format!("{field}.")))
    };
    let unknown: Vec<&String> = found.iter().filter(|field| !is(field)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let lost: Vec<&&str> = FIELDS.iter().filter(|field| !found.contains(**field)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!((&claim["apiVersion"], &job["apiVersion"]), (&"v1".into(), &"batch/v1".into()));

    let pod = &job["spec"]["template"]["spec"];
    let [container] = &pod["containers"].as_array().unwrap()[..] else { panic!("{pod}") };
    let [volume] = &pod["volumes"].as_array().unwrap()[..] else { panic!("{pod}") };
    let [mount] = &container["volumeMounts"].as_array().unwrap()[..] else { panic!("{container}") };
    assert_eq!(pod["restartPolicy"], "Never");
    assert_eq!(volume["persistentVolumeClaim"]["claimName"], claim["metadata"]["name"]);
    assert_eq!(mount["name"], volume["name"]);
    assert_eq!(container["resources"]["requests"], container["resources"]["limits"]);

    let image = include_str!("../../../deploy/Dockerfile");
    let user = format!("USER {0}:{0}\n", pod["securityContext"]["fsGroup"]);
    assert!(image.contains(&user), "the volume's group is not the image's user: {image}");
    let folder = format!("WORKDIR {}\n", mount["mountPath"].as_str().unwrap());
    assert!(image.contains(&folder), "the logbook would not be in the volume: {image}");
    let version = env!("CARGO_PKG_VERSION");
    assert!(container["image"].as_str().unwrap().ends_with(&format!(":{version}")));

    let args: Vec<&str> =
        container["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let file = args[args.iter().position(|word| *word == "--file-size").unwrap() + 1];
    let storage = claim["spec"]["resources"]["requests"]["storage"].as_str().unwrap();
    assert!(gib(storage) >= 2 * gib(file), "{storage} for a file of {file}");
}

#[test]
fn container_command_leaves_results_in_the_volume() {
    let test = "container_command_leaves_results_in_the_volume";
    let workspace = Workspace::new();
    let Some([_, job]) = manifest(test, &workspace) else { return };
    let args = &job["spec"]["template"]["spec"]["containers"][0]["args"];
    let args: Vec<&str> =
        args.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let here = workspace.path().display().to_string();
    let words = args.join(" ").replace("/data", &here).replace("8GiB", "16MiB");
    let document =
        workspace.run(&format!("{words} --duration 60ms --warm-up 10ms")).expect_finished();
    assert!(!document.json()["points"].as_array().unwrap().is_empty());
    let left = fs::read_dir(workspace.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: BTreeSet<String> = left.map(|name| name.into_string().unwrap()).collect();
    // The first three files come from the test itself.
    let wanted = ["1.err", "1.out", "job.yaml", "qdepth-report.html", "qdepth.db"];
    assert_eq!(left, wanted.map(str::to_owned).into());
}
