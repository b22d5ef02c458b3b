"use strict";
// Ranks and communicators: of many ranks some hundred rows of neighbours, each of which opens.

const MOST_ROWS = 64;

function matrixView() {
  const { cells, columns, internal, ranks } = page.tables;
  const view = document.getElementById("matrix-view");
  if (!columns.length) {
    view.append(make("p", null, "No communicator was read."));
    return;
  }
  // What each process has, in the order of the processes.
  const order = [...cells.process.keys()].sort((one, other) => cells.process[one] - cells.process[other]);
  const starts = order.map((cell) => cells.process[cell]);

  // What the MPI library has posted for itself is counted below, and not in the cells.
  const own = new Map(internal.cell.map((cell, at) => [cell, [internal.sends[at], internal.receives[at], internal.unexpected[at]]]));
  const ownCount = [...own.values()].flat().reduce((sum, one) => sum + one, 0);
  let drawn = { heads: [], rows: [] };
  let query = null;

  /** The first place in the order that is of this process or a later one. */
  function placeOf(process) {
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (starts[middle] < process) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function sums(first, last) {
    const found = new Map();
    for (let at = placeOf(first); at < order.length && starts[at] < last; at += 1) {
      const cell = order[at];
      const column = cells.column[cell];
      const sum = found.get(column) || { counts: [0, 0, 0], calls: new Map(), least: null, most: null, hidden: 0 };
      [cells.sends[cell], cells.receives[cell], cells.unexpected[cell]].forEach((number, which) => {
        if (number < 0) sum.hidden += 1;
        else sum.counts[which] += number - (own.has(cell) ? own.get(cell)[which] : 0);
      });
      const call = text(cells.function[cell]);
      if (call) sum.calls.set(call, (sum.calls.get(call) || 0) + 1);
      const sequence = cells.sequence[cell];
      if (sequence !== null) {
        sum.least = sum.least === null ? sequence : Math.min(sum.least, sequence);
        sum.most = sum.most === null ? sequence : Math.max(sum.most, sequence);
      }
      found.set(column, sum);
    }
    return found;
  }

  function words(sum, several) {
    const parts = ["S", "R", "U"].map((letter, which) => (sum.counts[which] ? `${letter} ${count(sum.counts[which])}` : ""))
      .filter((part) => part);
    if (sum.hidden) parts.push("queue not read");
    for (const [call, number] of [...sum.calls].slice(0, 2)) parts.push(several && number > 1 ? `${call} ×${count(number)}` : call);
    if (sum.calls.size > 2) parts.push(`${sum.calls.size - 2} other calls`);
    if (sum.least !== null) parts.push(sum.least === sum.most ? `#${sum.least}` : `#${sum.least}-${sum.most}`);
    return parts.join(" · ");
  }

  /** Neighbours that have the same, a rank, as one row. */
  function joined(rows) {
    const found = [];
    let before = null;
    for (const [at, end, sum] of rows) {
      const what = JSON.stringify([...sum].sort().map(([column, { counts, calls, least, most, hidden }]) =>
        [column, ...counts.map((number) => number / (end - at)), hidden / (end - at), [...calls.keys()].sort(), least, most]));
      if (what === before) found[found.length - 1][1] = end;
      else found.push([at, end, null]);
      before = what;
    }
    return found.map(([at, end]) => [at, end, sums(at, end)]);
  }

  function draw(first, last, above) {
    const step = Math.max(1, Math.ceil((last - first) / MOST_ROWS));
    const used = new Set();
    let rows = [];
    for (let at = first; at < last; at += step) {
      const end = Math.min(last, at + step);
      const found = sums(at, end);
      for (const column of found.keys()) used.add(column);
      rows.push([at, end, found]);
    }
    const together = joined(rows);
    // All alike: who opens them wants to see each.
    if (together.length > 1 || !above.length) rows = together;
    const shown = [...used].sort((one, other) => one - other).slice(0, 24);
    const head = make("tr", null, make("th", { scope: "col" }, "Ranks"), shown.map((column) => {
      const { name, least, most, processes } = columns[column];
      const size = least === null ? "" : least === most ? `, size ${count(least)}` : `, sizes ${count(least)}-${count(most)}`;
      return make("th", { scope: "col", title: `${counted(processes, "process", "processes")} ${processes === 1 ? "has" : "have"} it${size}` }, name || "(no name)");
    }));
    const body = rows.map(([at, end, found]) => {
      const several = end - at > 1;
      const name = several ? rankRange(at, end) : who(at);
      const opened = several ? make("button", { type: "button", ...said(at, end), onclick: () => draw(at, end, [...above, [first, last]]) }, name) : rankButton(at, name);
      return make("tr", { "data-ranks": rankWords(known(at, end), Infinity) }, make("th", { scope: "row" }, opened), shown.map((column) => {
        const sum = found.get(column);
        if (!sum) return make("td", { class: "quiet" }, "");
        const told = words(sum, several);
        const some = sum.counts.some((number) => number > 0);
        return make("td", null, some
          ? make("button", { type: "button", "aria-label": `${told}: show the messages`, onclick: () => page.showMessages(rankText(at, end), column, null) }, told)
          : told);
      }));
    });
    const ways = above.length
      ? make("p", { class: "note" }, make("button", { type: "button", onclick: () => draw(...above[above.length - 1], above.slice(0, -1)) }, "Back"), ` ${rankRange(first, last)}`)
      : null;
    const left = used.size > shown.length ? make("p", { class: "note" }, `${counted(used.size - shown.length, "more communicator")} beside these.`) : null;
    const not = ownCount ? make("p", { class: "note" }, `Not counted: MPI's own ${counted(ownCount, "operation")}.`) : null;
    const made = make("tbody", null, body);
    view.replaceChildren(...[ways, make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table: ranks and communicators" },
      make("table", { class: "grid" }, make("caption", { class: "unseen" }, "Ranks and communicators"), make("thead", null, head), made)), left, not]
      .filter((one) => one));
    watchEdges(view);
    showsRanks("matrix", made.children);
    drawn = { heads: [...head.children].slice(1).map((head, at) => [head, shown[at]]), rows: rows.map(([at, end], row) => [made.children[row], at, end]) };
    mark();
  }

  /** What is said of all of these, as attributes. */
  function said(first, last) {
    const found = new Set();
    for (let at = first; at < last; at += 1) found.add(roleOf(at));
    if (found.size > 1) return found.has("cause") ? { class: "is-part", title: "some are of the cause" } : {};
    const [role] = found;
    return { class: `is-${role}`, title: page.graph.roles[role][1] };
  }

  /** Rows with ranks that are looked for, communicators whose names are. */
  function mark() {
    const before = new Uint32Array(ranks.rank.length + 1);
    if (query) ranks.rank.forEach((_, at) => { before[at + 1] = before[at] + query.process(at); });
    const { heads, rows } = drawn;
    return markHits(rows.map(([row]) => row), query, (_, row) => before[rows[row][2]] > before[rows[row][1]])
      + markHits(heads.map(([head]) => head), query, (_, head) => query.text(columns[heads[head][1]].name));
  }

  function known(first, last) {
    return ranks.rank.slice(first, last).filter((rank) => rank !== null);
  }

  function rankText(first, last) {
    return rankWords(known(first, last)).replace(",…", "");
  }

  function rankRange(first, last) {
    const own = known(first, last);
    return own.length ? `ranks ${rankWords(own)}` : counted(last - first, "process", "processes");
  }

  searchable("matrix", "communicators", (wanted) => {
    query = wanted;
    return mark();
  });
  draw(0, ranks.rank.length, []);
}
