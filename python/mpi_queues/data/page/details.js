"use strict";

/** Makes an element of a drawing a button. */
function pressable(element, label, action) {
  element.setAttribute("tabindex", "0");
  element.setAttribute("role", "button");
  element.setAttribute("aria-label", label);
  element.addEventListener("click", action);
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      action();
    }
  });
}

/** Marks one of a drawing's elements, and no other. */
function choose(element, all) {
  for (const one of document.querySelectorAll(all)) {
    one.classList.toggle("chosen", one === element);
    one.setAttribute("aria-pressed", one === element);
  }
}

/** Shows something below a drawing. */
function showDetails(place, ...children) {
  document.getElementById(place).replaceChildren(...children.flat().filter((child) => child));
}

/** A list of texts and elements. */
function list(items) {
  return items.length ? make("ul", null, items.map((item) => make("li", null, item))) : null;
}
