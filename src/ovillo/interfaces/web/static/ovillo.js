// What every page does by script: shortcuts, the palette, moving through lists. Reading works without any of it.
// Screens that need more bring a module of their own and register keys with `window.ovillo.onKey`.

const root = document.documentElement;
const usesKeys = () => !root.hasAttribute("data-no-keys");
const isTyping = (target) => target instanceof Element && target.closest("input, textarea, select, [contenteditable]");

const handlers = new Map();
/** Runs `act(event)` at a key outside of fields; the name is that of KeyboardEvent.key. */
function onKey(key, act) {
  handlers.set(key, act);
}
// Modules of screens come after this one and find it here: addresses of assets change with what they hold, so that one
// cannot name another.
window.ovillo = { onKey };

let awaitsSection = 0;

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && usesKeys()) {
    event.preventDefault();
    openPalette();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !usesKeys()) return;
  if (document.querySelector("dialog[open]")) return;
  if (awaitsSection && Date.now() - awaitsSection < 1500) {
    awaitsSection = 0;
    const link = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
    if (link) {
      event.preventDefault();
      link.click();
    }
    return;
  }
  if (event.key === "g") awaitsSection = Date.now();
  else if (event.key === "/") {
    event.preventDefault();
    document.getElementById("find")?.focus();
  } else if (event.key === "?") document.getElementById("keys")?.showModal();
  else if (handlers.has(event.key)) {
    event.preventDefault();
    handlers.get(event.key)(event);
  }
});

// --- lists: j and k move, Enter opens

function moveIn(list, step) {
  const rows = [...list.children];
  const at = rows.findIndex((row) => row.classList.contains("here"));
  const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
  if (!next) return;
  rows[at]?.classList.remove("here");
  next.classList.add("here");
  next.querySelector("a")?.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}
const list = () => document.querySelector("[data-list]");
onKey("j", () => list() && moveIn(list(), 1));
onKey("k", () => list() && moveIn(list(), -1));

// --- palette

const palette = document.getElementById("palette");
const wanted = palette?.querySelector("input");
const choices = palette?.querySelector("ul");

function actions() {
  const links = [...document.querySelectorAll(".sections a, [data-palette]")];
  return links.map((link) => ({
    text: link.dataset.palette || link.textContent.trim(),
    key: link.dataset.go ? `g ${link.dataset.go}` : link.dataset.key || "",
    run: () => link.click(),
  }));
}

function openPalette() {
  if (!palette) return;
  wanted.value = "";
  offer();
  palette.showModal();
}

function offer() {
  const words = wanted.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = actions().filter((each) => words.every((word) => each.text.toLowerCase().includes(word)));
  if (wanted.value.trim()) {
    const text = wanted.value.trim();
    found.push({ text: `⌕ ${text}`, key: "", run: () => location.assign(`/sessions?q=${encodeURIComponent(text)}`) });
  }
  choices.replaceChildren(
    ...found.slice(0, 12).map((each, number) => {
      const row = document.createElement("li");
      row.role = "option";
      row.id = `palette-${number}`;
      row.ariaSelected = String(number === 0);
      const name = document.createElement("span");
      name.textContent = each.text;
      row.append(name);
      if (each.key) {
        const key = document.createElement("kbd");
        key.textContent = each.key;
        row.append(key);
      }
      row.addEventListener("click", () => choose(each));
      row.choose = () => choose(each);
      return row;
    }),
  );
  wanted.setAttribute("aria-activedescendant", found.length ? "palette-0" : "");
}

function choose(action) {
  palette.close();
  action.run();
}

wanted?.addEventListener("input", offer);
wanted?.addEventListener("keydown", (event) => {
  const rows = [...choices.children];
  const at = rows.findIndex((row) => row.ariaSelected === "true");
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const next = rows[(at + (event.key === "ArrowDown" ? 1 : rows.length - 1)) % rows.length];
    if (!next) return;
    rows[at].ariaSelected = "false";
    next.ariaSelected = "true";
    next.scrollIntoView({ block: "nearest" });
    wanted.setAttribute("aria-activedescendant", next.id);
  } else if (event.key === "Enter") {
    event.preventDefault();
    rows[at]?.choose();
  }
});

// A menu closes when the reader goes elsewhere.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});
