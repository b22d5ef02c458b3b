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
  const told = make("div", { class: "details", role: "status", "aria-live": "polite" });
  const more = make("button", { type: "button", onclick: () => { shown += LINES_A_TIME; draw(); } }, "More ranks");
  const holder = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Time line" });
  view.append(holder, more, told);
  if (calls.left_out) view.append(make("p", { class: "note" }, `The calls of ${counted(calls.left_out, "more rank")} are in the data of this file only.`));

  function draw() {
    const some = lines.slice(0, shown);
    const times = some.flatMap((line) => line.calls.map((at) => began[at])).filter((time) => Number.isFinite(time));
    const first = Math.min(...times);
    const last = Math.max(...times);
    // Who is still in a call is so until the end of the picture.
    const end = last + Math.max(1, (last - first) * 0.08);
    const across = (time) => LEFT + ((time - first) / (end - first)) * (WIDE - LEFT);
    const parts = [make("text", { svg: true, class: "axis", x: LEFT, y: 14 }, "0 s"),
      make("text", { svg: true, class: "axis", x: WIDE, y: 14, "text-anchor": "end" }, `${((last - first) / 1000).toFixed(3)} s`)];
    some.forEach((line, place) => {
      const top = 22 + place * LINE;
      const name = who(line.process) + (lines.some((other) => other !== line && other.process === line.process) ? ` (${line.thread})` : "");
      parts.push(make("text", { svg: true, x: 0, y: top + 15 }, name));
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
        if (calls.current[at] || wide > 90) pressable(bar, label, () => told.replaceChildren(make("p", null, label)));
        parts.push(bar);
      });
    });
    holder.replaceChildren(make("svg", { svg: true, class: "bars", width: WIDE + 4, height: 26 + some.length * LINE, role: "group",
      "aria-label": "The latest calls of each rank, one line each" }, parts));
    more.hidden = shown >= lines.length;
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
