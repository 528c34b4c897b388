/* Reviews with their words shaded: panelOf(panel) returns an element. Texts are inserted as text only.

A page in another language than English passes panels with label, method, meaning and `positive` in its own. */
"use strict";

function element(name, classes, text) {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  if (text !== undefined) made.textContent = text;
  return made;
}

/* The colour of a share of the largest value, -1..1: neutral, or for signed values that of the label it speaks for. */
function colorOf(share, signed) {
  const hue = !signed ? "neutral" : share < 0 ? "against" : "for";
  return `rgba(var(--${hue}), calc(var(--strongest) * ${Math.abs(share).toFixed(3)}))`;
}

function shade(target, value, largest, signed = true) {
  target.style.background = colorOf(largest ? Math.max(-1, Math.min(1, value / largest)) : 0, signed);
  target.classList.toggle("against", signed && value < 0);
}

const largestOf = values => Math.max(...values.map(Math.abs), 0);
const largestWeight = panel => Math.max(...panel.matrix.map(largestOf));
const number = (value, signed) => (signed && value > 0 ? "+" : "") + value.toFixed(3).replace("-", "−");

/* Give panels that are side by side one colour scale for their matrices; returns them. */
function withSharedScale(panels) {
  const scale = Math.max(...panels.filter(panel => panel.matrix).map(largestWeight));
  return panels.map(panel => ({ ...panel, scale }));
}

/* The colours between the names of their ends: 0 and the largest value, or for signed values the two labels. */
function legendOf(panel, largest, signed) {
  const legend = element("span", "legend"), ramp = element("i");
  const shares = signed ? [-1, 0, 1] : [0, 1], end = number(largest, signed);
  ramp.style.background = `linear-gradient(to right, ${shares.map(share => colorOf(share, signed)).join(", ")})`;
  const ends = signed ? [`${panel.negative ?? "negative"} ${number(-largest, true)}`, `${end} ${panel.positive ?? "positive"}`]
    : ["0", end];
  legend.append(element("span", "", ends[0]), ramp, element("span", "", ends[1]));
  return legend;
}

function headOf(panel) {
  const head = element("div", "head");
  const score = Math.max(panel.probability, 1 - panel.probability);
  head.append(element("b", "", `${panel.label} ${(100 * score).toFixed(1)} %`));
  if (panel.opinion) head.append(element("span", "opinion", panel.opinion));
  head.append(element("span", "", panel.method));
  if (panel.source) head.append(element("span", "", panel.source));
  const bar = element("div", "bar"), filled = element("i");
  filled.style.width = `${100 * panel.probability}%`;
  bar.title = `${panel.positive ?? "positive"} ${(100 * panel.probability).toFixed(1)} %`;
  bar.append(filled);
  head.append(bar);
  return head;
}

/* What the review praises and what it blames, each with its clause. */
function aspectsOf(panel) {
  const letters = Array.from(panel.text), list = element("ol", "sides"), sides = { positive: panel.positive ?? "positive", negative: panel.negative ?? "negative" };
  for (const [start, end, name, label] of panel.aspects)
    list.append(element("li", label === "negative" ? "against" : "", `${name} · ${sides[label] ?? "?"} · ${letters.slice(start, end).join("")}`));
  return list;
}

const buttonOf = text => {
  const word = element("button", "word", text);
  word.type = "button";
  return word;
};

/* Offsets count characters as Python does, not UTF-16 units as JavaScript does. Clicking a query (a word, or a hop, of
panel.queries) shades the words by its row of the matrix. */
function wordsOf(panel, say) {
  const line = element("div", "words"), letters = Array.from(panel.text), frame = element("div");
  let legend = element("span");
  let end = 0, chosen = -1, whole;
  line.lang = "ko";
  const words = panel.offsets.map(([start, stop]) => {
    // what is written without a gap is one line's, where it fits
    if (start > end || !whole) line.append(letters.slice(end, start).join(""), whole = element("span", "whole"));
    const word = buttonOf(letters.slice(start, stop).join(""));
    whole.append(word);
    end = stop;
    return word;
  });
  if (end < letters.length) line.append(letters.slice(end).join(""));
  const queries = panel.queries && panel.matrix ? panel.queries.map(buttonOf) : words;
  const names = panel.queries ?? panel.tokens;
  function draw() {
    const values = chosen < 0 ? panel.values : panel.matrix[chosen], largest = largestOf(values);
    // a row of the matrix has no sign
    const signed = panel.signed && chosen < 0, shown = legendOf(panel, largest, signed);
    legend.replaceWith(shown);
    legend = shown;
    words.forEach((word, place) => {
      shade(word, values[place], largest, signed);
      word.title = `${panel.tokens[place]}: ${number(values[place], signed)}`;
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
  const [from, to] = panel.marked ?? [];
  words.forEach((word, place) => word.classList.toggle("marked", panel.offsets[place][0] >= from && panel.offsets[place][1] <= to));
  frame.append(legend, line, ...(panel.aspects?.length ? [aspectsOf(panel)] : []));
  draw();
  if (queries !== words) {
    const other = element("div", "words");
    queries.forEach(query => other.append(query, " "));
    frame.append(other);
  }
  return frame;
}

const headingOf = text => {
  const heading = element("th");
  heading.append(element("span", "", text));
  return heading;
};

function tableOf(matrix, queries, keys, title, largest = Math.max(...matrix.map(largestOf))) {
  const table = element("table"), head = element("tr"), top = element("thead"), body = element("tbody");
  if (title) table.append(element("caption", "", title));
  // an empty heading would be read as one
  head.append(element("td"), ...keys.map(headingOf));
  top.append(head);
  matrix.forEach((row, query) => {
    const line = element("tr");
    line.append(headingOf(queries[query]));
    row.forEach((value, key) => {
      const cell = element("td");
      shade(cell, value, largest, false);
      cell.title = `${queries[query]} → ${keys[key]}: ${number(value, false)}`;
      line.append(cell);
    });
    body.append(line);
  });
  table.append(top, body);
  return table;
}

// Pixels: the largest and smallest side of a cell, and the room of a name; the share of the window that a matrix may take
const SIDE = 23, SMALLEST_SIDE = 2, NAME = 13, SHARE = .85;
// The length of the longest name in rem, at most 4.5
const longest = names => `${Math.min(4.5, .5 + .75 * Math.max(...names.map(name => Array.from(name).length)))}rem`;

/* The matrix as wide as its frame, with the names that have room, of the largest weights first; a button zooms in. */
function matrixOf(panel) {
  const queries = panel.queries ?? panel.tokens, largest = panel.scale ?? largestWeight(panel);
  const legend = legendOf(panel, largest, false), table = tableOf(panel.matrix, queries, panel.tokens, "", largest);
  const zoom = element("button", "zoom", panel.zoom ?? "Zoom"), frame = scrolling(legend, table);
  const columns = panel.tokens.map((_, key) => panel.matrix.reduce((sum, row) => sum + row[key], 0));
  const { offsets = [] } = panel, starts = offsets.map(([start], place) => place > 0 && start > offsets[place - 1][1]);
  const rows = panel.matrix.map(largestOf), whole = panel.queries ? [] : starts;
  zoom.type = "button";
  legend.append(zoom);
  frame.classList.add("fits");
  frame.style.setProperty("--name", longest(queries));
  frame.style.setProperty("--head", longest(panel.tokens));
  const fit = () => {
    const { offsetWidth, offsetHeight } = table.rows[0].cells[0];
    const across = (frame.clientWidth - offsetWidth - NAME) / columns.length;
    const down = (SHARE * innerHeight - table.offsetTop + frame.offsetTop - offsetHeight) / rows.length;
    const fitting = Math.max(SMALLEST_SIDE, Math.min(SIDE, across, down));
    const side = zoom.ariaPressed === "true" ? SIDE : fitting, gap = side < SIDE / 3 ? 0 : 1;
    table.style.setProperty("--side", `${side - gap}px`);
    table.style.setProperty("--gap", `${gap}px`);
    zoom.hidden = fitting === SIDE;
    nameThose(table.querySelectorAll("thead th"), columns, side, starts);
    nameThose(table.querySelectorAll("tbody th"), rows, side, whole);
  };
  zoom.ariaPressed = "false";
  zoom.addEventListener("click", () => { zoom.ariaPressed = zoom.ariaPressed !== "true"; fit(); });
  new ResizeObserver(fit).observe(frame);
  return frame;
}

/* Show the headings of the largest weights that have room, and a line before each that begins a word. */
function nameThose(headings, weights, side, starts) {
  const shown = [], order = [...weights.keys()].sort((one, other) => weights[other] - weights[one]);
  for (const place of order) if (shown.every(other => Math.abs(place - other) * side >= NAME)) shown.push(place);
  headings.forEach((heading, place) => {
    heading.classList.toggle("unnamed", !shown.includes(place));
    heading.classList.toggle("start", side >= NAME && starts[place] === true);
  });
}

/* Tables in a frame that the keyboard scrolls too; where there is more of them, its edge is pale. */
function scrolling(...parts) {
  const frame = element("div", "matrix");
  const fade = () => {
    const right = frame.scrollWidth - frame.clientWidth - frame.scrollLeft > 1;
    const below = frame.scrollHeight - frame.clientHeight - frame.scrollTop > 1;
    frame.style.setProperty("--right", right ? "2.5rem" : "0px");
    frame.style.setProperty("--below", below ? "2.5rem" : "0px");
  };
  frame.append(...parts);
  frame.tabIndex = 0;
  frame.addEventListener("scroll", fade);
  new ResizeObserver(fade).observe(frame);
  return frame;
}

function panelOf(panel) {
  const section = element("section", "panel"), say = element("div", "say", panel.meaning);
  say.setAttribute("aria-live", "polite");
  section.append(headOf(panel), wordsOf(panel, say), say);
  if (panel.matrix) {
    const label = `${panel.opener ?? "Show the matrix"} (${panel.matrix.length} × ${panel.tokens.length})`;
    section.append(openerOf(section, label, () => matrixOf(panel)));
  }
  return section;
}

/* A button that puts what `make` returns at the end of a section, and takes it away again. */
function openerOf(section, label, make) {
  const more = element("button", "more", label);
  let shown = null;
  more.type = "button";
  more.setAttribute("aria-expanded", "false");
  more.addEventListener("click", () => {
    if (shown) { shown.remove(); shown = null; }
    else { shown = make(); section.append(shown); }
    more.setAttribute("aria-expanded", shown !== null);
  });
  return more;
}
