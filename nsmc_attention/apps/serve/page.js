/* What systems add to the page: what it says, and actions at certain moments. */
const actions = { language: [], ready: [], explain: [], link: [], open: [], table: [], source: [] };
// Where a file may be dropped, the first one that takes it
const targets = [{ id: "drop", takes: () => true, open: file => openFile(file) }];
const at = (moment, ...added) => actions[moment].push(...added);
const run = (moment, ...values) => actions[moment].forEach(action => action(...values));

function add(said) {
  for (const [language, { about = {}, messages = [], ...words }] of Object.entries(said)) {
    Object.assign(SAY[language], words);
    Object.assign(SAY[language].about, about);
    // before those that fit any line
    SAY[language].messages.unshift(...messages);
  }
}

const EXAMPLES = ["정말 재미있는 영화였어요", "배우는 좋은데 영화는 별로", "나무랄 데 없는 연출", "재미있지 않다", "정말재미있는영화", "ㅋㅋㅋㅋ 이걸 돈 주고 보다니"];
/* The server reads the bytes of a file; the page sends what its name says they are. */
const TYPES = { csv: "text/csv", tsv: "text/tab-separated-values", jsonl: "application/x-ndjson", ndjson: "application/x-ndjson",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", parquet: "application/vnd.apache.parquet" };
// Milliseconds without a key before a new request replaces the one in progress, before the address is changed, until a
// font is read and until a server that loads its models is asked again; rows of a page of the results; characters of a
// link, which some programs cut off; letters of a name in a header
const PAUSE = 200, LATER = 500, FONT = 1000, RETRY = 1000, ROWS = 50, LINK = 8000, LETTERS = 200;
const $ = id => document.getElementById(id);
// The request in progress of each kind, an AbortController
const requests = {};
let say = SAY.ko, methods = [], hasHeads = false, answers = [], pause = 0, later = 0;
// The scored rows; how they are shown; the file and how to score it by another column; its columns and the one in use, its
// sheets and the one that was chosen
let table = null, view = {}, source = null, columns = [], column = "", sheets = [], sheet = "", unlike = null, share = null;

function setLanguage(language) {
  say = SAY[language];
  document.documentElement.lang = language;
  document.title = `${say.title} · nsmc_attention`;
  document.querySelectorAll("[data-say]").forEach(each => { each.textContent = say[each.dataset.say]; });
  document.querySelectorAll("[data-label]").forEach(each => each.setAttribute("aria-label", say[each.dataset.label]));
  $("search").placeholder = say.search;
  $("language").textContent = say.other;
  $("language").lang = language === "ko" ? "en" : "ko";
  drawMethods();
  $("copied").textContent = "";
  for (const { id, dataset } of document.querySelectorAll(".problem[id]")) report(id, dataset.line ?? "");
  drawAnswer();
  drawSource();
  drawTable();
  run("language");
}

/* What the server's classifier cannot compute is not offered; until it is loaded, only what is chosen, if any. */
function drawMethods(chosen = $("method").value || methods[0]) {
  const offered = Object.entries(say.methods).filter(([name]) => methods.includes(name) || name === chosen);
  $("method").replaceChildren(...offered.map(([name, shown]) => new Option(shown, name)));
  if (chosen) $("method").value = chosen;
}

async function offerMethods() {
  const response = await fetch("readyz").catch(() => ({ ok: false }));
  if (!response.ok) { setTimeout(offerMethods, RETRY); return; }
  const state = await response.json();
  ({ methods, heads: hasHeads } = state);
  run("ready", state);
  drawMethods();
  // of a link's review the answer may have come first
  drawAnswer();
}

/* The server's lines are English; what they say of a table is shown of the file. */
function translate(line) {
  const named = line.replace(/^(table|form)(?=[ :])/, source?.name ?? "$1");
  const [pattern, shown] = say.messages.find(([each]) => each.test(named)) ?? [];
  return pattern ? named.replace(pattern, shown) : named;
}

function report(id, line) {
  $(id).dataset.line = line;
  $(id).textContent = translate(line);
}

/* The newest request of a kind wins: the one before is aborted. */
function begin(kind) {
  requests[kind]?.abort();
  requests[kind] = new AbortController();
  return requests[kind].signal;
}

async function send(path, body, type, signal) {
  const headers = { "Content-Type": type };
  const response = await fetch(path, { method: "POST", body, headers, signal }).catch(() => { throw new Error("offline"); });
  if (response.ok) return response;
  const found = await response.json().catch(() => ({ error: `${response.status}` }));
  throw Object.assign(new Error(found.error), { columns: found.columns, sheets: found.sheets });
}

/* One review */

/* A picture of another method or of other words is removed at once; that of the text before only fades. */
async function explain(changed = false) {
  clearTimeout(pause);
  const signal = begin("review"), method = $("method").value || "auto", by_word = $("by-word").checked;
  const texts = [$("text").value, $("compare").checked ? $("other").value : ""].filter(text => text.trim());
  report("problem", "");
  run("explain");
  if (changed || !texts.length) show([]);
  showBusy(texts.length > 0);
  try {
    const found = await Promise.all(texts.map(async inputs => {
      const response = await send("explain", JSON.stringify({ inputs, method, by_word }), "application/json", signal);
      return { ...await response.json(), by_word };
    }));
    if (!signal.aborted) show(found);
  } catch (problem) {
    if (!signal.aborted) { show([]); report("problem", problem.message); }
  } finally {
    if (!signal.aborted) { delete requests.review; showBusy(false); }
  }
}

function showBusy(on) {
  $("answer").setAttribute("aria-busy", on);
  $("busy").hidden = !on || answers.length > 0;
  $("busy").lastElementChild.textContent = `${say.computing} ${say.methods[$("method").value] ?? ""}`;
}

function show(found) {
  // the page keeps its height while the next answer is computed
  if (answers.length && !found.length) $("busy").style.minHeight = `${$("answer").offsetHeight + $("after").offsetHeight}px`;
  answers = found;
  drawAnswer();
  updateAddress();
}

function updateAddress() {
  clearTimeout(later);
  later = setTimeout(() => history.replaceState(null, "", link() ?? location.pathname), LATER);
}

function drawAnswer() {
  const { positive, negative, methods, meanings, numbers } = say, hops = answers.some(each => each.queries);
  const panels = answers.map(answer => {
    const meaning = meanings[answer.method] ?? answer.meaning;
    const queries = answer.queries?.map((_, row) => say.hop(row + 1));
    // a server has one model, whose name says nothing
    return { ...answer, queries, positive, negative, label: say[answer.label], opinion: opinionOf(answer), method: methods[answer.method], source: "", opener: say.matrix, zoom: say.zoom,
      meaning: answer.matrix ? `${meaning}. ${queries ? say.clickHop : say.click}` : meaning };
  });
  $("answer").replaceChildren(...withSharedScale(panels).map(panelWithHeads));
  $("after").hidden = !panels.length;
  $("copied").textContent = "";
  $("summary").textContent = panels.map(each =>
    [`${say.label}: ${each.label} ${(100 * Math.max(each.probability, 1 - each.probability)).toFixed(1)} %`, each.opinion, each.method].filter(Boolean).join(", ")).join("; ");
  const shown = [numbers.answer, ...(panels.some(each => each.opinion) ? [numbers.opinion] : []), numbers.bar, answers[0]?.signed ? numbers.signed : numbers.weights];
  if (answers.some(each => each.matrix)) shown.push(hops ? numbers.hops : numbers.matrix);
  $("numbers").replaceChildren(...shown.flatMap(([name, text]) => [element("dt", "", name), element("dd", "", text)]));
}

function panelWithHeads(panel) {
  const section = panelOf(panel), { text, tokens, by_word } = panel;
  const question = { inputs: text, by_word };
  if (hasHeads) section.append(" ", headsOpener(section, tokens, "explain", question));
  return section;
}

/* The address of this page with these reviews and what else is on it, null if it would be too long. */
function link() {
  const { value } = $("method"), given = new URLSearchParams();
  if ($("text").value.trim()) given.set("text", $("text").value);
  if ($("compare").checked) given.set("compare", $("other").value);
  // the first one is what the server takes where none is named
  if (value && value !== methods[0]) given.set("method", value);
  if ($("by-word").checked) given.set("by_word", "1");
  run("link", given);
  const found = location.pathname + (`${given}` ? `?${given}` : "");
  return found.length > LINK ? null : found;
}

function readLink() {
  const given = new URLSearchParams(location.search);
  $("text").value = given.get("text") ?? "";
  $("other").value = given.get("compare") ?? "";
  $("compare").checked = given.has("compare");
  $("second").hidden = !given.has("compare");
  $("by-word").checked = given.get("by_word") === "1";
  run("open", given);
  if (given.get("method") in say.methods) drawMethods(given.get("method"));
  if ($("text").value.trim()) explain();
}

async function copyLink() {
  const found = link();
  try {
    if (found) await navigator.clipboard.writeText(location.origin + found);
    $("copied").textContent = found ? say.copied : say.tooLong;
  } catch (problem) {
    // only https and this machine may write to the clipboard
    $("copied").textContent = say.notCopied;
  }
}

function download(blob, name) {
  const anchor = element("a");
  anchor.href = URL.createObjectURL(blob);
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 1000);
}

/* The answer as it is shown, an open matrix in full, drawn by the browser itself: HTML within SVG. */
async function savePicture() {
  const picture = element("div", "picture"), space = "http://www.w3.org/2000/svg", style = element("style");
  const svg = document.createElementNS(space, "svg"), frame = document.createElementNS(space, "foreignObject");
  const css = document.querySelector("style").textContent, root = getComputedStyle(document.documentElement);
  const body = getComputedStyle(document.body);
  picture.append($("answer").cloneNode(true));
  picture.style.cssText = `font: ${body.font}; color: ${body.color}; padding: 12px; width: ${$("answer").offsetWidth + 24}px`;
  document.body.append(picture);
  const width = picture.scrollWidth + 12, height = picture.scrollHeight;
  for (const name of new Set(css.match(/--[\w-]+/g))) svg.style.setProperty(name, root.getPropertyValue(name));
  picture.style.cssText += `; position: static; width: ${width}px; height: ${height}px`;
  const font = await fontInUse();
  style.textContent = css.replace("url(font.woff)", font || "url(data:,)");
  for (const [each, sizes] of [[svg, { width, height }], [frame, { width, height }]])
    for (const [name, size] of Object.entries(sizes)) each.setAttribute(name, size);
  picture.prepend(style);
  frame.append(picture);
  svg.append(frame);
  const image = new Image(), canvas = element("canvas"), scale = 2;
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
  try {
    await image.decode();
    // the font inside is read after the picture
    if (font) await new Promise(resolve => setTimeout(resolve, FONT));
    Object.assign(canvas, { width: width * scale, height: height * scale });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    download(await new Promise(resolve => canvas.toBlob(resolve)), "attention.png");
  } catch (problem) {
    $("copied").textContent = say.noPicture;
  }
}

/* A picture loads nothing: where the browser has no Hangul of its own, the server's font has to be inside. */
async function fontInUse() {
  if (![...document.fonts].some(font => font.status === "loaded")) return "";
  const blob = await (await fetch("font.woff")).blob(), reader = new FileReader();
  await new Promise(resolve => { reader.onload = resolve; reader.readAsDataURL(blob); });
  return `url(${reader.result})`;
}

/* Many reviews */

const quote = cell => /[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

function parseCsv(text, separator) {
  const rows = [[]];
  let cell = "", quoted = false;
  for (let place = 0; place < text.length; place++) {
    const letter = text[place];
    if (quoted && letter === '"' && text[place + 1] === '"') { cell += letter; place++; }
    else if (letter === '"' && (quoted || !cell)) quoted = !quoted;
    else if (quoted) cell += letter;
    else if (letter === "\n" && !cell && !rows.at(-1).length) continue;
    else if (letter === separator || letter === "\n") {
      rows.at(-1).push(cell);
      cell = "";
      if (letter === "\n") rows.push([]);
    }
    else if (letter !== "\r") cell += letter;
  }
  if (cell || rows.at(-1).length) rows.at(-1).push(cell);
  return rows.filter(row => row.length);
}

/* An apostrophe before a formula, as `tables.writers.as_cell` sets it: such a cell has one more than the original. */
const MARKED = /^'['\p{Cc}\p{Cf}\p{Z}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\ufe00-\ufe0f]*[\t\r\n=+\-@＝＋－＠]/u;
const unmarked = cell => MARKED.test(cell) ? cell.slice(1) : cell;

/* The whole name of the column in use, which the server shortens in its header. */
const wholeName = () => columns.find(name => [...name].slice(0, LETTERS).join("") === column) ?? column;

// What a review may say, in the order of the counts; what has no label is "none"
const KINDS = ["positive", "neutral", "negative", "noOpinion"];
const kindOf = ({ label, sentiment }) => !label ? "none" : sentiment || "noOpinion";

/* The sentiment and the stars of a review with a label; nothing where the server's classifier has no stars. */
function opinionOf(row) {
  const kind = kindOf(row), { stars } = row;
  return kind === "noOpinion" ? say.noOpinion : stars ? `${say[kind]} · ${say.ofTen(Number(stars).toFixed(1))}` : "";
}

/* The prediction is in the last six columns, whatever the others are called. */
function fromCsv(text, separator) {
  const [head, ...rows] = parseCsv(text, separator);
  columns = head.slice(0, -6).map(unmarked);
  column = wholeName();
  const place = columns.indexOf(column);
  return rows.map(row => {
    const [label, , sentiment, stars, probability, error] = row.slice(-6);
    return { review: unmarked(row[place] ?? ""), label, sentiment, stars, probability, error };
  });
}

/* The keys of the prediction come last, prefixed by `predicted_` as often as necessary; csv has six digits too. */
function fromJsonl(text) {
  const found = text.split("\n").filter(Boolean).map(line => JSON.parse(line));
  const keyOf = (row, name) => Object.keys(row).reverse().find(key => key.replace(/^(predicted_)+/, "") === name);
  const names = Object.keys(found[0] ?? {});
  columns = found.length ? names.slice(0, names.indexOf(keyOf(found[0], "text"))) : [];
  column = wholeName();
  return found.map(row => {
    const of = name => row[keyOf(row, name)] ?? "", label = of("label"), [sentiment, stars] = label ? ["sentiment", "stars"].map(of) : ["", ""];
    return { review: String(row[column] ?? ""), label, sentiment, stars, probability: label && of("probability").toFixed(6), error: label ? "" : of("error") };
  });
}

/* Aborts the request in progress, clears the results, and returns the signal of the new request. */
function beginTable() {
  table = null;
  view = { key: "", way: 1, only: "", words: "", page: 0 };
  $("search").value = "";
  URL.revokeObjectURL($("save").href);
  report("table-problem", "");
  run("table");
  drawTable();
  return begin("table");
}

async function scoreTable(chosen = "") {
  const { body, type } = source, signal = beginTable(), query = new URLSearchParams({ text_column: chosen, sheet, sentiment: true });
  column = chosen;
  $("table-busy").hidden = false;
  try {
    const response = await send(`predict/batch?${query}`, body, type, signal), text = await response.text();
    if (signal.aborted) return;
    offerSheets(JSON.parse(response.headers.get("X-Sheets")));
    unlike = JSON.parse(response.headers.get("X-Unlike"));
    share = JSON.parse(response.headers.get("X-Share"));
    const kind = response.headers.get("Content-Type").split(";")[0];
    column = JSON.parse(response.headers.get("X-Text-Column"));
    table = kind === TYPES.jsonl ? fromJsonl(text) : fromCsv(text, kind === TYPES.tsv ? "\t" : ",");
    table.forEach((row, number) => Object.assign(row, { number, kind: kindOf(row) }));
    offer(text, kind);
  } catch (problem) {
    if (signal.aborted) return;
    columns = problem.columns ?? [];
    offerSheets(problem.sheets);
    report("table-problem", problem.message);
  }
  $("table-busy").hidden = true;
  drawSource();
  drawTable();
}

function offer(text, type) {
  // Excel recognizes UTF-8 by it; JSON must not have one
  const mark = type === TYPES.jsonl ? "" : "\ufeff", suffix = Object.keys(TYPES).find(each => TYPES[each] === type);
  $("save").href = URL.createObjectURL(new Blob([mark, text], { type }));
  $("save").download = `${source.name ? `${source.name.replace(/\.[^.]*$/, "")}-` : ""}scored.${suffix}`;
}

/* The names of sheets, of which the first was read, in the order of the first answer. */
function offerSheets(names) {
  if (sheets.length || !names) return;
  sheets = names;
  $("sheet").replaceChildren(...sheets.map(name => new Option(name, name)));
}

/* The file's name, and its columns where there is a choice. */
function drawSource() {
  $("file-name").textContent = source?.name ?? (matchMedia("(hover: none)").matches ? say.kinds : say.drop);
  $("sheets").hidden = sheets.length < 2;
  $("columns").hidden = !source?.name || !columns.length || (columns.length === 1 && columns[0] === column);
  const options = columns.map(name => new Option(name, name));
  $("column").replaceChildren(...(columns.includes(column) ? [] : [new Option(say.choose, "")]), ...options);
  $("column").value = columns.includes(column) ? column : "";
  run("source");
}

const shownRows = () => {
  const { key, way, only, words } = view, { compare } = new Intl.Collator("ko");
  const found = table.filter(row => (!only || row.kind === only) && (!words || row.review.toLowerCase().includes(words)));
  // rows without a prediction come last, whichever way
  const values = { label: row => KINDS.indexOf(row.kind), probability: row => row.probability }, value = values[key];
  const order = (one, other) => !one.label - !other.label || way * (value ? value(one) - value(other) : compare(one[key], other[key]));
  return key ? found.sort(order) : found;
};

function drawTable() {
  $("results").hidden = !table;
  if (!table) return;
  const rows = shownRows(), pages = Math.max(1, Math.ceil(rows.length / ROWS));
  view.page = Math.min(view.page, pages - 1);
  const from = view.page * ROWS, part = rows.slice(from, from + ROWS), made = element("table"), top = element("thead"), body = element("tbody");
  top.append(headRow(["label", "probability", "review"], view, drawTable, $("table")));
  body.append(...part.map(rowOf));
  made.append(top, body);
  $("table").replaceChildren(made);
  $("table").scrollTop = 0;
  $("shown").textContent = rows.length ? `${from + 1}–${from + part.length} / ${rows.length.toLocaleString()}` : "0";
  $("previous").disabled = !view.page;
  $("next").disabled = view.page >= pages - 1;
  drawCounts();
}

function drawCounts() {
  const count = Object.fromEntries([...KINDS, "none"].map(name => [name, 0]));
  for (const { kind } of table) count[kind]++;
  // without stars each review has a side
  const always = table.some(opinionOf) ? KINDS : ["positive", "negative"], scored = table.length - count.none;
  const shown = Object.entries(count).filter(([name, each]) => each || always.includes(name));
  const part = ([name, each]) => `${say[name]} ${each.toLocaleString()}${name !== "none" && scored ? ` (${(100 * each / scored).toFixed(1)} %)` : ""}`;
  $("count").textContent = [say.rows(table.length.toLocaleString()), ...shown.map(part)].join(" · ");
  $("share").hidden = !share;
  $("share").textContent = share ? say.share(share) : "";
  $("unlike").hidden = !unlike;
  $("unlike").textContent = unlike ? say.unlike(unlike) : "";
  $("only").replaceChildren(new Option(say.all, ""), ...shown.map(([name]) => new Option(say[name], name)));
  $("only").value = view.only;
}

/* The head of a table in a frame, by whose buttons its rows are sorted: `state` says how, and `draw` draws it. */
function headRow(names, state, draw, frame) {
  const head = element("tr");
  for (const name of names) {
    const cell = element("th"), chosen = state.key === name;
    const button = element("button", "", say[name] + (chosen ? (state.way > 0 ? " ↑" : " ↓") : ""));
    button.type = "button";
    button.title = say.about[name];
    button.dataset.key = name;
    cell.scope = "col";
    cell.setAttribute("aria-sort", !chosen ? "none" : state.way > 0 ? "ascending" : "descending");
    button.addEventListener("click", () => {
      Object.assign(state, { key: name, way: chosen ? -state.way : 1, page: 0 });
      draw();
      frame.querySelector(`[data-key=${name}]`).focus({ preventScroll: true });
    });
    cell.append(button);
    head.append(cell);
  }
  return head;
}

function rowOf(row) {
  const line = element("tr"), label = element("td"), review = element("td"), open = element("button", "", row.review);
  label.append(element("span", `label ${row.kind}`, row.label ? say[row.kind] : translate(row.error)));
  label.title = row.label ? opinionOf(row) : "";
  open.type = "button";
  open.lang = "ko";
  open.title = say.open;
  open.addEventListener("click", () => { $("text").value = row.review; explain(); $("one").scrollIntoView(); });
  if (row.review.trim()) review.append(open);
  const share = element("td", "number", row.probability && `${(100 * row.probability).toFixed(1)} %`);
  share.title = row.probability;
  line.append(label, share, review);
  return line;
}

function openFile(file) {
  const type = TYPES[file.name.split(".").pop().toLowerCase()];
  source = { name: file.name, body: file, type };
  [columns, sheets, sheet] = [[], [], ""];
  drawSource();
  if (type) return scoreTable();
  beginTable();
  report("table-problem", say.notRead(file.name));
}

function scoreLines() {
  const lines = $("lines").value.split("\n").map(line => line.trim()).filter(Boolean);
  if (!lines.length) { $("lines").focus(); return; }
  source = { body: ["document", ...lines.map(quote)].join("\n") + "\n", type: TYPES.csv };
  [columns, sheets, sheet] = [[], [], ""];
  drawSource();
  scoreTable("document");
}

/* What the controls do */

function onInput() {
  clearTimeout(pause);
  if (requests.review) pause = setTimeout(() => explain(), PAUSE); else explain();
}

function change(changes) {
  Object.assign(view, { page: 0, ...changes });
  drawTable();
}

/* A chip for each example, which `use` puts into a field. */
function offerExamples(id, examples, use) {
  for (const text of examples) {
    const chip = element("button", "chip", text);
    chip.type = "button";
    chip.lang = "ko";
    chip.addEventListener("click", () => use(text));
    $(id).append(chip);
  }
}
