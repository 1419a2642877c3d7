// A run as it is measured: each event of the run (docs/events.md) changes what it is about. The server
// words its codes.
"use strict";
(() => {
  const root = document.getElementById("live");
  const part = (name) => document.getElementById("live-" + name);
  const number = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 0 });
  const fine = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 });
  const time = (ns) => ns === null ? "–" : ns < 1e6 ? fine.format(ns / 1e3) + " µs" : fine.format(ns / 1e6) + " ms";
  const clock = (ns) => {
    const seconds = Math.max(0, Math.round(ns / 1e9));
    return Math.floor(seconds / 60) + ":" + String(seconds % 60).padStart(2, "0");
  };
  const sum = (values) => values.reduce((all, one) => all + one, 0);
  const rateOf = (e) => (e.reads + e.writes + e.trims) / (e.length_ns / 1e9);
  const mibOf = (e) => (e.read_bytes + e.written_bytes + e.trimmed_bytes) / (e.length_ns / 1e9) / 1048576;
  const latencyOf = (e) => e.response_time_mean_ns ?? e.latency_mean_ns;
  const half = (e) => {
    const pair = e.io_per_s_confidence_interval;
    return pair && pair[0] + pair[1] > 0 ? "±" + fine.format(100 * (pair[1] - pair[0]) / (pair[0] + pair[1])) + " %" : "";
  };
  let run = null, started = new Map(), rates = [], done = 0, reached = 0;
  let segment = null, from = null, last = new Map(), machines = new Map();

  function reset() {
    started = new Map(); rates = []; done = 0; segment = null; last = new Map(); machines = new Map();
    part("rows").replaceChildren(); part("findings").replaceChildren();
    part("loads").hidden = true; part("machines").textContent = "";
  }
  function load(point) {
    return point.words ?? point.profile_title + " × " + point.queue_depth;
  }
  function loads() {
    return [...started.values()].filter((point) => segment && point.group === segment.group);
  }
  // What is measured now, and in which phase.
  function phase() {
    const all = loads();
    if (!all.length) return;
    const same = all.every((point) => load(point) === load(all[0]));
    const what = all.length === 1 || same ? load(all[0]) : "";
    const which = all[0].point + 1 + (all.length > 1 ? "–" + (all[all.length - 1].point + 1) : "");
    const passed = from === null ? null : Math.max(0, reached - from);
    const seconds = (ns) => Math.floor(ns / 1e9) + " s";
    const [name, left] = passed === null ? [root.dataset.warmUp, seconds(segment.warm_up_ns)]
      : passed < segment.window_ns
        ? [root.dataset.measuring, seconds(passed) + " / " + (run.may_end_early ? "≤ " : "") + seconds(segment.window_ns)]
        : [root.dataset.waiting, ""];
    // What is read aloud changes with the phase, and not each second.
    const text = which + ". " + what + " · " + name;
    if (part("phase").textContent !== text) part("phase").textContent = text;
    part("time").textContent = left;
    part("loads").hidden = all.length < 2;
    part("now").replaceChildren(...(all.length < 2 ? [] : all.map((point) => {
      const e = last.get(point.point);
      const target = run.targets[point.target] ?? "";
      return line([same ? target : load(point), e ? number.format(rateOf(e)) : "–", e ? half(e) : "",
        e ? fine.format(mibOf(e)) : "–", e ? time(latencyOf(e)) : "–"], (at) => at > 0 ? "num" : "text");
    })));
  }
  function line(cells, kind) {
    const tr = document.createElement("tr");
    cells.forEach((text, at) => {
      const cell = document.createElement(at === 0 ? "th" : "td");
      if (at === 0) cell.scope = "row";
      cell.className = kind(at);
      cell.textContent = text;
      tr.append(cell);
    });
    return tr;
  }
  function progress(ns) {
    if (!run) return;
    const bar = part("progress");
    bar.max = Math.max(1, run.planned_ns); bar.value = Math.min(ns, run.planned_ns);
    part("left").textContent = "−" + clock(run.planned_ns - ns);
  }
  function chart() {
    const [width, height] = [600, 120];
    const top = Math.max(1, ...rates);
    const x = (at) => at * width / 59;
    const y = (rate) => (height - 4 - (height - 8) * rate / top).toFixed(1);
    const first = 60 - rates.length;
    const line = rates.map((rate, at) => x(first + at).toFixed(1) + "," + y(rate));
    part("line").setAttribute("points", line.join(" "));
    part("area").setAttribute("d", line.length
      ? "M" + x(first).toFixed(1) + "," + height + " L" + line.join(" L") + " L" + width + "," + height + " Z" : "");
  }
  function row(cells) {
    part("rows").prepend(line(cells, (at) => at > 1 && at < 6 ? "num" : at === 6 ? "mid" : "text"));
  }
  // Bytes of what is written before the run begins; null where their number is not known before.
  let bytes = null;
  function written(sum) {
    const gib = (n) => fine.format(n / 1073741824) + " GiB";
    part("left").textContent = gib(sum) + (bytes === null ? "" : " / " + gib(bytes));
    part("progress").max = bytes ?? 1; part("progress").value = bytes === null ? 0 : Math.min(sum, bytes);
  }
  const of = {
    "phase-started"(e) {
      bytes = e.bytes;
      part("phase").textContent = root.dataset[e.phase];
      part("time").textContent = e.words ?? e.step;
      if (e.phase !== "preparation") written(0);
    },
    "phase-progress"(e) { written(e.bytes_done); },
    "phase-ended"() { part("time").textContent = ""; part("left").textContent = ""; },
    "run-started"(e) {
      reset(); run = e; done = e.points_done;
      part("emulated").hidden = !e.emulated;
      part("plan").textContent = e.plan + " · " + e.targets.join(", ");
      part("points").textContent = done + "/" + e.points;
      progress(0);
    },
    "point-started"(e) {
      started.set(e.point, e);
      progress(e.planned_before_ns);
    },
    "segment-started"(e) {
      segment = e; from = null; reached = 0; last = new Map();
      progress(e.planned_before_ns);
      phase();
    },
    "sample"(e) {
      last.set(e.point, e);
      const all = [...last.values()];
      const rate = sum(all.map(rateOf));
      part("rate").textContent = number.format(rate);
      part("precision").textContent = all.length === 1 ? half(e) : "";
      part("throughput").textContent = fine.format(sum(all.map(mibOf)));
      const known = all.filter((one) => latencyOf(one) !== null);
      const ios = sum(known.map(rateOf));
      part("latency").textContent = time(ios > 0 ? sum(known.map((one) => latencyOf(one) * rateOf(one))) / ios : null);
      from = from ?? e.end_ns - e.length_ns;
      // Loads at the same time tell of the same second one after the other.
      if (e.end_ns > reached || !rates.length) { rates.push(rate); reached = e.end_ns; } else { rates[rates.length - 1] = rate; }
      if (rates.length > 60) rates.shift();
      if (segment) progress(segment.planned_before_ns + segment.warm_up_ns + Math.max(0, reached - from));
      phase();
      chart();
    },
    "machine"(e) {
      machines.set(e.host, e);
      part("machines").textContent = [...machines.values()].map((one) => {
        const busy = one.values["cpu busy_share"];
        const heat = Object.entries(one.values).filter(([name]) => name.endsWith(" celsius"))
          .map(([name, celsius]) => name.slice(0, -8) + " " + number.format(celsius) + " °C");
        const own = machines.size > 1 ? number.format(one.io_per_s) + " IOPS" : "";
        const cpu = busy === undefined ? "" : "CPU " + number.format(busy * 100) + " %";
        return [one.host, own, cpu, ...heat].filter((text) => text).join("  ");
      }).join("\n");
    },
    "point-ended"(e) {
      const point = started.get(e.point);
      done += 1;
      part("points").textContent = run && !run.search_ns ? done + "/" + run.points : done;
      row([String(e.point + 1), point ? load(point) : "", number.format(e.io_per_s), fine.format(e.mib_per_s),
        time(e.response_time_mean_ns), time(e.response_time_p99_ns), e.grade]);
    },
    "finding-raised"(e) {
      const item = document.createElement("li");
      item.textContent = (e.point === null ? "" : (e.point + 1) + ". ") + (e.severity === "invalid" ? "C: " : "") + (e.words ?? e.code);
      part("findings").append(item);
    },
    "run-ended"(e) {
      part("phase").textContent = root.dataset.ended;
      part("left").textContent = ""; part("time").textContent = "";
      source.close();
    },
  };
  const source = new EventSource(root.dataset.events);
  source.onmessage = (message) => {
    let event;
    // A line that was cut where the file began anew.
    try { event = JSON.parse(message.data); } catch { return; }
    if (of[event.event]) of[event.event](event);
  };
  // The server says that nothing follows: the run ended, or was killed.
  source.addEventListener("end", () => { part("phase").textContent = root.dataset.ended; source.close(); });
  source.onerror = () => { if (source.readyState !== EventSource.CLOSED) part("phase").textContent = root.dataset.lost; };
})();
