/* Reviews with their words shaded: panelOf(panel) returns an element. Texts are inserted as text only.

A page in another language than English passes panels with label, method, meaning and `positive` in its own. */
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

const buttonOf = text => {
  const word = element("button", "word", text);
  word.type = "button";
  return word;
};

/* Offsets count characters as Python does, not UTF-16 units as JavaScript does. Clicking a query (a word, or one of
panel.queries where these are another sequence) shades the words by its row of the matrix. */
function wordsOf(panel, say) {
  const line = element("div", "words"), letters = Array.from(panel.text), frame = element("div");
  let end = 0, chosen = -1;
  line.lang = "ko";
  const words = panel.offsets.map(([start, stop]) => {
    if (start > end) line.append(letters.slice(end, start).join(""));
    const word = buttonOf(letters.slice(start, stop).join(""));
    line.append(word);
    end = stop;
    return word;
  });
  if (end < letters.length) line.append(letters.slice(end).join(""));
  const queries = panel.queries && panel.matrix ? panel.queries.map(buttonOf) : words;
  const names = panel.queries ?? panel.tokens;
  function draw() {
    const values = chosen < 0 ? panel.values : panel.matrix[chosen], largest = largestOf(values);
    words.forEach((word, place) => {
      shade(word, values[place], largest);
      word.title = `${panel.tokens[place]}: ${number(values[place], panel.signed)}`;
      word.setAttribute("aria-label", word.title);
    });
    queries.forEach((query, place) => query.setAttribute("aria-pressed", place === chosen));
  }
  const tell = word => { say.textContent = (chosen < 0 ? "" : `${names[chosen]} → `) + word.title; };
  words.forEach(word => {
    word.addEventListener("mouseenter", () => tell(word));
    word.addEventListener("focus", () => tell(word));
  });
  queries.forEach((query, place) => query.addEventListener("click", () => {
    if (!panel.matrix) return;
    chosen = chosen === place ? -1 : place;
    draw();
    if (queries === words) tell(query);
    else say.textContent = chosen < 0 ? panel.meaning : `${names[chosen]} →`;
  }));
  draw();
  frame.append(line);
  if (queries !== words) {
    const other = element("div", "words");
    queries.forEach(query => other.append(query, " "));
    frame.append(other);
  }
  return frame;
}

function tableOf(matrix, queries, keys, title) {
  const table = element("table"), head = element("tr"), top = element("thead"), body = element("tbody");
  if (title) table.append(element("caption", "", title));
  head.append(element("th"), ...keys.map(key => element("th", "", key)));
  top.append(head);
  const largest = Math.max(...matrix.map(largestOf));
  matrix.forEach((row, query) => {
    const line = element("tr");
    line.append(element("th", "", queries[query]));
    row.forEach((value, key) => {
      const cell = element("td");
      shade(cell, value, largest);
      cell.title = `${queries[query]} → ${keys[key]}: ${number(value, false)}`;
      line.append(cell);
    });
    body.append(line);
  });
  table.append(top, body);
  return table;
}

function matrixOf(panel) {
  const frame = element("div", "matrix"), queries = panel.queries ?? panel.tokens;
  for (const each of panel.grid ?? [{ matrix: panel.matrix }])
    frame.append(tableOf(each.matrix, queries, panel.tokens, each.title));
  frame.tabIndex = 0;
  return frame;
}

function panelOf(panel) {
  const section = element("section", "panel"), say = element("div", "say", panel.meaning);
  say.setAttribute("aria-live", "polite");
  section.append(headOf(panel), wordsOf(panel, say), say);
  if (panel.matrix) {
    const times = panel.grid ? `${panel.grid.length} × ` : "";
    const more = element("button", "more", `${times}${panel.matrix.length} × ${panel.tokens.length}`);
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
