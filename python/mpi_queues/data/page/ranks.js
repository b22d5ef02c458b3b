"use strict";

/** The list of ranks. */
function ranksView() {
  const { ranks } = page.tables;
  const order = Object.keys(page.graph.roles);
  const all = [...ranks.rank.keys()];
  const hasMoved = ranks.movement.some((one) => one >= 0);
  const hasProblems = ranks.problem.some((one) => one >= 0);
  const columns = [
    { name: "Rank", number: true, value: (row) => ranks.rank[row], show: (row) => rankButton(row, String(ranks.rank[row] ?? "")) },
    { name: "Host", value: (row) => text(ranks.host[row]) },
    { name: "Pid", number: true, value: (row) => ranks.pid[row] },
    { name: "Where it stands", value: (row) => [standing(row), text(ranks.caller[row]), text(ranks.line[row])].join(", "),
      show: (row) => make("span", null, [standing(row), text(ranks.caller[row])].filter((part) => part).join(", "),
        ranks.line[row] >= 0 ? [" at ", placeNamed(ranks.line[row])] : null) },
    { name: "Role", value: (row) => order.indexOf(roleOf(row)), show: (row) => make("span", { class: `is-${roleOf(row)}` }, page.graph.roles[roleOf(row)][1]) },
    ...(hasMoved ? [{ name: "Between the looks", value: (row) => text(ranks.movement[row]) }] : []),
    ...(hasProblems ? [{ name: "Not read", value: (row) => text(ranks.problem[row]) }] : []),
  ];
  const table = rowTable("Ranks", columns, (row) => row);
  searchable("ranks", "ranks", (query) => {
    const rows = query ? all.filter(query.process) : all;
    table.update(rows);
    return rows.length;
  });
  document.getElementById("ranks-view").append(table.element);
  table.update(all);
}
