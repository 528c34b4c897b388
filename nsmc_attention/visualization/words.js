/* Reviews with their words shaded: panelOf(panel) answers an element. Texts are put on the page as text only.

A page in another language than English hands in panels with label, method, meaning and `positive` in its own. */
"use strict";

function element(name, classes, text) {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  if (text !== undefined) made.textContent = text;
  return made;
}

function shade(target, value, largest) {
  const strength = largest ? Math.abs(value) / largest : 0;
  target.style.background = `rgba(var(--${value < 0 ? "against" : "for"}), ${(0.92 * strength).toFixed(3)})`;
  target.style.color = strength > 0.55 ? "var(--on-dark)" : "var(--ink)";
  target.classList.toggle("against", value < 0);
}

const largestOf = values => Math.max(...values.map(Math.abs), 0);
const number = (value, signed) => (signed && value > 0 ? "+" : "") + value.toFixed(3).replace("-", "−");

function headOf(panel) {
  const head = element("div", "head");
  const score = Math.max(panel.probability, 1 - panel.probability);
  head.append(element("b", "", `${panel.label} ${(100 * score).toFixed(1)} %`), element("span", "", panel.method));
  if (panel.source) head.append(element("span", "", panel.source));
  const bar = element("div", "bar"), filled = element("i");
  filled.style.width = `${100 * panel.probability}%`;
  bar.title = `${panel.positive ?? "positive"} ${(100 * panel.probability).toFixed(1)} %`;
  bar.append(filled);
  head.append(bar);
  return head;
}

/* Positions count characters as Python does, not the halves of rare ones as JavaScript does. */
function wordsOf(panel, say) {
  const line = element("div", "words"), letters = Array.from(panel.text);
  let end = 0, chosen = -1;
  line.lang = "ko";
  const words = panel.offsets.map(([start, stop], place) => {
    if (start > end) line.append(letters.slice(end, start).join(""));
    const word = element("button", "word", letters.slice(start, stop).join(""));
    word.type = "button";
    line.append(word);
    end = stop;
    return word;
  });
  if (end < letters.length) line.append(letters.slice(end).join(""));
  const shown = () => chosen < 0 ? panel.values : panel.matrix[chosen];
  function draw() {
    const values = shown(), largest = largestOf(values);
    words.forEach((word, place) => {
      shade(word, values[place], largest);
      word.title = `${panel.tokens[place]}: ${number(values[place], panel.signed)}`;
      word.setAttribute("aria-pressed", place === chosen);
      word.setAttribute("aria-label", word.title);
    });
  }
  words.forEach((word, place) => {
    const tell = () => { say.textContent = (chosen < 0 ? "" : `${panel.tokens[chosen]} → `) + word.title; };
    word.addEventListener("mouseenter", tell);
    word.addEventListener("focus", tell);
    word.addEventListener("click", () => {
      if (!panel.matrix) return;
      chosen = chosen === place ? -1 : place;
      draw();
      tell();
    });
  });
  draw();
  return line;
}

function matrixOf(panel) {
  const frame = element("div", "matrix"), table = element("table"), head = element("tr");
  head.append(element("th"));
  panel.tokens.forEach(token => head.append(element("th", "", token)));
  const top = element("thead"), body = element("tbody");
  top.append(head);
  const largest = Math.max(...panel.matrix.map(largestOf));
  panel.matrix.forEach((row, query) => {
    const line = element("tr");
    line.append(element("th", "", panel.tokens[query]));
    row.forEach((value, key) => {
      const cell = element("td");
      shade(cell, value, largest);
      cell.title = `${panel.tokens[query]} → ${panel.tokens[key]}: ${number(value, false)}`;
      line.append(cell);
    });
    body.append(line);
  });
  table.append(top, body);
  frame.append(table);
  frame.tabIndex = 0;
  return frame;
}

function panelOf(panel) {
  const section = element("section", "panel"), say = element("div", "say", panel.meaning);
  say.setAttribute("aria-live", "polite");
  section.append(headOf(panel), wordsOf(panel, say), say);
  if (panel.matrix) {
    const more = element("button", "more", `${panel.tokens.length} × ${panel.tokens.length}`);
    let shown = null;
    more.type = "button";
    more.setAttribute("aria-expanded", "false");
    more.addEventListener("click", () => {
      if (shown) { shown.remove(); shown = null; }
      else { shown = matrixOf(panel); section.append(shown); }
      more.setAttribute("aria-expanded", shown !== null);
    });
    section.append(more);
  }
  return section;
}
