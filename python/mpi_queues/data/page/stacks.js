"use strict";

/** Frames of the merged stacks open below them. */
function stacksView() {
  for (const frame of document.querySelectorAll(".frame")) {
    const { ranks, absent, told } = frame.dataset;
    pressable(frame, told, () => {
      choose(frame, ".frame");
      showDetails("frame", make("h3", null, told.replace(/ \([^()]*\)$/, "")),
        ranks ? make("p", null, `There: ${ranksNamed(ranks)}`) : null,
        absent ? make("p", { class: "odd" }, `Not there: ${ranksNamed(absent)}`) : null,
        ranks && !ranks.endsWith("…") && page.showMessages ? make("p", null, make("button", { type: "button", onclick: () => page.showMessages(ranks, null, null) }, "Their messages")) : null);
    });
  }
}
