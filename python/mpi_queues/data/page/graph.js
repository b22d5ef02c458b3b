"use strict";

const MOST_OPERATIONS = 20;

/** Nodes of the wait-for graph open below it: who they are, what they wait for, their operations, what was found. */
function graphView() {
  const { ranks, messages, columns } = page.tables;
  const nodes = [...document.querySelectorAll(".graph .node")];
  // On a narrow screen the cause comes first.
  const drawn = document.querySelector("#waits .scroll");
  if (drawn) drawn.scrollLeft = (drawn.scrollWidth - drawn.clientWidth) / 2;
  const edges = page.graph;
  for (const node of nodes) {
    const number = Number(node.dataset.node);
    node.dataset.ranks = edges.nodes[number].ranks;
    const label = node.querySelector("title").textContent;
    pressable(node, label, () => {
      choose(node, ".graph .node");
      for (const edge of document.querySelectorAll(".graph .edge")) {
        edge.classList.toggle("near", edge.dataset.from === String(number) || edge.dataset.to === String(number));
      }
      const told = edges.nodes[number];
      const own = edges.edges.filter((edge) => edge.source === number);
      const others = edges.edges.filter((edge) => edge.target === number);
      const members = new Set();
      ranks.node.forEach((at, process) => { if (at === number) members.add(process); });
      const operations = [];
      for (let row = 0; row < messages.process.length && operations.length <= MOST_OPERATIONS; row += 1) {
        if (members.has(messages.process[row]) && !messages.internal[row]) operations.push(operation(row));
      }
      const findings = told.findings.map((at) => make("a", { href: `#finding-${at}`, onclick: () => openFinding(at) }, edges.findings[at]));
      showDetails("details",
        make("h3", null, told.who),
        make("p", null, [told.what, told.place].filter((part) => part).join(", ")),
        /\D/.test(told.ranks) ? make("p", { class: "quiet" }, `Ranks ${told.ranks}`) : null,
        told.notes.length ? list(told.notes) : null,
        own.length || told.within.length ? make("p", null, "Waits for:") : null,
        list([...told.within.map((what) => `one another, to ${what}`), ...own.map((edge) => waits(edges.nodes[edge.target].who, edge))]),
        others.length ? make("p", null, "Is waited for by:") : null,
        list(others.map((edge) => waits(edges.nodes[edge.source].who, edge))),
        findings.length ? make("p", null, "Found:") : null,
        list(findings),
        operations.length ? make("p", null, "Operations:") : null,
        list(operations.length > MOST_OPERATIONS ? [...operations.slice(0, MOST_OPERATIONS), "and more"] : operations),
        told.ranks && !told.ranks.endsWith("…") ? make("p", null, make("button", { type: "button", onclick: () => page.showMessages(told.ranks, null, null) }, "Their messages")) : null);
    });
  }

  const labels = [...document.querySelectorAll(".graph .waits-for")];
  showsRanks("graph", nodes);
  searchable("waits", "graph", (query) => markHits([...nodes, ...labels], query, (one) => shows(one, query, one.textContent)));
  if (drawn) {
    const picture = drawn.querySelector("svg");
    const { width, height } = picture.viewBox.baseVal;
    zoomable(drawn, "Graph", (zoom) => {
      picture.setAttribute("width", width * zoom);
      picture.setAttribute("height", height * zoom);
    }, () => width);
  }

  /** Who goes to a finding wants to see its evidence. */
  function openFinding(at) {
    const holder = document.querySelector(`#finding-${at} details`);
    if (holder) holder.open = true;
  }

  function waits(name, edge) {
    const more = edge.more ? ` and ${count(edge.more)} more` : "";
    return `${name}: ${edge.any ? "any: " : ""}to ${edge.what.join("; ")}${more}`;
  }

  function operation(row) {
    const peer = messages.peer[row] === null ? (messages.any[row] ? "any rank" : "a rank that is not known") : `rank ${messages.peer[row]}`;
    const tag = messages.tag[row] === null ? (messages.wild[row] ? "any tag" : "a tag that is not known") : `tag ${messages.tag[row]}`;
    const way = messages.queue[row] === 0 ? "send to" : messages.queue[row] === 1 ? "receive from" : "unexpected message from";
    const call = text(messages.call[row]);
    return `${who(messages.process[row])}: ${call ? `${call}, ` : ""}${way} ${peer}, ${tag} on ${columns[messages.column[row]].name}, ${size(messages.bytes[row])}`;
  }
}
