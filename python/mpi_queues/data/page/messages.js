"use strict";

const QUEUES = ["pending sends", "pending receives", "unexpected messages"];
const QUEUE = ["send", "receive", "unexpected"];

/** The list of messages, and how others ask it for some. */
function messagesView() {
  const { messages, ranks, columns } = page.tables;
  const rankField = make("input", { type: "text", inputmode: "text", placeholder: "such as 0-3,7", oninput: afterTyping(filter) });
  const tagField = make("input", { type: "text", inputmode: "numeric", placeholder: "such as 17", oninput: afterTyping(filter) });
  const communicator = choice("all", columns.map((column) => column.name || "(no name)"), filter);
  const queue = choice("all", QUEUES, filter);
  const internal = make("input", { type: "checkbox", onchange: filter });
  const all = [...messages.process.keys()];
  const table = rowTable("Messages", [
    { name: "Rank", number: true, value: (row) => ranks.rank[messages.process[row]], show: (row) => rankButton(messages.process[row], who(messages.process[row]).replace(/^rank /, "")) },
    { name: "Queue", value: (row) => QUEUE[messages.queue[row]] },
    { name: "Peer", number: true, value: (row) => (messages.any[row] && messages.peer[row] === null ? null : messages.peer[row]), show: peer },
    { name: "Tag", number: true, value: (row) => messages.tag[row], show: (row) => (messages.wild[row] && messages.tag[row] === null ? "any" : messages.tag[row]) },
    { name: "Communicator", value: (row) => columns[messages.column[row]].name },
    { name: "Bytes", number: true, value: (row) => messages.bytes[row], show: (row) => size(messages.bytes[row]) },
    { name: "Data", value: data },
    { name: "Call", value: (row) => text(messages.call[row]) + (messages.internal[row] ? " (MPI's own)" : "") },
    { name: "Started at", value: (row) => text(messages.line[row]), show: (row) => placeNamed(messages.line[row]) },
    { name: "State", value: (row) => text(messages.status[row]).replace("_", " ") },
  ], (row) => messages.process[row]);
  let query = null;

  function peer(row) {
    const local = messages.peer[row];
    const global = messages.global[row];
    if (local === null) return messages.any[row] ? "any" : global === null ? "?" : `(${global})`;
    return global === null || global === local ? String(local) : `${local} (${global})`;
  }

  function data(row) {
    const type = text(messages.datatype[row]);
    return messages.count[row] === null ? type : `${count(messages.count[row])} ${type}`;
  }

  function filter() {
    const wanted = rankField.value.trim() ? rankRuns(rankField.value) : null;
    const tag = tagField.value.trim();
    rankField.setAttribute("aria-invalid", Boolean(rankField.value.trim()) && !wanted);
    const rows = all.filter((row) =>
      (!query || isHit(row)) &&
      (!wanted || inRuns(wanted, ranks.rank[messages.process[row]])) &&
      (tag === "" || String(messages.tag[row]) === tag) &&
      (communicator.value === "" || messages.column[row] === Number(communicator.value)) &&
      (queue.value === "" || messages.queue[row] === Number(queue.value)) &&
      (internal.checked || !messages.internal[row]));
    table.update(rows);
    return rows.length;
  }

  /** Those of ranks that are looked for, and those to and from them. */
  function isHit(row) {
    const { process, global, call, line, datatype, column } = messages;
    return query.process(process[row]) || query.rank(global[row]) || query.text(columns[column[row]].name)
      || query.string(call[row]) || query.string(line[row]) || query.string(datatype[row]);
  }

  searchable("messages", "messages", (wanted) => {
    query = wanted;
    return filter();
  });
  const own = messages.internal.filter((one) => one).length;
  const notes = [
    own ? `MPI's own ${counted(own, "operation")} ${own === 1 ? "is" : "are"} listed where you ask for them.` : "",
    messages.left_out ? `${count(messages.left_out)} more are not listed${elsewhere()}${messages.internal_left_out ? `; ${count(messages.internal_left_out)} of them are MPI's own` : ""}.` : "",
  ];
  document.getElementById("messages-view").append(...[
    make("div", { class: "filters" }, field("Rank", rankField), field("Tag", tagField), field("Communicator", communicator),
      field("Queue", queue), field("MPI's own", internal)),
    make("p", { class: "note" }, notes.filter((one) => one).join(" ")), table.element]);
  filter();

  /** Shows those of some ranks, of a communicator, of a queue. */
  page.showMessages = (rankText, column, which) => {
    page.search("");
    rankField.value = rankText;
    tagField.value = "";
    communicator.value = column === null ? "" : String(column);
    queue.value = which === null ? "" : String(which);
    filter();
    document.getElementById("messages").scrollIntoView();
    rankField.focus({ preventScroll: true });
  };
}
