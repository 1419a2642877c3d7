//! The media, hosts and layers that come with the program: the files of `media/`, embedded.

macro_rules! embed {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../media/", $name, ".toml")))),+]
    };
}

const MEDIA: &[(&str, &str)] = embed!(
    "p3700-800gb",
    "p3700-1600gb",
    "p3700-2tb",
    "iodrive-320gb",
    "iodrive-640gb",
    "iodrive2-1200gb",
    "p4800x-375gb",
    "sas-12g-hdd-450gb",
    "sas-2-hdd-600gb",
    "sata-ssd-64gb",
    "sas-2-ssd-400gb",
    "sas-12g-ssd-400gb",
    "samsung-990-pro-2tb",
    "intel-d7-p5500-7680gb",
    "crucial-t700-2tb",
    "solidigm-d5-p5336-122tb",
    "samsung-870-qvo-4tb",
    "samsung-870-evo-1tb",
    "intel-p5800x-800gb",
    "seagate-exos-x18-18tb",
    "aws-gp2-100gib",
    "aws-gp3-3000",
    "aws-io2-64000",
    "azure-p10",
    "gcp-pd-balanced-1000gib",
    "generic-pcie4-ssd",
    "generic-pcie5-ssd",
    "generic-qlc-ssd",
    "generic-7200rpm-hdd",
    "generic-cloud-volume",
    "null",
    "fixed",
);
const HOSTS: &[(&str, &str)] =
    embed!("host-rx2530-m1", "host-rx600-s5", "host-uv300", "host-fio-e5-2699", "host-linux");
const LAYERS: &[(&str, &str)] =
    embed!("layer-xfs", "layer-md", "layer-imsm", "layer-xvm", "layer-gpfs-1m", "layer-gpfs-4m");

/// Names of the media.
pub fn names() -> impl Iterator<Item = &'static str> {
    MEDIA.iter().map(|(name, _)| *name)
}

/// Names of the hosts, as an expression's `@host=` has them.
pub fn host_names() -> impl Iterator<Item = &'static str> {
    HOSTS.iter().filter_map(|(name, _)| name.strip_prefix("host-"))
}

/// The description of a medium as written.
pub fn text(name: &str) -> Option<&'static str> {
    MEDIA.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The description of a host as written.
pub(crate) fn host_text(name: &str) -> Option<&'static str> {
    HOSTS.iter().find(|(known, _)| known.strip_prefix("host-") == Some(name)).map(|(_, text)| *text)
}

/// Names of the volume layers.
pub(crate) fn layer_names() -> impl Iterator<Item = &'static str> {
    LAYERS.iter().filter_map(|(name, _)| name.strip_prefix("layer-"))
}

/// The description of a volume layer as written.
pub(crate) fn layer_text(name: &str) -> Option<&'static str> {
    LAYERS
        .iter()
        .find(|(known, _)| known.strip_prefix("layer-") == Some(name))
        .map(|(_, text)| *text)
}
