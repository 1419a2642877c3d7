//! Permanent names of devices, from sysfs and the udev database.

use crate::sysfs::{self, DeviceNumber};
use crate::system::System;

/// Serial number of a device.
pub(crate) fn serial(system: &System, name: &str, number: DeviceNumber) -> Option<String> {
    ["device/serial", "serial", "dm/uuid", "md/uuid"]
        .iter()
        .find_map(|key| sysfs::attribute(system, name, key))
        .or_else(|| vital_product_serial(system, name))
        .or_else(|| udev_property(system, number, "ID_SERIAL_SHORT"))
        .map(|text| text.split_whitespace().collect::<Vec<_>>().join("_"))
        .filter(|text| text.chars().any(|c| c.is_alphanumeric() && c != '0'))
}

/// SCSI's page 80h: four bytes of header, then the serial.
fn vital_product_serial(system: &System, name: &str) -> Option<String> {
    let whole = sysfs::whole_of(system, name).unwrap_or_else(|| name.to_owned());
    let page = system.read_file(format!("/sys/class/block/{whole}/device/vpd_pg80")).ok()?;
    let text = page.chars().skip(4).collect::<String>().trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// World-wide name of a device.
pub(crate) fn wwid(system: &System, name: &str, number: DeviceNumber) -> Option<String> {
    ["wwid", "device/wwid", "device/wwn", "nguid"]
        .iter()
        .find_map(|key| sysfs::attribute(system, name, key))
        .or_else(|| udev_property(system, number, "ID_WWN_WITH_EXTENSION"))
        .or_else(|| udev_property(system, number, "ID_WWN"))
        .map(|text| text.split_whitespace().collect::<Vec<_>>().join("_"))
}

/// One property of a block device from the udev database.
pub(crate) fn udev_property(system: &System, number: DeviceNumber, key: &str) -> Option<String> {
    let text = system.read_file(format!("/run/udev/data/b{number}")).ok()?;
    text.lines()
        .filter_map(|line| line.strip_prefix("E:")?.split_once('='))
        .find(|(name, _)| *name == key)
        .map(|(_, value)| value.to_owned())
}
