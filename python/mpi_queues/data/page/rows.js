"use strict";
// A table that is filtered, sorted, and shown as far as one looks.

const ROWS_A_TIME = 100;

/**
 * columns: [{ name, number, value(row), show(row) }], rows are places in the tables, of these processes.
 * Returns { element, update(rows) }.
 */
function rowTable(caption, columns, processOf) {
  const state = { rows: [], order: null, back: false, shown: ROWS_A_TIME };
  const body = make("tbody");
  const told = make("p", { class: "note", role: "status" });
  const more = make("button", { type: "button", onclick: () => { state.shown += ROWS_A_TIME * 5; draw(); } }, "Show more");
  const heads = columns.map((column, at) =>
    make("th", { scope: "col", class: column.number ? "number" : null },
      make("button", { type: "button", onclick: () => sort(at) }, column.name)));
  const table = make("table", null, make("caption", { class: "unseen" }, caption),
    make("thead", null, make("tr", null, heads)), body);

  function sort(at) {
    state.back = state.order === at ? !state.back : false;
    state.order = at;
    heads.forEach((head, place) => {
      if (place === at) head.setAttribute("aria-sort", state.back ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    draw();
  }

  function draw() {
    let rows = state.rows;
    if (state.order !== null) {
      const { value, number } = columns[state.order];
      const way = state.back ? -1 : 1;
      const keyed = rows.map((row) => [value(row), row]);
      keyed.sort(([one, first], [other, second]) => {
        // What is not known is last, whichever way.
        if (one === null || other === null) return (one === null) - (other === null) || first - second;
        const less = number ? one - other : one < other ? -1 : one > other ? 1 : 0;
        return way * less || first - second;
      });
      rows = keyed.map(([, row]) => row);
    }
    const shown = rows.slice(0, state.shown);
    body.replaceChildren(...shown.map((row) => make("tr", { "data-ranks": page.tables.ranks.rank[processOf(row)] }, columns.map((column) => {
      const cell = column.show ? column.show(row) : column.value(row);
      return make("td", { class: column.number ? "number" : null }, cell === null ? "" : cell instanceof Node ? cell : String(cell));
    }))));
    showsRanks(caption, body.children);
    told.textContent = rows.length > shown.length ? `${count(shown.length)} of ${count(rows.length)}` : counted(rows.length, "row");
    more.hidden = rows.length <= shown.length;
  }

  return {
    element: make("div", null, told, make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table: ${caption}` }, table), more),
    update(rows) {
      state.rows = rows;
      state.shown = ROWS_A_TIME;
      draw();
    },
  };
}

/** A labelled field of a filter. */
function field(label, input) {
  return make("label", null, label, input);
}

/** A choice among texts; the value of the first is empty. */
function choice(all, names, changed) {
  const options = [make("option", { value: "" }, all), ...names.map((name, at) => make("option", { value: String(at) }, name))];
  return make("select", { onchange: changed }, options);
}

/** Calls something once typing has paused. */
function afterTyping(action) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, 120);
  };
}
