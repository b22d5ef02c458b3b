"use strict";
// The latest calls of each rank, as the flight recorder keeps them.

const LINES_A_TIME = 40;
const LINE = 24;
const LEFT = 110;
const WIDE = 1100;

function timeLineView() {
  const view = document.getElementById("time-line-view");
  const { calls } = page.tables;
  if (!view || !calls.process.length) return;
  const lines = [];
  const known = new Map();
  calls.process.forEach((process, at) => {
    const key = `${process}/${calls.thread[at]}`;
    if (!known.has(key)) {
      known.set(key, lines.length);
      lines.push({ process, thread: calls.thread[at], calls: [] });
    }
    lines[known.get(key)].calls.push(at);
  });
  const began = calls.began.map((one) => Date.parse(text(one)));
  const roles = (process) => page.graph.roles[roleOf(process)];
  let shown = LINES_A_TIME;
  let zoom = 1;
  let query = null;
  const told = make("div", { class: "details near", role: "status", "aria-live": "polite" });
  const more = make("button", { type: "button", onclick: () => { shown += LINES_A_TIME; draw(); } }, "More ranks");
  const holder = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The bars of the time line" });
  view.append(holder, more, told);
  zoomable(holder, "Time line", (wanted) => {
    zoom = wanted;
    draw();
  }, () => WIDE + 4);
  holder.addEventListener("scroll", keepNames, { passive: true });
  if (calls.left_out) view.append(make("p", { class: "note" }, `The calls of ${counted(calls.left_out, "more rank")} are not shown${elsewhere()}.`));

  function draw() {
    const wide = LEFT + (WIDE - LEFT) * zoom;
    const found = query ? lines.filter((line) => query.process(line.process) || line.calls.some(isHit)) : lines;
    const some = found.slice(0, shown);
    const focused = holder.contains(document.activeElement) && document.activeElement.dataset.call;
    const times = some.flatMap((line) => line.calls.map((at) => began[at])).filter((time) => Number.isFinite(time));
    if (!times.length) times.push(0);
    const first = Math.min(...times);
    const last = Math.max(...times);
    // Who is still in a call is so until the end of the picture, which leaves room for its name.
    const end = last + Math.max(1, (last - first) * 0.18);
    const across = (time) => LEFT + ((time - first) / (end - first)) * (wide - LEFT);
    const parts = [make("text", { svg: true, class: "axis", x: LEFT, y: 14 }, "0 s"),
      make("text", { svg: true, class: "axis", x: across(last), y: 14, "text-anchor": "end" }, `${((last - first) / 1000).toFixed(3)} s`)];
    const names = [make("rect", { svg: true, width: LEFT - 6, height: 26 + some.length * LINE })];
    const rows = [];
    some.forEach((line, place) => {
      const top = 22 + place * LINE;
      const name = who(line.process) + (lines.some((other) => other !== line && other.process === line.process) ? ` (${line.thread})` : "");
      const rank = page.tables.ranks.rank[line.process];
      names.push(make("text", { svg: true, class: `is-${roleOf(line.process)}`, x: 0, y: top + 15, "data-ranks": rank },
        make("title", { svg: true }, roles(line.process)[1]), `${roles(line.process)[0]} ${name}`.trim()));
      const bars = [];
      line.calls.forEach((at, index) => {
        const from = across(began[at]);
        const next = line.calls[index + 1];
        const to = calls.current[at] ? wide : next === undefined ? from + 3 : across(began[next]);
        const long = Math.max(2, to - from - 1);
        const label = `${who(line.process)}: ${sentence(at)}`;
        const bar = make("g", { svg: true, class: calls.current[at] ? `now ${roleOf(line.process)}` : "past", "data-call": at },
          make("title", { svg: true }, label),
          make("rect", { svg: true, x: from, y: top, width: long, height: LINE - 5, rx: 2 }),
          long > 90 ? make("text", { svg: true, x: from + 5, y: top + 14 }, text(calls.function[at]).slice(0, Math.floor(long / 7.5) - 1)) : null);
        pressable(bar, label, () => { choose(bar, ".bars g"); told.replaceChildren(make("p", null, label)); });
        bars.push(bar);
      });
      oneStop(bars);
      markHits(bars, query && !query.process(line.process) ? query : null, (bar) => isHit(bar.dataset.call));
      rows.push(make("svg", { svg: true, class: "line", "data-ranks": rank },
        make("rect", { svg: true, class: "behind", y: top - 2, width: wide, height: LINE - 1 }), bars));
    });
    parts.push(...rows, make("svg", { svg: true, class: "names" }, names));
    holder.replaceChildren(make("svg", { svg: true, class: "bars", width: wide + 4, height: 26 + some.length * LINE,
      viewBox: `0 0 ${wide + 4} ${26 + some.length * LINE}`, role: "group",
      "aria-label": "The latest calls of each rank, one line each" }, parts));
    more.hidden = shown >= found.length;
    showsRanks("time-line", holder.querySelectorAll("[data-ranks]"));
    keepNames();
    if (focused) holder.querySelector(`[data-call="${focused}"]`)?.focus({ preventScroll: true });
  }

  /** Whose a line is stays in sight. */
  function keepNames() {
    const names = holder.querySelector(".names");
    if (names) names.setAttribute("x", holder.scrollLeft);
  }

  function isHit(at) {
    return query.string(calls.function[at]) || query.string(calls.line[at]) || query.string(calls.communicator[at]);
  }

  /** The keyboard goes to the latest call of a line, and from there to the others by the arrows. */
  function oneStop(bars) {
    bars.forEach((bar, place) => {
      bar.setAttribute("tabindex", place === bars.length - 1 ? "0" : "-1");
      bar.addEventListener("keydown", (event) => {
        const next = bars[place + (event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0)];
        if (!next || next === bar) return;
        event.preventDefault();
        bar.setAttribute("tabindex", "-1");
        next.setAttribute("tabindex", "0");
        next.focus();
      });
    });
  }

  function sentence(at) {
    const parts = [text(calls.function[at])];
    if (calls.peer[at] !== null) parts.push(`with rank ${calls.peer[at]}`);
    if (calls.tag[at] !== null) parts.push(`tag ${calls.tag[at]}`);
    if (calls.communicator[at] >= 0) parts.push(`on ${text(calls.communicator[at])}`);
    if (calls.line[at] >= 0) parts.push(`at ${text(calls.line[at])}`);
    return `${parts.join(", ")}, began ${text(calls.began[at])}${calls.current[at] ? ", and is in it" : ""}`;
  }

  searchable("time-line", "time line", (wanted) => {
    query = wanted;
    draw();
    if (!query) return 0;
    return lines.reduce((sum, line) => sum + (query.process(line.process) ? line.calls.length : line.calls.filter(isHit).length), 0);
  });
  draw();
}
