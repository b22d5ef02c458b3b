"use strict";

/** Frames of the merged stacks open below them. */
function stacksView() {
  const frames = [...document.querySelectorAll(".frame")];
  for (const frame of frames) {
    const { ranks, absent, role, told } = frame.dataset;
    pressable(frame, [told, role].filter((one) => one).join(", "), () => {
      choose(frame, ".frame");
      showDetails("frame", make("h3", null, told.replace(/ \([^()]*\)$/, "")),
        ranks ? make("p", null, `There: ${ranksNamed(ranks)}`) : null,
        absent ? make("p", { class: "odd" }, `Not there: ${ranksNamed(absent)}`) : null,
        role ? make("p", null, `Role: ${role}`) : null,
        ranks && !ranks.endsWith("…") && page.showMessages ? make("p", null, make("button", { type: "button", onclick: () => page.showMessages(ranks, null, null) }, "Their messages")) : null);
    });
  }
  showsRanks("stacks", frames);
  searchable("stacks", "stacks", (query) => markHits(frames, query, (frame) => shows(frame, query, frame.dataset.told)));
}
