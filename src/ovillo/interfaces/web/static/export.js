// The only script of an exported session: finding through folded parts, and folding all. Without it everything can be read.
const field = document.getElementById("find-in");
const told = document.getElementById("found-here");
const rows = [...document.querySelectorAll(".part")];
let hits = [];
let at = -1;
let asking = 0;
document.getElementById("find-here").hidden = false;

function find() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  hits = words.length ? rows.filter((row) => words.every((word) => row.textContent.toLowerCase().includes(word))) : [];
  at = -1;
  told.textContent = words.length ? String(hits.length) : "";
  for (const row of rows) row.classList.toggle("hit", hits.includes(row));
}

function go(way) {
  if (!hits.length) return;
  at = (at + way + hits.length) % hits.length;
  for (const fold of hits[at].querySelectorAll("details")) fold.open = true;
  hits[at].scrollIntoView({ block: "start" });
  hits[at].focus({ preventScroll: true });
  told.textContent = `${at + 1} / ${hits.length}`;
}

field.addEventListener("input", () => {
  clearTimeout(asking);
  asking = setTimeout(find, 200);
});
field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  clearTimeout(asking);
  if (!hits.length) find();
  go(event.shiftKey ? -1 : 1);
});
document.addEventListener("keydown", (event) => {
  if (event.target === field || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "n") go(1);
  else if (event.key === "N") go(-1);
});
document.getElementById("fold-all").addEventListener("click", () => {
  for (const fold of document.querySelectorAll(".part details[open]")) fold.open = false;
});
