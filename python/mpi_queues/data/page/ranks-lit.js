"use strict";
// Who points at ranks in one view, or comes to them by the keyboard, sees them lit in all.

const lights = { views: new Map(), lit: [], at: null };

/** Tells which elements of a view show ranks (data-ranks), whenever they are drawn: the index is made then, not when one points. */
function showsRanks(view, elements) {
  const single = new Map();
  const several = [];
  for (const element of elements) {
    const runs = rankRuns(element.dataset.ranks || "");
    if (!runs) continue;
    const [first, last] = runs[0];
    if (runs.length > 1 || first !== last) several.push([element, runs]);
    else if (single.has(first)) single.get(first).push(element);
    else single.set(first, [element]);
  }
  lights.views.set(view, { single, several });
}

/** Lights all that shows one of these ranks, and nothing else. */
function light(runs) {
  for (const one of lights.lit) one.classList.remove("lit");
  lights.lit = [];
  if (!runs) return;
  const add = (elements) => { for (const one of elements || []) lights.lit.push(one); };
  const ranks = runs.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  for (const { single, several } of lights.views.values()) {
    if (ranks < single.size) {
      for (const [first, last] of runs) {
        for (let rank = first; rank <= last; rank += 1) add(single.get(rank));
      }
    } else {
      for (const [rank, elements] of single) if (inRuns(runs, rank)) add(elements);
    }
    for (const [element, own] of several) if (haveCommon(own, runs)) lights.lit.push(element);
  }
  for (const one of lights.lit) one.classList.add("lit");
}

function followPointer() {
  const come = (element) => {
    if (element === lights.at) return;
    lights.at = element;
    light(element && rankRuns(element.dataset.ranks));
  };
  for (const name of ["pointerover", "focusin"]) {
    document.addEventListener(name, (event) => come(event.target.closest?.("[data-ranks]") || null));
  }
  document.documentElement.addEventListener("pointerleave", () => come(null));
  showsRanks("text", document.querySelectorAll("#cause [data-ranks], #findings [data-ranks], #movement [data-ranks]"));
}
