"use strict";
// The tables of the page, and what every view needs. Everything of a stranger goes into the page as text (textContent).

const page = { tables: null, graph: null };

/** The text at a place of the tables; negative: none. */
function text(place) {
  return place < 0 ? "" : page.tables.strings[place];
}

/** An element with attributes and children: texts, elements, nothing. */
function make(name, attributes, ...children) {
  const svg = attributes && attributes.svg;
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "svg" || value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

/** The runs of ranks that a set such as 0-126,128 names, ascending; null where the text is none. */
function rankRuns(written) {
  const runs = [];
  for (const part of written.replace(/,…$/, "").split(",")) {
    const found = /^\s*(\d{1,15})(?:\s*-\s*(\d{1,15}))?\s*$/.exec(part);
    if (!found) return null;
    runs.push([Number(found[1]), Number(found[2] === undefined ? found[1] : found[2])]);
  }
  return runs.sort((one, other) => one[0] - other[0]);
}

/** Whether a rank is in runs: looked for by halves. */
function inRuns(runs, rank) {
  let low = 0;
  let high = runs.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (rank < runs[middle][0]) high = middle - 1;
    else if (rank > runs[middle][1]) low = middle + 1;
    else return true;
  }
  return false;
}

/** Whether runs have a rank in common. */
function haveCommon(some, others) {
  for (let one = 0, other = 0; one < some.length && other < others.length;) {
    if (some[one][1] < others[other][0]) one += 1;
    else if (others[other][1] < some[one][0]) other += 1;
    else return true;
  }
  return false;
}

/** Ranks in that notation; of more runs the first ones. */
function rankWords(ranks, most = 12) {
  const runs = [];
  for (const rank of [...new Set(ranks)].sort((one, other) => one - other)) {
    const last = runs[runs.length - 1];
    if (last && last[1] + 1 === rank) last[1] = rank;
    else runs.push([rank, rank]);
  }
  const shown = runs.slice(0, most).map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
  if (runs.length > shown.length) shown.push("…");
  return shown.join(",");
}

/** A set of ranks in words. */
function ranksNamed(written) {
  return /^\d+$/.test(written) ? `rank ${written}` : `ranks ${written}`;
}

/** A place in a source, by the file's name alone; what is cut off, to be pointed at. */
function placeNamed(place) {
  const written = text(place);
  const name = written.slice(written.lastIndexOf("/") + 1);
  return name && name !== written ? make("span", { title: written }, name) : written;
}

/** Where what is not shown is. */
function elsewhere() {
  return document.getElementById("snapshot").dataset.without ? ", and not in this file" : "; mpi-queues show --recording prints them";
}

/** What a process is called. */
function who(process) {
  const { rank, pid } = page.tables.ranks;
  if (rank[process] !== null) return `rank ${rank[process]}`;
  return pid[process] !== null ? `pid ${pid[process]}` : "a process";
}

/** The function of MPI that a process is in, or where it is else. */
function standing(process) {
  const { function: functions, caller, line } = page.tables.ranks;
  return text(functions[process]) || (caller[process] >= 0 || line[process] >= 0 ? "outside MPI" : "not known");
}

/** What is said of a process: the cause is about it, it waits as a result. */
function roleOf(process) {
  const node = page.graph.nodes[page.tables.ranks.node[process]];
  return node ? node.role : "free";
}

/** A rank that the search can be asked for, marked by what is said of it. */
function rankButton(process, name) {
  const rank = page.tables.ranks.rank[process];
  const [, words] = page.graph.roles[roleOf(process)];
  if (rank === null) return name;
  return make("button", { type: "button", class: `rank is-${roleOf(process)}`, title: words, onclick: () => page.search(`rank ${rank}`) }, name);
}

/** A number for people. */
function count(number) {
  return number.toLocaleString("en");
}

/** 1 rank, 2 ranks. */
function counted(number, thing, several = `${thing}s`) {
  return `${count(number)} ${number === 1 ? thing : several}`;
}

/** Bytes for people. */
function size(bytes) {
  if (bytes === null) return "";
  let shown = bytes;
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (shown < 1024 || unit === "GiB") return `${unit === "B" ? shown : shown.toFixed(1)} ${unit}`;
    shown /= 1024;
  }
  return "";
}

/** The tables, out of the page. */
async function loadTables() {
  const holder = document.getElementById("tables");
  if (holder.dataset.form === "json") return JSON.parse(holder.textContent);
  const packed = Uint8Array.from(atob(holder.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}
