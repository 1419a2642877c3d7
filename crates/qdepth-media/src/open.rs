//! Builds a target from an expression: reads, checks and combines device models.

use std::collections::BTreeMap;

use qdepth_measure::{Bytes, Seed};
use qdepth_workload::{Extent, STANDARD_AREA, TargetShape};

use crate::catalogue;
use crate::checked::Checked;
use crate::description::Description;
use crate::emulated::Emulated;
use crate::error::MediaError;
use crate::expression::{
    Area, Arrangement, Expression, Overrides, Wrapper, is_file, read, setting_names,
};
use crate::hdd::Hdd;
use crate::host::Host;
use crate::known::ErrorModel;
use crate::load::{MediaLoad, OpenMedia, loaded_bytes};
use crate::node::{Array, Layout, Node, Queue};
use crate::parameter::{Values, of_hosts, parameters};
use crate::pressure::Pressured;
use crate::simple::{Servers, Volume};
use crate::single::StreamRoute;
use crate::ssd::{Ssd, Wear};

/// Default stripe of an operating system's RAID, bytes (ioDrive paper of 2013, section "PCIe-SSDs
/// in the RAID array").
const STRIPE: u64 = 64 << 10;
/// Value of `@host=` for no host.
const NO_HOST: &str = "none";

/// Parsed and checked target expression.
#[derive(Clone, Debug)]
pub struct TargetExpression {
    text: String,
    form: Expression,
    overrides: Overrides,
    host: Option<Values>,
    /// Device models that are not built in, by path.
    own: BTreeMap<String, Description>,
}

impl TargetExpression {
    /// Sets the wear of all drives, overriding that of the expression.
    pub fn set_wear(&mut self, wear: Wear) {
        self.overrides.wear = Some(wear);
    }

    /// Parses and checks everything that does not depend on the load. Only built-in device models
    /// are available.
    ///
    /// # Errors
    /// If a name is unknown, a value is out of range, or an array is invalid.
    pub fn read(expression: &str) -> Result<Self, MediaError> {
        Self::read_with(expression, &|_| Err("description files are not read here".to_owned()))
    }

    /// Like [`read`](Self::read), but with device model files. `file` returns the text of a file,
    /// or the reason why it cannot be read.
    ///
    /// # Errors
    /// Like [`read`](Self::read); also if a description file cannot be read or is invalid.
    pub fn read_with(
        expression: &str,
        file: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Self, MediaError> {
        let (form, overrides) = read(expression)?;
        let mut own = BTreeMap::new();
        let names = form.media();
        for name in names.into_iter().map(|(name, _)| name).filter(|name| is_file(name)) {
            let text =
                file(&name).map_err(|why| MediaError::Description { name: name.clone(), why })?;
            own.insert(name.clone(), Description::read(&name, &text)?);
        }
        let host = match overrides.host.as_deref() {
            Some(NO_HOST) => None,
            Some(name) => Some(part("host", name)?.1),
            None => match own_computer(&form, &own)? {
                Some(computer) => Some(computer),
                None => {
                    default_host(&form, &own)?.map(|name| Ok(part("host", &name)?.1)).transpose()?
                }
            },
        };
        let target = Self { text: expression.trim().to_owned(), form, overrides, host, own };
        let (streams, area) = (target.shape()?.parts, Extent::default());
        let load = MediaLoad { queue_depth: 1, streams, area, alignment: 1 };
        target.open(&OpenMedia { seed: 0, loads: vec![load], wear: None })?;
        Ok(target)
    }

    /// Overrides a parameter of every device and host in the expression, like `@name=value`.
    pub fn set_parameter(&mut self, name: &str, value: f64) {
        self.overrides.parameters.insert(name.to_owned(), value);
    }

    /// Error model of each fitted device model, by name; and true if there are other models, too.
    pub fn error_models(&self) -> (Vec<(String, &ErrorModel)>, bool) {
        let names = self.form.media();
        let fitted: Vec<(String, &ErrorModel)> = names
            .iter()
            .filter_map(|(name, _)| Some((name.clone(), self.own.get(name)?.fit.as_ref()?)))
            .collect();
        let others = fitted.len() < names.len();
        (fitted, others)
    }

    /// Validation of each device model, by name.
    pub fn checked(&self) -> Vec<(String, Checked)> {
        let medium = |(name, _): (String, _)| {
            let checked = described(&name, &self.own).ok()?.checked();
            Some((name, checked))
        };
        self.form.media().into_iter().filter_map(medium).collect()
    }

    /// Parameter of a device model file of the expression.
    pub fn parameter(&self, medium: &str, name: &str) -> Option<f64> {
        Some(self.own.get(medium)?.parameters.get(name)?.value)
    }

    /// Number of drives in the expression.
    pub fn drives(&self) -> usize {
        self.form.drives()
    }

    /// Text of the expression.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All parameters in use: device or `host`, parameter, value with unit.
    pub fn facts(&self) -> Vec<(String, String, String)> {
        let mut facts = Vec::new();
        let names = self.form.media();
        for (name, format) in names {
            let Ok((kind, values)) = self.values(&name, format.as_deref()) else { continue };
            let label = format.as_ref().map_or(name.clone(), |format| format!("{name}/{format}"));
            push_facts(&label, &kind, &values, &mut facts);
            let Ok(description) = described(&name, &self.own) else { continue };
            let product = description.name_of(format.as_deref());
            facts.push((label.clone(), "product".to_owned(), product));
            let checked = description.checked().code().to_owned();
            facts.push((label.clone(), "checked".to_owned(), checked));
            facts.extend(description.data_sheet.promises().map(|(key, promise, unit)| {
                (label.clone(), format!("data_sheet_{key}"), format!("{} {unit}", promise.value))
            }));
        }
        if let Ok(Some(values)) = self.host_values() {
            push_facts("host", "host", &values, &mut facts);
        }
        facts
    }

    /// Size, parts and default area.
    ///
    /// # Errors
    /// If the area exceeds the capacity, or the partitions do not fit.
    pub fn shape(&self) -> Result<TargetShape, MediaError> {
        let (capacity, block_bytes) = self.size(&self.form)?;
        let (mut parts, mut each) = (1, capacity);
        if let Expression::Independent(members) = &self.form {
            parts = members.len() as u32;
            each = capacity / u64::from(parts);
        }
        if let Some(processes) = self.overrides.processes {
            parts *= processes;
            each /= u64::from(processes);
        }
        each -= each % (1 << 20);
        let area_bytes = match self.overrides.area {
            Area::Standard => STANDARD_AREA.0.min(each),
            Area::Full => each,
            Area::Of(bytes) if bytes <= each => bytes,
            Area::Of(bytes) => {
                let why = format!(
                    "the target has only {}. Use a smaller area, or @area=full",
                    Bytes(each).for_people()
                );
                return Err(MediaError::expression(&format!("@area={}", Bytes(bytes)), why));
            }
        };
        let usable = Extent { offset_bytes: 0, length_bytes: each * u64::from(parts) };
        Ok(TargetShape { usable, block_bytes, parts, area_bytes, holds_files: false })
    }

    /// Capacity in bytes and block size of a form.
    fn size(&self, form: &Expression) -> Result<(u64, u32), MediaError> {
        if let Expression::Medium { name, format } = form {
            let values = self.values(name, format.as_deref())?.1;
            let bytes = (values.get("capacity_gb") * 1e9) as u64;
            return Ok((bytes, values.get("block_bytes") as u32));
        }
        let sizes: Vec<(u64, u32)> =
            form.members().iter().map(|member| self.size(member)).collect::<Result<_, _>>()?;
        let least = sizes.iter().map(|s| s.0).min().unwrap_or(0);
        let block_bytes = sizes.iter().map(|s| s.1).max().unwrap_or(512);
        let count = sizes.len() as u64;
        let bytes = match form {
            // One stripe less, because a file may begin within a stripe.
            Expression::Array { kind, .. } => least * kind.data(count) - STRIPE.min(least),
            _ => least * count,
        };
        Ok((bytes, block_bytes))
    }

    fn values(&self, medium: &str, format: Option<&str>) -> Result<(String, Values), MediaError> {
        let description = described(medium, &self.own)?;
        let error_models = parameters(&description.kind).unwrap_or_default();
        let given = &self.overrides.parameters;
        // A name after `@` may also be a parameter of the host.
        let unknown = given.keys().find(|given| {
            !error_models.iter().chain(of_hosts()).any(|parameter| parameter.name == given.as_str())
        });
        if let Some(name) = unknown {
            let names =
                setting_names().chain(error_models.iter().chain(of_hosts()).map(|p| p.name));
            let listed_by = format!("`qdepth media {medium}` lists the parameters");
            return Err(MediaError::unknown_of("setting or parameter", name, names, &listed_by));
        }
        let own = given
            .iter()
            .filter(|(name, _)| error_models.iter().any(|p| p.name == name.as_str()))
            .map(|(name, value)| (name.clone(), *value))
            .collect();
        Ok((description.kind.clone(), description.numbers(medium, format, &own)?))
    }

    /// Opens the target for a load.
    ///
    /// # Errors
    /// Like [`read`](Self::read).
    pub fn open(&self, options: &OpenMedia) -> Result<Emulated, MediaError> {
        self.open_together(options, &[])
    }

    /// Opens this target and others on one host, each with concurrent loads of its own. Slots are
    /// numbered consecutively.
    ///
    /// # Errors
    /// Like [`read`](Self::read).
    pub fn open_together(
        &self,
        options: &OpenMedia,
        others: &[(&Self, &OpenMedia)],
    ) -> Result<Emulated, MediaError> {
        let (mut nodes, mut routes, mut drives) = (Vec::new(), Vec::new(), Vec::new());
        let mut queue_depth: Vec<u32> = Vec::new();
        for (target, options) in std::iter::once(&(self, options)).chain(others) {
            let own = target.nodes(options)?;
            let before = nodes.len();
            let shape = target.shape()?;
            for load in &options.loads {
                let of_load = Self::routes(&shape, load, own.len()).into_iter();
                let moved = |route: StreamRoute| StreamRoute { node: before + route.node, ..route };
                routes.extend(of_load.map(moved));
                queue_depth.extend(std::iter::repeat_n(load.queue_depth, load.streams as usize));
            }
            drives.push(own.len());
            nodes.extend(own);
        }
        let (values, streams) = (self.host_values()?, routes.len());
        let bound = values.as_ref().map_or(0, |values| values.get("equal_work") as u64);
        let host = values.map_or_else(
            || Host::none(streams),
            |values| Host::new(&values, self.overrides.ghz, self.overrides.settings, streams),
        );
        Ok(Emulated::new(host, nodes, drives, routes, &queue_depth, bound))
    }

    /// True if both targets use the same host and settings, so that concurrent loads share it.
    pub fn shares_host(&self, other: &Self) -> bool {
        let host_settings = |target: &Self| {
            (target.host_values().ok(), target.overrides.ghz, target.overrides.settings)
        };
        self.host.is_some() && host_settings(self) == host_settings(other)
    }

    /// Nodes of the target, one per independent drive.
    fn nodes(&self, options: &OpenMedia) -> Result<Vec<Node>, MediaError> {
        let shape = self.shape()?;
        let fewest = options.loads.iter().map(|load| load.streams).min().unwrap_or(0);
        if fewest < shape.parts {
            return Err(MediaError::range(
                format!("streams on `{}`", self.text),
                fewest.to_string(),
                [f64::from(shape.parts), 512.0],
                "(each part has its own streams)",
            ));
        }
        let members = match &self.form {
            Expression::Independent(members) => members.as_slice(),
            single => std::slice::from_ref(single),
        };
        let mut maker = Maker { target: self, options, created: 0 };
        let parts = f64::from(shape.parts.max(1));
        let share = parts / members.len() as f64;
        let area = loaded_bytes(&options.loads) as f64 / parts * share;
        members.iter().map(|member| maker.node(member, area)).collect()
    }

    /// Parameters of the host, with those after `@`; `None` without a host.
    fn host_values(&self) -> Result<Option<Values>, MediaError> {
        let Some(host) = &self.host else { return Ok(None) };
        let of_host = |name: &str| of_hosts().iter().any(|p| p.name == name);
        let mut given: BTreeMap<String, f64> =
            host.iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let overrides = self.overrides.parameters.iter().filter(|(name, _)| of_host(name));
        given.extend(overrides.map(|(name, value)| (name.clone(), *value)));
        Values::complete("host", of_hosts(), &given).map(Some)
    }

    /// Routes of the streams of a load: round-robin over the independent drives, then over their
    /// partitions.
    fn routes(shape: &TargetShape, load: &MediaLoad, nodes: usize) -> Vec<StreamRoute> {
        let streams = load.streams.max(1);
        let part = load.area.length_bytes / u64::from(streams);
        let part = part - part % load.alignment.max(1);
        let on_each = u64::from(streams).div_ceil(nodes as u64);
        let partitions = u64::from(shape.parts) / nodes as u64;
        let partition_bytes = shape.usable.length_bytes / u64::from(shape.parts);
        (0..streams)
            .map(|stream| {
                let row = u64::from(stream) / nodes as u64;
                let (partition, within) = if on_each >= partitions {
                    (row % partitions, row / partitions)
                } else {
                    (row, 0)
                };
                StreamRoute {
                    node: stream as usize % nodes,
                    from: load.area.offset_bytes + u64::from(stream) * part,
                    to: load.area.offset_bytes + partition * partition_bytes + within * part,
                }
            })
            .collect()
    }
}

fn push_facts(
    subject: &str,
    kind: &str,
    values: &Values,
    into: &mut Vec<(String, String, String)>,
) {
    for parameter in parameters(kind).unwrap_or_default() {
        let value = format!("{} {}", values.get(parameter.name), parameter.unit);
        into.push((subject.to_owned(), parameter.name.to_owned(), value.trim_end().to_owned()));
    }
}

/// Device model of this name, from the user's files or built in.
fn described(name: &str, own: &BTreeMap<String, Description>) -> Result<Description, MediaError> {
    own.get(name).map_or_else(|| Description::shipped(name), |found| Ok(found.clone()))
}

/// Host parameters of the first device model that contains those of its measuring computer.
fn own_computer(
    form: &Expression,
    own: &BTreeMap<String, Description>,
) -> Result<Option<Values>, MediaError> {
    let names = form.media();
    let found = names.iter().find_map(|(name, _)| {
        let computer = &own.get(name)?.computer;
        (!computer.is_empty()).then_some((name, computer))
    });
    let Some((name, computer)) = found else { return Ok(None) };
    let given = computer.iter().map(|(name, figure)| (name.clone(), figure.value)).collect();
    Values::complete(&format!("{name}: computer"), of_hosts(), &given).map(Some)
}

fn default_host(
    form: &Expression,
    own: &BTreeMap<String, Description>,
) -> Result<Option<String>, MediaError> {
    match form {
        Expression::Medium { name, .. } => Ok(described(name, own)?.host),
        Expression::Array { kind: Arrangement::Layer(name), .. } => Ok(part("layer", name)?.0.host),
        other => other.members().first().map_or(Ok(None), |member| default_host(member, own)),
    }
}

/// Builds the nodes of a target, and counts drives so that each gets its own wear and seed.
struct Maker<'a> {
    target: &'a TargetExpression,
    options: &'a OpenMedia,
    created: usize,
}

impl Maker<'_> {
    /// Node of an expression with a load on `area` bytes.
    fn node(&mut self, form: &Expression, area: f64) -> Result<Node, MediaError> {
        match form {
            Expression::Medium { name, format } => self.medium(name, format.as_deref(), area),
            Expression::Array { kind, members, stripe } => self.array(kind, members, *stripe, area),
            Expression::Independent(_) => Err(MediaError::expression(
                &self.target.text,
                "independent(…) must be the outermost: each of its drives has its own streams",
            )),
            Expression::Wrapped(member, Wrapper::Pressure(bytes_per_s)) => {
                // The writes cover the whole drive, like those of the paper.
                let capacity = self.target.size(member)?.0;
                let node = self.node(member, capacity as f64)?;
                let Node::Ssd(ssd) = node else {
                    return Err(MediaError::expression(
                        &self.target.text,
                        "pressure(…) must directly enclose one solid-state drive",
                    ));
                };
                let pressured = Pressured::new(*ssd, *bytes_per_s, capacity, self.options.seed);
                Ok(Node::Pressured(Box::new(pressured)))
            }
            Expression::Wrapped(member, Wrapper::Delay(length)) => {
                Ok(Node::wrapped(self.node(member, area)?, None, *length))
            }
            Expression::Wrapped(member, Wrapper::Fault(fault)) => {
                Ok(Node::wrapped(self.node(member, area)?, Some(*fault), 0))
            }
        }
    }

    fn medium(&mut self, name: &str, format: Option<&str>, area: f64) -> Result<Node, MediaError> {
        let (kind, values) = self.target.values(name, format)?;
        let number = self.created;
        self.created += 1;
        let seed = Seed(self.options.seed).derive("medium").derive(&number.to_string());
        Ok(match kind.as_str() {
            "hdd" => Node::Hdd(Box::new(Hdd::new(&values))),
            "servers" => Node::Servers(Box::new(Servers::new(&values, seed.0))),
            "volume" => Node::Volume(Box::new(Volume::new(&values))),
            _ => {
                let carried = self.options.wear.as_ref().and_then(|w| w.get(number).copied());
                let wear = carried.or(self.target.overrides.wear).unwrap_or(Wear::STEADY);
                Node::Ssd(Box::new(Ssd::new(&values, area as u64, wear)))
            }
        })
    }

    fn array(
        &mut self,
        kind: &Arrangement,
        members: &[Expression],
        stripe: Option<u64>,
        area: f64,
    ) -> Result<Node, MediaError> {
        let share = 1.0 / kind.data(members.len() as u64) as f64;
        let mut nodes =
            members.iter().map(|m| self.node(m, area * share)).collect::<Result<Vec<_>, _>>()?;
        let host = self.target.host_values()?;
        let start = host.map_or(0.0, |host| host.get("file_start_bytes"));
        let stripe_bytes = stripe.unwrap_or(STRIPE);
        let start = start as u64 % stripe_bytes;
        let array = match kind {
            Arrangement::Raid0 => Array::new(Layout::Striped, nodes, stripe_bytes, start),
            Arrangement::Raid1 => Array::new(Layout::Mirrored, nodes, stripe_bytes, 0),
            Arrangement::Raid5 => Array::new(Layout::Parity, nodes, stripe_bytes, start),
            Arrangement::Raid10 => {
                let mut pairs = Vec::new();
                while nodes.len() >= 2 {
                    let pair = nodes.drain(..2).collect();
                    let pair = Array::new(Layout::Mirrored, pair, stripe_bytes, 0);
                    pairs.push(Node::Array(Box::new(pair)));
                }
                Array::new(Layout::Striped, pairs, stripe_bytes, start)
            }
            Arrangement::Layer(name) => {
                let values = part("layer", name)?.1;
                let stripe = stripe.unwrap_or((values.get("stripe_kib") * 1024.0) as u64);
                Array::new(Layout::Striped, nodes, stripe, 0).below(Queue::new(&values))
            }
        };
        Ok(Node::Array(Box::new(array)))
    }
}

/// Built-in `host` or volume `layer`, with the values of its parameters.
fn part(kind: &str, name: &str) -> Result<(Description, Values), MediaError> {
    let text = catalogue::part_text(kind, name)
        .ok_or_else(|| MediaError::unknown(kind, name, catalogue::part_names(kind)))?;
    let description = Description::read(name, text)?;
    let values = description.numbers(name, None, &BTreeMap::new())?;
    Ok((description, values))
}
