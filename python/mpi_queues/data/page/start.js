"use strict";

/** Texts that are copied. */
function copyButtons() {
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const holder = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(holder.textContent);
        button.textContent = "Copied";
      } catch {
        // A browser that does not let a file copy: it is selected, and Ctrl-C does it.
        getSelection().selectAllChildren(holder);
        button.textContent = "Selected: copy it with Ctrl-C";
      }
    });
  }
}

/** On paper nothing can be opened: calls, evidence and limits are printed. */
function openForPaper() {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("#findings details:not([open]), .limits:not([open])")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });
}

async function start() {
  document.documentElement.classList.remove("plain");
  copyButtons();
  openForPaper();
  try {
    page.tables = await loadTables();
    page.graph = JSON.parse(document.getElementById("edges").textContent);
    for (const view of [graphView, searchView, stacksView, matrixView, messagesView, timeLineView, ranksView, followPointer]) view();
    watchEdges(document);
  } catch (error) {
    document.querySelector("main").prepend(make("p", { class: "odd", role: "alert" }, `The data of this page could not be read: ${error.message}`));
  }
  document.documentElement.dataset.ready = "yes";
}

start();
