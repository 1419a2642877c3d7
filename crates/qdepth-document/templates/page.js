// Reading aids. Without them the page is whole: they add controls, and change no text. There is no
// "less than" in here, so that a page can be read as XML.
"use strict";
(() => {
  const [FILTER, COPY, COPIED, LINK, SORT, LOG, CONTENTS] = document.querySelector("main").dataset.aids.split("|");
  const MARK = document.body.dataset.mark || "";
  const make = (name, attributes = {}, text = "") => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    return node;
  };
  const button = (text, click) => {
    const node = make("button", { type: "button" }, text);
    node.addEventListener("click", click);
    return node;
  };

  // Links to sections and figures.
  const link = (id, into) =>
    into && into.append("\u00a0", make("a", { class: "anchor aid", href: "#" + id, "aria-label": LINK }, "#"));
  document.querySelectorAll("section[id]").forEach((s) => link(s.id, s.querySelector("h2")));
  document.querySelectorAll("figure[id]").forEach((f) => link(f.id, f.querySelector("figcaption")));

  // Contents that stay in sight.
  const nav = document.querySelector("main header nav");
  if (nav) {
    const contents = make("details", { class: "contents aid" });
    const list = make("nav", { "aria-label": CONTENTS });
    nav.querySelectorAll("a").forEach((a) => list.append(a.cloneNode(true)));
    contents.append(make("summary", {}, CONTENTS), list);
    list.addEventListener("click", () => (contents.open = false));
    document.body.append(contents);
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const here = list.querySelector(`a[href="#${entry.target.id}"]`);
        if (here) here.classList.toggle("here", entry.isIntersecting);
      }
    }, { rootMargin: "-10% 0px -80% 0px" });
    document.querySelectorAll("section[id]").forEach((section) => seen.observe(section));
    // Where they are further down, the page's own head is still in sight.
    new IntersectionObserver(([entry]) => contents.classList.toggle("shown", 0 > entry.boundingClientRect.bottom)).observe(nav);
  }

  // Tables: sort by a column, filter rows, copy as CSV.
  const number = (text) => {
    const found = text.replace(/,/g, "").match(/^[^\d−-]{0,2}([-−]?\d+(\.\d+)?)/);
    return found ? parseFloat(found[1].replace("−", "-")) : null;
  };
  const compare = (a, b) => {
    const [x, y] = [number(a), number(b)];
    if (x === null && y === null) return a.localeCompare(b);
    return x === null ? 1 : y === null ? -1 : x - y;
  };
  const cell = (row, at) => (row.cells[at] ? row.cells[at].textContent.trim() : "");
  const field = (text) => {
    // A spreadsheet runs what begins so.
    const plain = /^([=@+]|-\D)/.test(text) ? "'" + text : text;
    return /[",\n]/.test(plain) ? '"' + plain.replace(/"/g, '""') + '"' : plain;
  };
  const csv = (table) => {
    const marked = MARK && ![...table.tBodies[0].rows].some((row) => row.textContent.includes(MARK));
    const lines = [...table.rows].filter((row) => !row.hidden).map((row, at) => {
      const cells = [...row.cells].map((one) => field(one.textContent.trim().replace(/\s+/g, " ")));
      return (marked ? [...cells, at ? MARK : ""] : cells).join(",");
    });
    return lines.join("\n") + "\n";
  };
  const put = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.body.appendChild(make("textarea", {}, text));
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };
  const sortable = (table) => {
    const body = table.tBodies[0];
    const order = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, at) => {
      const sort = () => {
        const was = head.getAttribute("aria-sort");
        const now = was === "ascending" ? "descending" : was === "descending" ? "" : "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        if (now) head.setAttribute("aria-sort", now);
        const sign = now === "descending" ? -1 : 1;
        const rows = now ? [...order].sort((a, b) => sign * compare(cell(a, at), cell(b, at))) : order;
        table.classList.toggle("sorted", now !== "");
        body.append(...rows);
      };
      head.title = SORT;
      head.tabIndex = 0;
      head.addEventListener("click", sort);
      head.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        sort();
      });
    });
  };
  document.querySelectorAll("figure.table table").forEach((table) => {
    const rows = [...table.tBodies[0].rows];
    if (2 > rows.length) return;
    sortable(table);
    const aids = make("div", { class: "aids aid" });
    if (rows.length > 8) {
      const filter = make("input", { type: "search", placeholder: FILTER, "aria-label": FILTER });
      filter.addEventListener("input", () => {
        const words = filter.value.toLowerCase().split(/\s+/);
        for (const row of rows) {
          const text = row.textContent.toLowerCase();
          row.hidden = !words.every((word) => text.includes(word));
        }
      });
      aids.append(filter);
    }
    const copy = button(COPY, async () => {
      await put(csv(table));
      copy.textContent = COPIED;
      setTimeout(() => (copy.textContent = COPY), 1500);
    });
    aids.append(copy);
    table.closest(".scroll").before(aids);
  });

  // Diagrams with one vertical axis: from zero, or logarithmic. What is drawn says its values itself.
  const numbers = (node, names) => names.map((name) => parseFloat(node.getAttribute(name)));
  const steps = (low, high, log) => {
    const all = [];
    if (log) {
      const few = Math.log10(high / low) > 4;
      for (let power = low; high * 1.001 > power; power *= 10)
        for (const factor of few ? [1] : [1, 2, 5]) if (high * 1.001 > power * factor) all.push(power * factor);
    } else {
      const raw = high / 6;
      const power = 10 ** Math.floor(Math.log10(raw));
      const step = [1, 2, 2.5, 5, 10].find((factor) => factor * power > raw * 0.999) * power;
      for (let at = 0; high + step * 0.999 > at; at += step) all.push(at);
    }
    return all;
  };
  const scaled = (svg) => {
    const areas = svg.querySelectorAll("g[clip-path]");
    const own = (selector) => [...svg.querySelectorAll(selector)].filter((node) => node.parentNode === svg);
    const labels = own('text[text-anchor="end"]:not(.stamp)');
    const lines = areas.length === 1 ? [...areas[0].querySelectorAll('path[fill="none"]')] : [];
    if (3 > labels.length || !lines.length || own('text[text-anchor="start"]').length) return null;
    const [left, top, height] = numbers(svg.querySelector("clipPath rect"), ["x", "y", "height"]);
    const bottom = top + height;
    const said = labels.map((label) => parseFloat(label.textContent.replace(/,/g, "")));
    const [low, high] = [said[0], said[said.length - 1]];
    const log = low > 0;
    if (log && 1.5 > said[1] / low) return null;
    const value = (y) => {
      const part = (bottom - y) / height;
      return log ? low * (high / low) ** part : high * part;
    };
    const points = lines.map((line) => line.getAttribute("d").match(/-?[\d.]+ -?[\d.]+/g) || []).flat();
    const values = points.map((point) => value(parseFloat(point.split(" ")[1]))).filter((v) => v > 0);
    if (!values.length) return null;
    const least = log ? 0 : 10 ** Math.floor(Math.log10(Math.min(...values)) + 1e-9);
    const ticks = steps(log ? 0 : least, log ? Math.max(...values) : high, !log);
    const most = log ? ticks[ticks.length - 1] : high;
    const place = (y) => {
      const v = value(y);
      const part = log ? v / most : v > 0 ? Math.log(v / least) / Math.log(most / least) : -1;
      return bottom - height * part;
    };
    // Attributes of what is drawn, as they are and as they become.
    const changes = [];
    const change = (node, name, now) => changes.push([node, name, node.getAttribute(name), now]);
    for (const node of areas[0].querySelectorAll("path,line,circle,rect,polygon")) {
      if (node.localName === "line") {
        const [x1, x2, y1, y2] = numbers(node, ["x1", "x2", "y1", "y2"]);
        if (x1 !== x2 && y1 !== y2) continue;
        change(node, "y1", place(y1));
        change(node, "y2", place(y2));
      } else if (lines.includes(node)) {
        const d = node.getAttribute("d").replace(/(-?[\d.]+) (-?[\d.]+)/g, (_, x, y) => x + " " + place(+y).toFixed(2));
        change(node, "d", d);
      } else {
        const box = node.getBBox();
        const middle = box.y + box.height / 2;
        change(node, "transform", `translate(0 ${place(middle) - middle})`);
      }
    }
    const flat = own("line").filter((node) => node.getAttribute("y1") === node.getAttribute("y2"));
    const [grid, tick] = [
      flat.filter((node) => numbers(node, ["x1"])[0] >= left && numbers(node, ["stroke-width"])[0] !== 1),
      flat.filter((node) => left > numbers(node, ["x1"])[0]),
    ];
    const [line, dash, label] = [grid[0], tick[0], labels[0]];
    if (!line || !dash) return null;
    const axis = document.createElementNS(svg.namespaceURI, "g");
    const lift = numbers(label, ["y"])[0] - bottom;
    for (const v of ticks) {
      const y = bottom - height * (log ? v / most : Math.log(v / least) / Math.log(most / least));
      for (const model of [line, dash, label]) {
        const copy = axis.appendChild(model.cloneNode());
        if (model === label) {
          copy.setAttribute("y", y + lift);
          copy.textContent = parseFloat(v.toPrecision(6)).toLocaleString("en-US");
        } else {
          copy.setAttribute("y1", y);
          copy.setAttribute("y2", y);
        }
      }
    }
    const before = [...grid, ...tick, ...labels];
    let other = false;
    const toggle = button(LOG, () => {
      other = !other;
      for (const [node, name, was, now] of changes)
        other ? node.setAttribute(name, now) : was === null ? node.removeAttribute(name) : node.setAttribute(name, was);
      for (const node of before) node.style.display = other ? "none" : "";
      other ? areas[0].before(axis) : axis.remove();
      toggle.setAttribute("aria-pressed", String(log !== other));
    });
    toggle.className = "scale";
    toggle.setAttribute("aria-pressed", String(log));
    return toggle;
  };

  // Diagrams: hide a line, and the value at the pointer.
  const hide = (svg, keys) => {
    const hidden = keys.filter((key) => key.hidden);
    const gone = (colour) => keys.every((key) => key.colour !== colour || key.hidden);
    svg.querySelectorAll("[stroke],[fill],g.tt").forEach((part) => {
      if (part.closest(".key")) return;
      const told = part.dataset.value || "";
      const colour = part.getAttribute("stroke") || part.getAttribute("fill");
      const dashes = part.getAttribute("stroke-dasharray");
      const line = part.localName === "path" && part.getAttribute("fill") === "none";
      const off = part.matches("g.tt")
        ? hidden.some((key) => told.startsWith(key.name + ": "))
        : line
          ? hidden.some((key) => key.colour === colour && key.dashes === dashes)
          : keys.some((key) => key.colour === colour) && gone(colour);
      part.style.display = off ? "none" : "";
    });
  };
  const tip = document.body.appendChild(make("div", { class: "tip aid", hidden: "" }));
  document.querySelectorAll("svg.figure").forEach((svg) => {
    const marks = [...svg.querySelectorAll("g.tt")];
    for (const mark of marks) {
      const title = mark.querySelector("title");
      if (title) {
        mark.dataset.value = title.textContent;
        title.remove();
      }
    }
    svg.addEventListener("pointermove", (event) => {
      let [best, least] = [null, 24];
      for (const mark of marks) {
        const box = mark.getBoundingClientRect();
        if (!box.width || !mark.dataset.value) continue;
        const far = Math.hypot(box.x + box.width / 2 - event.clientX, box.y + box.height / 2 - event.clientY);
        if (least > far) [best, least] = [mark, far];
      }
      tip.hidden = !best;
      if (!best) return;
      tip.textContent = best.dataset.value;
      tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
      tip.style.top = event.clientY + 16 + "px";
    });
    svg.addEventListener("pointerleave", () => (tip.hidden = true));
    const keys = [...svg.querySelectorAll("g.key")].map((key) => {
      const line = key.querySelector("path,circle");
      const colour = line && (line.getAttribute("stroke") || line.getAttribute("fill"));
      const dashes = line && line.getAttribute("stroke-dasharray");
      return { key, name: key.textContent, colour, dashes, hidden: false };
    });
    const scale = scaled(svg);
    if (2 > keys.length && !scale) return;
    const aids = make("div", { class: "aids keys aid" });
    if (scale) aids.append(scale);
    for (const one of keys.length > 1 ? keys : []) {
      const toggle = button(one.name, () => {
        one.hidden = !one.hidden;
        toggle.setAttribute("aria-pressed", String(!one.hidden));
        one.key.style.opacity = one.hidden ? 0.3 : "";
        hide(svg, keys);
      });
      toggle.setAttribute("aria-pressed", "true");
      aids.append(toggle);
    }
    svg.after(aids);
  });
})();
