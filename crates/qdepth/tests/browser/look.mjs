// Looks at pages as a person does, with axe-core and in chromium: node look.mjs MODE ADDRESS…
// A line for each thing to complain of; none where all is well. NODE_PATH has axe-core and
// puppeteer-core.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import path from "node:path";

const folder = process.env.NODE_PATH;
const require = createRequire(path.join(folder, "anything.js"));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(path.join(folder, "axe-core/axe.min.js"), "utf8");
const [mode, ...addresses] = process.argv.slice(2);
const complain = (...words) => console.log(words.join(": "));

const browser = await puppeteer.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});

async function opened(address) {
  const page = await browser.newPage();
  await page.setViewport({ width: 390, height: 844 });
  page.on("console", (said) => {
    if (["error", "warn"].includes(said.type())) complain(address, "console", said.text());
  });
  page.on("pageerror", (error) => complain(address, "script", error.message));
  await page.goto(address, { waitUntil: "load" });
  return page;
}

/** What axe finds of serious and critical. */
async function judged(page, address) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  if (found.passes.length === 0) complain(address, "axe", "looked at nothing");
  for (const { id, impact, nodes } of found.violations) {
    if (impact !== "serious" && impact !== "critical") continue;
    const { html, failureSummary } = nodes[0];
    complain(address, `${impact} ${id} (${nodes.length})`, html.slice(0, 200), failureSummary.replaceAll("\n", " "));
  }
}

const modes = {
  /** A picture of each page, FILE=ADDRESS, as a laptop shows its head. */
  async pictures() {
    for (const word of addresses) {
      const [file, ...address] = word.split("=");
      const page = await opened(address.join("="));
      await page.setViewport({ width: 1000, height: 640 });
      await page.waitForFunction(() => /\d/.test((document.getElementById("live-rate") ?? document.body).textContent), { timeout: 30000 });
      await page.screenshot({ path: file, quality: 80 });
      await page.close();
    }
  },
  /** Each address in light and in dark. */
  async pages() {
    for (const address of addresses) {
      const page = await opened(address);
      for (const value of ["light", "dark"]) {
        await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);
        await judged(page, `${address} (${value})`);
      }
      await page.close();
    }
  },
  /** Two runs are chosen in the list and compared. */
  async compare() {
    const page = await opened(addresses[0]);
    const boxes = await page.$$("input[type=checkbox][name=run]");
    for (const box of boxes.slice(0, 2)) await box.click();
    await Promise.all([page.waitForNavigation(), page.click("form[action='/compare'] button")]);
    const text = await page.evaluate(() => document.body.innerText);
    if (!page.url().includes("/compare?run=")) complain(page.url(), "is no comparison");
    if (!text.includes("B ÷ A")) complain(page.url(), "compares nothing", text.slice(0, 300));
    await judged(page, page.url());
  },
  /** A diagram from zero becomes logarithmic and back: its marks stand where their values say. */
  async scales() {
    for (const address of addresses) {
      const page = await opened(address);
      const count = await page.$$eval("button.scale", (all) => all.length);
      if (count === 0) complain(address, "no scale can be changed");
      for (let place = 0; place < count; place += 1) {
        // Value and height of each mark, and whether the axis says that it is logarithmic.
        const seen = () => page.evaluate((place) => {
          const button = document.querySelectorAll("button.scale")[place];
          const svg = button.closest("figure").querySelector("svg.figure");
          const marks = [...svg.querySelectorAll("g.tt")].map((mark) => {
            const box = mark.querySelector("circle,rect,path,polygon").getBoundingClientRect();
            const said = mark.dataset.value.replace(/,(?=\d{3})/g, "").match(/(?:: |^)([\d.]+) /);
            return { value: said ? Number(said[1]) : 0, y: box.y + box.height / 2 };
          });
          const axis = [...svg.querySelectorAll('text[text-anchor="end"]')].filter((text) => text.style.display !== "none");
          return { marks: marks.filter((mark) => mark.value > 0), log: button.ariaPressed === "true", axis: axis.length };
        }, place);
        for (const step of ["as it was", "changed", "back"]) {
          if (step !== "as it was") await page.evaluate((place) => document.querySelectorAll("button.scale")[place].click(), place);
          const { marks, log, axis } = await seen();
          const of = (value) => (log ? Math.log(value) : value);
          marks.sort((a, b) => a.value - b.value);
          const [low, high] = [marks[0], marks.at(-1)];
          if (!low || of(high.value) === of(low.value)) continue;
          if (axis < 3) complain(address, `diagram ${place}, ${step}`, `${axis} values at its axis`);
          for (const { value, y } of marks) {
            const due = low.y + ((of(value) - of(low.value)) / (of(high.value) - of(low.value))) * (high.y - low.y);
            if (Math.abs(due - y) > 2) { complain(address, `diagram ${place}, ${step}`, `${value} stands ${y - due} pixels off`); break; }
          }
        }
      }
      await judged(page, address);
      await page.close();
    }
  },
  /** A line is hidden by its name, a value stands at the pointer, a table is sorted by a column. */
  async aids() {
    for (const address of addresses) {
      const page = await opened(address);
      const toggle = await page.$(".aids.keys button:not(.scale)");
      if (!toggle) { complain(address, "no line can be hidden"); continue; }
      const hidden = () => page.$$eval("svg.figure [stroke]", (parts) => parts.filter((part) => part.style.display === "none").length);
      await toggle.click();
      if ((await hidden()) === 0) complain(address, "no line was hidden");
      await toggle.click();
      if ((await hidden()) !== 0) complain(address, "a line stays hidden");
      const mark = await page.$("svg.figure g.tt");
      await mark.scrollIntoView();
      await mark.hover();
      const tip = await page.$eval(".tip", (told) => (told.hidden ? "" : told.textContent));
      if (!/IOPS|MiB\/s|ms|µs/.test(tip)) complain(address, "no value at the pointer", tip);
      const firsts = () => page.$$eval("figure.table table", (tables) => {
        const table = tables.find((one) => one.querySelector("th[title]"));
        return [...table.tBodies[0].rows].map((row) => row.cells[1].textContent).join(" ");
      });
      const before = await firsts();
      await page.$eval("figure.table th[title] + th", (head) => { head.click(); head.click(); });
      if ((await firsts()) === before) complain(address, "no table was sorted", before);
      await judged(page, address);
      await page.close();
    }
  },
  /** Each second that a run tells (the file of its events) is seen within 2 s, again and again. */
  async live() {
    const [address, file] = addresses;
    const told = () => readFileSync(file, "utf8").split("\n").slice(0, -1)
      .map((line) => JSON.parse(line)).filter(({ event }) => event === "sample");
    const page = await opened(address);
    await page.waitForFunction(() => /\d/.test(document.getElementById("live-rate")?.textContent ?? ""), { timeout: 30000 });
    await judged(page, address);
    const shown = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
    for (let change = 0; change < 4; change += 1) {
      const before = told().length;
      // As long as storage or machine stand still there is nothing to be shown.
      while (told().length === before) await new Promise((go) => setTimeout(go, 20));
      const began = performance.now();
      // What came after it may be there already.
      const rates = () => told().slice(before).map((e) => shown.format((e.reads + e.writes + e.trims) / (e.length_ns / 1e9)));
      let seen;
      do {
        if (performance.now() - began > 2000) {
          complain(address, "not seen within 2 s", rates().join(" "), `but ${seen}`);
          break;
        }
        seen = await page.evaluate(() => document.getElementById("live-rate").textContent);
      } while (!rates().includes(seen));
    }
  },
};

await modes[mode]();
await browser.close();
