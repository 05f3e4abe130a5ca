// <sortable-list>: drag a row by its grip, or move it with Alt and an arrow key. Both submit the
// form of the row's own buttons.
const EDGE = 120; // px from the edges of the window; covers the bar at the bottom

customElements.define(
  "sortable-list",
  class extends HTMLElement {
    connectedCallback() {
      this.addEventListener("pointerdown", (event) => this.take(event));
      this.addEventListener("keydown", (event) => this.step(event));
    }

    // a question that is not saved yet has no position
    get rows() {
      return [...this.querySelectorAll(":scope > ol > li:not(.q--new)")];
    }

    step(event) {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      const row = event.target.closest("li");
      if (!by || !event.altKey || !row || event.target.matches("input, textarea, select")) return;
      event.preventDefault();
      const to = this.rows.indexOf(row) + by;
      if (this.rows[to]) this.send(row, to);
    }

    take(event) {
      const grip = event.target.closest("[data-grip]");
      if (!grip || event.button) return;
      event.preventDefault();
      const row = grip.closest("li");
      const before = row.nextElementSibling;
      const from = this.rows.indexOf(row);
      const drag = new AbortController();
      const on = (name, act) => addEventListener(name, act, { signal: drag.signal });
      const pointer = { y: null };
      const drop = () => {
        drag.abort();
        row.classList.remove("q--dragged");
        const to = this.rows.indexOf(row);
        before ? before.before(row) : row.parentElement.append(row);
        if (to !== from) this.send(row, to);
      };
      row.classList.add("q--dragged");
      on("pointermove", ({ clientY }) => this.follow(row, (pointer.y = clientY)));
      this.scroll(row, pointer, drag.signal);
      on("pointerup", drop);
      on("pointercancel", () => (before ? before.before(row) : row.parentElement.append(row), drop()));
    }

    // scrolls while a row is held at an edge of the window
    scroll(row, pointer, drag) {
      if (drag.aborted) return;
      const above = EDGE - pointer.y;
      const below = pointer.y - (innerHeight - EDGE);
      const by = Math.min(Math.max(0, above, below), EDGE) / 6;
      if (by && pointer.y !== null) {
        scrollBy({ top: above > below ? -by : by, behavior: "instant" });
        this.follow(row, pointer.y);
      }
      requestAnimationFrame(() => this.scroll(row, pointer, drag));
    }

    follow(row, y) {
      const others = this.rows.filter((other) => other !== row);
      const below = others.find((other) => {
        const box = other.getBoundingClientRect();
        return y < box.top + box.height / 2;
      });
      below ? below.before(row) : others.at(-1).after(row);
    }

    // the row is moved back first: the response renders the new order
    send(row, to) {
      const form = row.querySelector("form.tools");
      if (!form) return;
      const fields = Object.entries({ to: to + 1, by: "keys" }).map(([name, value]) =>
        Object.assign(document.createElement("input"), { type: "hidden", name, value }),
      );
      form.append(...fields);
      htmx.trigger(form, "submit");
      for (const field of fields) field.remove();
    }
  },
);
