// A run as it is measured: each event of the run (docs/events.md) changes what it is about.
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
  let run = null, started = new Map(), rates = [], done = 0;

  function reset() {
    started = new Map(); rates = []; done = 0;
    part("rows").replaceChildren(); part("findings").replaceChildren();
  }
  function load(point) {
    return point.profile_title + " × " + point.outstanding + (point.step ? " " + point.step : "");
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
    const tr = document.createElement("tr");
    cells.forEach((text, at) => {
      const cell = document.createElement(at === 0 ? "th" : "td");
      if (at === 0) cell.scope = "row";
      cell.className = at > 1 && at < 6 ? "num" : at === 6 ? "mid" : "text";
      cell.textContent = text;
      tr.append(cell);
    });
    part("rows").prepend(tr);
  }
  const of = {
    "run-started"(e) {
      reset(); run = e; done = e.points_done;
      part("emulated").hidden = !e.emulated;
      part("plan").textContent = e.plan + " · " + e.targets.join(", ");
      part("points").textContent = done + "/" + e.points;
      progress(0);
    },
    "point-started"(e) {
      started.set(e.point, e);
      part("phase").textContent = (e.point + 1) + ". " + load(e);
      progress(e.planned_before_ns);
    },
    "interval"(e) {
      const seconds = e.length_ns / 1e9, ios = e.reads + e.writes + e.trims;
      const rate = ios / seconds;
      part("rate").textContent = number.format(rate);
      part("throughput").textContent = fine.format((e.read_bytes + e.written_bytes + e.trimmed_bytes) / seconds / 1048576);
      part("latency").textContent = time(e.response_time_mean_ns ?? e.service_time_mean_ns);
      rates.push(rate); if (rates.length > 60) rates.shift();
      const point = started.get(e.point);
      if (point) progress(point.planned_before_ns + point.warm_up_ns + e.end_ns);
      chart();
    },
    "point-ended"(e) {
      const point = started.get(e.point);
      done += 1;
      part("points").textContent = done + "/" + (run ? run.points : "");
      row([String(e.point + 1), point ? load(point) : "", number.format(e.io_per_s), fine.format(e.mib_per_s),
        time(e.response_time_mean_ns), time(e.response_time_p99_ns), e.grade]);
    },
    "finding-raised"(e) {
      const item = document.createElement("li");
      item.textContent = (e.point === null ? "" : (e.point + 1) + ". ") + e.code + (e.severity === "invalid" ? " (C)" : "");
      part("findings").append(item);
    },
    "run-ended"(e) {
      part("phase").textContent = root.dataset.ended;
      part("left").textContent = "";
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
