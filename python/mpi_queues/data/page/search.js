"use strict";
// One search over all views: ranks, or a part of any text.

/** What views do with a query: [id, name, find(query)], which returns the number of hits; null ends a search. */
const searches = [];

function searchable(id, name, find) {
  searches.push({ id, name, find });
}

/** A query: whether ranks, a text, a text of the tables, or a process are looked for. */
function queryOf(written) {
  const words = written.trim().toLowerCase();
  if (!words) return null;
  const { ranks, strings } = page.tables;
  let runs = rankRuns(words.replace(/^ranks?\s+/, ""));
  if (runs) {
    const has = (rank) => rank !== null && inRuns(runs, rank);
    return { runs, rank: has, text: () => false, string: () => false, process: (at) => has(ranks.rank[at]) };
  }
  // Each text stands in the tables once, whatever has it.
  const found = strings.map((one) => one.toLowerCase().includes(words));
  const string = (place) => place >= 0 && found[place];
  // Who names a host looks for its ranks.
  runs = rankRuns(rankWords(ranks.rank.filter((rank, at) => rank !== null && string(ranks.host[at])), Infinity)) || [];
  return { runs, rank: () => false, string, text: (text) => text.toLowerCase().includes(words),
    process: (at) => [ranks.host, ranks.program, ranks.function, ranks.caller, ranks.line].some((column) => string(column[at]))
      || (ranks.function[at] < 0 && standing(at).toLowerCase().includes(words)) };
}

/** Of elements those that are hits stand out. Returns how many. */
function markHits(elements, query, isHit) {
  let hits = 0;
  elements.forEach((element, at) => {
    const hit = Boolean(query) && isHit(element, at);
    element.classList.toggle("hit", hit);
    hits += hit;
  });
  return hits;
}

/** Whether an element has ranks that are looked for (data-ranks), or the text. */
function shows(element, query, text) {
  const runs = rankRuns(element.dataset.ranks || "");
  return Boolean(runs && haveCommon(runs, query.runs)) || query.text(text);
}

function searchView() {
  const input = document.getElementById("search");
  const told = document.getElementById("hits");
  const places = document.getElementById("hit-places");
  const rows = [...document.querySelectorAll(".findings tbody tr")];
  searchable("findings", "findings", (query) => markHits(rows, query, (row) => shows(row, query, row.textContent)));

  function find() {
    const query = queryOf(input.value);
    const found = searches.map(({ id, name, find }) => ({ id, name, hits: find(query) }));
    const hits = found.reduce((sum, one) => sum + one.hits, 0);
    told.textContent = query ? counted(hits, "hit") : "";
    places.replaceChildren(...(query ? found.filter((one) => one.hits)
      .map((one) => make("a", { href: `#${one.id}` }, `${one.name} ${count(one.hits)}`)) : []));
  }

  page.search = (text) => {
    if (text === input.value) return;
    input.value = text;
    find();
    // What was pressed may be gone from its list.
    if (text) input.focus();
  };
  input.addEventListener("input", afterTyping(find));
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, select");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape" && (event.target === input || !typing)) {
      if (!input.value) input.blur();
      page.search("");
    }
  });
}
