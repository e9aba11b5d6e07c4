// Sorting and filtering of the rows that a table shows. Without a script, rows come in the order of the answer.
// A cell may also have the name of its column, which only cards show.
const FEW = 12; // rows, which need no filter
const text = (row, column) => row.cells[column].querySelector("bdi, time, .wordless")?.textContent ?? row.cells[column].textContent;
const number = (row, column) => {
  const found = Number.parseFloat(row.cells[column].textContent.replaceAll(",", ""));
  return Number.isNaN(found) ? -Infinity : found; // not known
};

function sort(table, column) {
  const head = table.tHead.rows[0].cells[column];
  const isNumber = head.classList.contains("number");
  const goesUp = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "descending" : !isNumber;
  const value = isNumber ? number : text;
  const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  const rows = [...table.tBodies[0].rows].map((row) => [value(row, column), row]);
  rows.sort(([a], [b]) => (goesUp ? order(a, b) : order(b, a)));
  table.tBodies[0].append(...rows.map(([, row]) => row));
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", goesUp ? "ascending" : "descending");
}

function filter(table, words, status) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    const has = [...row.cells].map((_, column) => text(row, column)).join(" ").toLowerCase();
    row.hidden = !wanted.every((word) => has.includes(word));
    if (!row.hidden) shown += 1;
  }
  const [rows, total] = [table.tBodies[0].rows.length, Number(table.dataset.total)].map((count) => count.toLocaleString("en"));
  const where = rows === total ? `${rows} rows` : `the ${rows} rows on this page; there are ${total}`;
  status.textContent = wanted.length ? `${shown.toLocaleString("en")} of ${where}` : "";
}

function prepare() {
  for (const table of document.querySelectorAll("table[data-sortable]:not(.is-sortable)")) {
    table.classList.add("is-sortable");
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((cell, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.tabIndex = column ? -1 : 0; // the head is one stop: arrows lead to its other columns
      button.append(...cell.childNodes);
      button.addEventListener("click", () => sort(table, column));
      cell.append(button);
    });
    table.tHead.addEventListener("keydown", ({ key, target }) => {
      const here = heads.indexOf(target.closest("th"));
      const there = heads[{ ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: heads.length - 1 }[key]]?.firstChild;
      if (!there) return;
      target.tabIndex = -1;
      there.tabIndex = 0;
      there.focus();
    });
    if (table.tBodies[0].rows.length <= FEW) continue;
    const label = document.createElement("label");
    const field = document.createElement("input");
    const status = document.createElement("span");
    label.className = "filter";
    status.setAttribute("role", "status");
    field.type = "search";
    field.addEventListener("input", () => filter(table, field.value, status));
    label.append("Only rows with ", field, " ", status);
    table.parentElement.after(label);
  }
}

document.addEventListener("arrived", prepare);
prepare();
