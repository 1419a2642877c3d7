//! Every device, format and wrapper under the same conformance suite as real targets.

use qdepth_engine::conformance::check;
use qdepth_media::{Description, MediaLoad, OpenMedia, TargetExpression, catalogue};
use qdepth_workload::Extent;

/// Opens a device as a load with this many I/Os in flight would.
#[cfg(test)]
fn opened(expression: &str, slots: u32) -> qdepth_media::Emulated {
    let medium = TargetExpression::read(expression).unwrap_or_else(|e| panic!("{expression}: {e}"));
    let shape = medium.shape().unwrap();
    let area = Extent { offset_bytes: 0, length_bytes: shape.area_bytes * u64::from(shape.parts) };
    let load =
        MediaLoad { queue_depth: slots / shape.parts, streams: shape.parts, area, alignment: 4096 };
    let options = OpenMedia { seed: 1, loads: vec![load], wear: None };
    medium.open(&options).unwrap()
}

#[cfg(test)]
fn passes(expression: &str) {
    let mut target = opened(expression, 64);
    if let Err(broken) = check(&mut target, 64, 1 << 20) {
        panic!("{expression}: {broken}");
    }
}

#[test]
fn every_device_model_passes_the_conformance_check() {
    for name in catalogue() {
        let description = Description::shipped(name).unwrap();
        passes(&format!("media:{name}"));
        for format in description.formats.keys() {
            passes(&format!("media:{name}/{format}"));
        }
    }
}

#[test]
fn every_array_of_every_kind_passes_conformance_check() {
    for medium in
        ["p3700-800gb", "iodrive-320gb", "sas-12g-hdd-450gb", "fixed", "generic-cloud-volume"]
    {
        for expression in [
            format!("raid0(media:{medium}*2)"),
            format!("raid1(media:{medium}*2)"),
            format!("raid5(media:{medium}*3)"),
            format!("raid10(media:{medium}*4)"),
            format!("raid0(raid1(media:{medium}*2), raid1(media:{medium}*2))"),
            format!("independent(media:{medium}*4)"),
            format!("xfs(media:{medium})"),
            format!("imsm(media:{medium}*12)"),
            format!("gpfs-4m(media:{medium}*12)"),
            format!("delay(media:{medium}, 100us)"),
            format!("fault(media:{medium}, removed=1h)"),
            format!("media:{medium} @processes=4 @cpu=1.6GHz @settings=default @state=fresh"),
            format!(
                "raid5(delay(media:{medium}, 1ms), fault(media:{medium}, hang=1000000), \
                 media:{medium})"
            ),
        ] {
            passes(&expression);
        }
    }
    passes("pressure(media:p3700-1600gb, 500MB/s)");
    passes("independent(raid0(media:p3700-800gb*2), raid0(media:p3700-800gb*2)) @host=uv300");
}
