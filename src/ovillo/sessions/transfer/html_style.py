"""The style sheet inside an HTML export.

Owns colours and layout for both colour schemes and for print. Colour never stands alone: every kind has a
word or a sign as well. Contrast of text is at least 4.5:1 in both schemes.
"""

STYLE = """
:root { color-scheme: light dark;
  --paper: light-dark(#fbfaf8, #16181c); --card: light-dark(#ffffff, #1d2025); --ink: light-dark(#1f2328, #e4e6ea);
  --dim: light-dark(#5b6470, #a0a8b4); --line: light-dark(#dfe1e5, #343a43); --code: light-dark(#f3f4f6, #14161a);
  --user: light-dark(#0b5cad, #6cb2ff); --assistant: light-dark(#7a3e9d, #cf9bf0); --system: light-dark(#5b6470, #a0a8b4);
  --tool: light-dark(#1d6b4a, #6fcf9f); --bad: light-dark(#b3261e, #ff8f87); --band: light-dark(#fff4d6, #352c12);
  --band-line: light-dark(#a87400, #e0b040);
  --add: light-dark(#e3f6e8, #12301f); --add-ink: light-dark(#12562c, #8fe0ae);
  --del: light-dark(#fdeaea, #3a1a1c); --del-ink: light-dark(#8f1d18, #ffaaa3); --hunk: light-dark(#1a4f8a, #8fc0f5); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif; }
.page { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 2.5rem; max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .75rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 0; }
a { color: var(--user); }
:focus-visible { outline: 2px solid var(--user); outline-offset: 2px; }
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1rem; margin: 0 0 1rem; font-size: .875rem; }
.facts dt { color: var(--dim); } .facts dd { margin: 0; overflow-wrap: anywhere; }
.hint { color: var(--dim); font-size: .8125rem; }
.outline { font-size: .8125rem; margin: 0 0 1.5rem; }
.outline ol { margin: .5rem 0 0; padding: 0; list-style: none; }
.outline a { display: block; padding: .2rem .5rem; border-left: 2px solid var(--line); color: var(--ink); text-decoration: none;
  overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.outline a:hover { border-color: var(--user); color: var(--user); }
.message { border-left: 3px solid var(--system); background: var(--card); border-radius: 0 .5rem .5rem 0; 
  padding: .75rem 1rem; margin: 0 0 .75rem;
  scroll-margin-top: 1rem; content-visibility: auto; contain-intrinsic-size: auto 8rem; }
.message:target { box-shadow: 0 0 0 2px var(--user); }
.user { border-color: var(--user); } .assistant { border-color: var(--assistant); } .tool-role { border-color: var(--tool); }
.message > header { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: baseline; margin-bottom: .35rem; }
.user h2 { color: var(--user); } .assistant h2 { color: var(--assistant); } .system h2 { color: var(--system); }
.message time, .anchor { color: var(--dim); font-size: .8125rem; }
.anchor { text-decoration: none; margin-left: auto; font-family: ui-monospace, monospace; }
.badge { font-size: .75rem; padding: 0 .5rem; border: 1px solid var(--dim); border-radius: 1rem; color: var(--dim); }
.superseded { border-left-style: dotted; }
.reverted { border-left-style: dotted; } .reverted h2 { text-decoration: line-through; }
.synthetic { border-left-style: dashed; }
.band { border: 1px solid var(--band-line); border-left-width: 3px; background: var(--band); border-radius: .5rem; }
.error { color: var(--bad); font-weight: 600; overflow-wrap: anywhere; }
.said { overflow-wrap: anywhere; } .said > :first-child { margin-top: 0; } .said > :last-child { margin-bottom: 0; }
.said h1, .said h2, .said h3, .said h4 { font-size: 1.0625rem; margin: 1rem 0 .4rem; color: inherit; }
.said table { border-collapse: collapse; display: block; overflow-x: auto; font-size: .9375rem; }
.said th, .said td { border: 1px solid var(--line); padding: .25rem .6rem; text-align: left; }
.said blockquote { margin: .5rem 0; padding-left: .75rem; border-left: 3px solid var(--line); color: var(--dim); }
.plain { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font: inherit; }
code, pre { font-family: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .8125rem; }
code { background: var(--code); padding: .1em .3em; border-radius: .25rem; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: .375rem; padding: .6rem .8rem; margin: .5rem 0; overflow: auto;
  line-height: 1.4; tab-size: 4; max-height: 32rem; }
pre code { background: none; padding: 0; }
pre.wrap { white-space: pre-wrap; overflow-wrap: anywhere; }
details { margin: .4rem 0; border: 1px solid var(--line); border-radius: .375rem; }
summary { cursor: pointer; padding: .3rem .6rem; font-size: .875rem; display: flex; gap: .6rem; align-items: baseline; min-width: 0; }
summary::before { content: "\\25B8"; color: var(--dim); flex: none; } details[open] > summary::before { content: "\\25BE"; }
summary::-webkit-details-marker { display: none; }
summary .name { font-weight: 600; color: var(--tool); flex: none; }
summary .kind { font-weight: 600; color: var(--dim); flex: none; }
summary .target { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .8125rem; 
  overflow: hidden; text-overflow: ellipsis; white-space: nowrap; min-width: 0; }
summary .state { color: var(--dim); font-size: .8125rem; margin-left: auto; flex: none; }
summary .failed { color: var(--bad); font-weight: 600; }
details > .body { padding: 0 .6rem .4rem; }
.label { color: var(--dim); font-size: .75rem; margin: .4rem 0 0; }
.diff { padding: .4rem 0; } .diff span { display: block; padding: 0 .8rem; white-space: pre; 
  width: max-content; min-width: 100%; min-height: 1.4em; }
.diff .added { background: var(--add); color: var(--add-ink); } .diff .deleted { background: var(--del); color: var(--del-ink); }
.diff .hunk { color: var(--hunk); } .diff .file { font-weight: 700; }
footer { color: var(--dim); font-size: .8125rem; margin-top: 2rem; }
@media (min-width: 80rem) {
  .page { grid-template-columns: 16rem minmax(0, 1fr); max-width: 82rem; }
  .page > header, .page > footer { grid-column: 2; }
  .outline { grid-row: 1 / span 3; position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem); overflow: auto; }
  .outline summary { pointer-events: none; } main { grid-column: 2; } }
@media print { .outline { display: none; } .message { content-visibility: visible; break-inside: auto; border-left-width: 2px; } 
  pre { max-height: none; white-space: pre-wrap; }
  .page { display: block; max-width: none; } }
@media (prefers-contrast: more) { :root { --dim: var(--ink); --line: var(--ink); } }
"""
