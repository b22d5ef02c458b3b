"use strict";

/** The list of ranks. */
function ranksView() {
  const { ranks } = page.tables;
  const rankField = make("input", { type: "text", placeholder: "such as 0-3,7", oninput: afterTyping(filter) });
  const anywhere = make("input", { type: "text", placeholder: "host, function, file", oninput: afterTyping(filter) });
  const all = [...ranks.rank.keys()];
  const place = (row) => [text(ranks.function[row]) || "outside MPI", text(ranks.caller[row]), text(ranks.line[row])]
    .filter((part) => part).join(", ");
  const isKnown = (row) => ranks.function[row] >= 0 || ranks.line[row] >= 0 || ranks.caller[row] >= 0;
  const hasMoved = ranks.movement.some((one) => one >= 0);
  const hasProblems = ranks.problem.some((one) => one >= 0);
  const columns = [
    { name: "Rank", number: true, value: (row) => ranks.rank[row] },
    { name: "Host", value: (row) => text(ranks.host[row]) },
    { name: "Pid", number: true, value: (row) => ranks.pid[row] },
    { name: "Where it stands", value: (row) => (isKnown(row) ? place(row) : "not known"),
      show: (row) => (isKnown(row) ? make("span", null, [text(ranks.function[row]) || "outside MPI", text(ranks.caller[row])].filter((part) => part).join(", "),
        ranks.line[row] >= 0 ? [" at ", placeNamed(ranks.line[row])] : null) : "not known") },
    ...(hasMoved ? [{ name: "Between the looks", value: (row) => text(ranks.movement[row]) }] : []),
    ...(hasProblems ? [{ name: "Not read", value: (row) => text(ranks.problem[row]) }] : []),
  ];
  const table = rowTable("Ranks", columns);

  function filter() {
    const wanted = rankField.value.trim() ? rankSet(rankField.value) : null;
    const part = anywhere.value.trim().toLowerCase();
    rankField.setAttribute("aria-invalid", Boolean(rankField.value.trim()) && !wanted);
    table.update(all.filter((row) =>
      (!wanted || wanted(ranks.rank[row])) &&
      (part === "" || `${text(ranks.host[row])} ${place(row)}`.toLowerCase().includes(part))));
  }

  document.getElementById("ranks-view").append(
    make("div", { class: "filters" }, field("Rank", rankField), field("Contains", anywhere)), table.element);
  filter();
}
