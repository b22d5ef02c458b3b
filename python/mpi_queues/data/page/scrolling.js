"use strict";
// What is wider than the screen: it is seen to go on, and drawings are dragged, and made larger and smaller.

const EDGE = new ResizeObserver((entries) => { for (const { target } of entries) showEdges(target.closest(".scroll")); });

/** Fades the edges at which more is to be seen. */
function showEdges(holder) {
  if (!holder) return;
  const left = holder.scrollLeft;
  holder.classList.toggle("more-left", left > 1);
  holder.classList.toggle("more-right", left + holder.clientWidth < holder.scrollWidth - 1);
}

/** Does so for all that scrolls in an element, whenever its size changes. */
function watchEdges(root) {
  for (const holder of root.querySelectorAll(".scroll")) {
    for (const one of [holder, holder.firstElementChild]) if (one) EDGE.observe(one);
  }
}

document.addEventListener("scroll", ({ target }) => { if (target.matches && target.matches(".scroll")) showEdges(target); }, { capture: true, passive: true });

/** Lets a drawing that scrolls be dragged and zoomed: by buttons, by + - 0, arrows and the pointer, by Ctrl and the wheel. `draw` is given how large it is. */
function zoomable(holder, thing, draw, wide) {
  let zoom = 1;
  const button = (words, label, action) => make("button", { type: "button", "aria-label": label, onclick: action }, words);
  const now = button("100%", `${thing}: original size`, () => to(1));

  /** What is at this place of the drawing stays where it is. */
  function to(wanted, x = holder.clientWidth / 2, y = 0) {
    const next = Math.min(8, Math.max(0.2, wanted));
    const left = ((holder.scrollLeft + x) * next) / zoom - x;
    const down = (y * next) / zoom - y;
    zoom = next;
    draw(zoom);
    now.textContent = `${Math.round(zoom * 100)}%`;
    holder.scrollLeft = left;
    scrollBy(0, down);
  }

  holder.before(make("p", { class: "zoom" }, button("−", `${thing}: smaller`, () => to(zoom / 1.25)), now,
    button("+", `${thing}: larger`, () => to(zoom * 1.25)),
    button("Fit", `${thing}: as wide as the page`, () => to((holder.clientWidth - 16) / wide()))));
  holder.classList.add("draggable");
  holder.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = holder.getBoundingClientRect();
    to(zoom * Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  const sizes = { "+": () => zoom * 1.25, "=": () => zoom * 1.25, "-": () => zoom / 1.25, 0: () => 1 };
  holder.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: -60, ArrowRight: 60 }[event.key];
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !(way || sizes[event.key])) return;
    event.preventDefault();
    if (way) holder.scrollLeft += way;
    else to(sizes[event.key]());
  });

  // Fingers scroll by themselves, and so does a scroll bar.
  let from = null;
  holder.addEventListener("pointerdown", (event) => {
    const bar = event.target === holder && event.offsetY >= holder.clientHeight;
    from = event.pointerType !== "mouse" || event.button || bar ? null
      : { x: event.clientX + holder.scrollLeft, y: event.clientY + scrollY, at: event.clientX, moved: false };
  });
  holder.addEventListener("pointermove", (event) => {
    if (!from || !event.buttons) return;
    if (!from.moved && Math.abs(event.clientX - from.at) + Math.abs(event.clientY + scrollY - from.y) < 5) return;
    if (!from.moved) holder.setPointerCapture(event.pointerId);
    from.moved = true;
    holder.scrollLeft = from.x - event.clientX;
    scrollTo(scrollX, from.y - event.clientY);
  });
  holder.addEventListener("pointerup", () => setTimeout(() => { from = null; }));
  // What was dragged is not pressed.
  holder.addEventListener("click", (event) => { if (from && from.moved) event.stopPropagation(); }, true);
}
