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
  let shown = LINES_A_TIME;
  const told = make("div", { class: "details near", role: "status", "aria-live": "polite" });
  const more = make("button", { type: "button", onclick: () => { shown += LINES_A_TIME; draw(); } }, "More ranks");
  const holder = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The bars of the time line" });
  view.append(holder, more, told);
  if (calls.left_out) view.append(make("p", { class: "note" }, `The calls of ${counted(calls.left_out, "more rank")} are not shown${elsewhere()}.`));

  function draw() {
    const some = lines.slice(0, shown);
    const times = some.flatMap((line) => line.calls.map((at) => began[at])).filter((time) => Number.isFinite(time));
    const first = Math.min(...times);
    const last = Math.max(...times);
    // Who is still in a call is so until the end of the picture, which leaves room for its name.
    const end = last + Math.max(1, (last - first) * 0.18);
    const across = (time) => LEFT + ((time - first) / (end - first)) * (WIDE - LEFT);
    const parts = [make("text", { svg: true, class: "axis", x: LEFT, y: 14 }, "0 s"),
      make("text", { svg: true, class: "axis", x: across(last), y: 14, "text-anchor": "end" }, `${((last - first) / 1000).toFixed(3)} s`)];
    some.forEach((line, place) => {
      const top = 22 + place * LINE;
      const name = who(line.process) + (lines.some((other) => other !== line && other.process === line.process) ? ` (${line.thread})` : "");
      parts.push(make("text", { svg: true, x: 0, y: top + 15 }, name));
      const bars = [];
      line.calls.forEach((at, index) => {
        const from = across(began[at]);
        const next = line.calls[index + 1];
        const to = calls.current[at] ? WIDE : next === undefined ? from + 3 : across(began[next]);
        const wide = Math.max(2, to - from - 1);
        const label = `${who(line.process)}: ${sentence(at)}`;
        const bar = make("g", { svg: true, class: calls.current[at] ? "now" : "past" },
          make("title", { svg: true }, label),
          make("rect", { svg: true, x: from, y: top, width: wide, height: LINE - 5, rx: 2 }),
          wide > 90 ? make("text", { svg: true, x: from + 5, y: top + 14 }, text(calls.function[at]).slice(0, Math.floor(wide / 7.5) - 1)) : null);
        pressable(bar, label, () => { choose(bar, ".bars g"); told.replaceChildren(make("p", null, label)); });
        bars.push(bar);
      });
      oneStop(bars);
      parts.push(...bars);
    });
    holder.replaceChildren(make("svg", { svg: true, class: "bars", width: WIDE + 4, height: 26 + some.length * LINE,
      viewBox: `0 0 ${WIDE + 4} ${26 + some.length * LINE}`, role: "group",
      "aria-label": "The latest calls of each rank, one line each" }, parts));
    more.hidden = shown >= lines.length;
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

  draw();
}
