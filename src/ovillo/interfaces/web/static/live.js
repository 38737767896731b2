// What happens now comes in at the end. Who scrolls up is left where he reads, and told how much came since.

const box = document.querySelector(".live");
const list = document.getElementById("live-stream");
const pill = document.getElementById("new-lines");
const state = document.getElementById("live-state");
const MOST = 500;
const NEAR_END = 40;
let cursor = Number(box.dataset.cursor);
let unseen = 0;
let asking = false;
let again = false;
let stream = null;

const isAtEnd = () => list.scrollTop + list.clientHeight >= list.scrollHeight - NEAR_END;
const toEnd = () => (list.scrollTop = list.scrollHeight);

async function more() {
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  try {
    const answer = await fetch(`/live/lines?since=${cursor}&q=${encodeURIComponent(box.dataset.q)}`);
    if (answer.ok) take(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } finally {
    asking = false;
  }
  if (again) {
    again = false;
    more();
  }
}

function take(page) {
  const lines = page.getElementById("live-lines");
  cursor = Number(lines.dataset.cursor);
  document.getElementById("running").replaceChildren(...page.getElementById("live-running").children);
  const wasAtEnd = isAtEnd();
  let count = 0;
  for (const line of [...lines.children]) {
    const had = list.querySelector(`[data-line="${CSS.escape(line.dataset.line)}"]`);
    if (had) had.replaceWith(line);
    else {
      list.append(line);
      count++;
    }
  }
  document.getElementById("live-none").hidden = list.children.length > 0;
  if (wasAtEnd) {
    while (list.children.length > MOST) list.firstElementChild.remove();
    toEnd();
  } else if (count) {
    unseen += count;
    pill.querySelector("b").textContent = unseen;
    pill.hidden = false;
  }
}

function follow() {
  const follows = isAtEnd();
  state.textContent = follows ? state.dataset.follows : state.dataset.waits;
  if (!follows) return;
  unseen = 0;
  pill.hidden = true;
}

function listen() {
  if (stream || document.hidden) return;
  stream = new EventSource(`/api/changes?since=${cursor}`);
  for (const kind of ["message", "session"]) stream.addEventListener(kind, more);
}

list.addEventListener("scroll", follow, { passive: true });
pill.addEventListener("click", toEnd);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    stream?.close();
    stream = null;
  } else {
    listen();
    more();
  }
});
toEnd();
follow();
listen();
