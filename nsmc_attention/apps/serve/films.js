/* Films of a table: each with its stars; of the chosen one the reviews with the largest weights, and their words. */

// Characters of a review that /predict takes
const LONGEST = 10000;
// The ends of the scale of stars, of a server that rates films; what it said of the films; how they are shown; the chosen
// one with its reviews
let starScale = null, films = null, filmView = {}, chosenFilm = null;

/* The columns that may name films, of a file whose reviews have been classified. */
function drawGroups() {
  const others = columns.filter(name => name !== column), chosen = films ? $("group").value : "";
  $("by-film").hidden = !(starScale && table && source?.name && others.length);
  $("group").replaceChildren(new Option(say.choose, ""), ...others.map(name => new Option(name, name)));
  $("group").value = others.includes(chosen) ? chosen : "";
}

function forgetFilms() {
  begin("films");
  begin("film");
  [films, chosenFilm] = [null, null];
  filmView = { key: "reviews", way: -1, page: 0 };
  report("film-problem", "");
  $("film-busy").hidden = true;
  drawFilms();
}

async function rateFilms() {
  const group = $("group").value, query = new URLSearchParams({ group_by: group, text_column: column, sheet });
  forgetFilms();
  $("group").value = group;
  if (!group) return;
  const { signal } = requests.films;
  $("film-busy").hidden = false;
  try {
    const response = await send(`film?${query}`, source.body, source.type, signal), text = await response.text();
    if (signal.aborted) return;
    films = text.split("\n").filter(Boolean).map(line => JSON.parse(line));
  } catch (problem) {
    if (signal.aborted) return;
    report("film-problem", problem.message);
  }
  $("film-busy").hidden = true;
  drawFilms();
}

/* Films without stars come last, whichever way. */
function shownFilms() {
  const { key, way } = filmView, { compare } = new Intl.Collator("ko");
  const order = (one, other) => (one.stars === null) - (other.stars === null)
    || way * (key === "film" ? compare(one.film, other.film) : one[key] - other[key]);
  return [...films].sort(order);
}

function drawFilms() {
  $("films").hidden = !films;
  if (!films) return;
  const pages = Math.max(1, Math.ceil(films.length / ROWS)), made = element("table"), top = element("thead"), body = element("tbody");
  const from = filmView.page * ROWS, part = shownFilms().slice(from, from + ROWS);
  top.append(headRow(["film", "stars", "reviews"], filmView, drawFilms, $("film-table")));
  body.append(...part.map(filmRow));
  made.append(top, body);
  $("film-table").replaceChildren(made);
  $("film-count").textContent = say.films(films.length.toLocaleString());
  $("film-shown").textContent = films.length ? `${from + 1}–${from + part.length} / ${films.length.toLocaleString()}` : "0";
  $("film-previous").disabled = !filmView.page;
  $("film-next").disabled = filmView.page >= pages - 1;
  $("film-pager").hidden = pages === 1;
  drawFilm();
}

const starsOf = ({ stars, stars_low, stars_high }) =>
  stars === null ? say.none : `${stars.toFixed(2)} (${stars_low.toFixed(1)}–${stars_high.toFixed(1)})`;

function filmRow(film) {
  const line = element("tr"), name = element("td"), stars = element("td", "stars"), open = element("button", "", film.film);
  open.type = "button";
  open.lang = "ko";
  open.title = say.openFilm;
  open.setAttribute("aria-pressed", film === chosenFilm?.film);
  open.addEventListener("click", () => openFilm(film));
  // of blank reviews there is nothing to show
  name.append(film.stars === null ? film.film : open);
  stars.append(element("span", "number", starsOf(film)), ...(film.stars === null ? [] : [intervalOf(film)]));
  line.append(name, stars, element("td", "number", film.reviews.toLocaleString()));
  return line;
}

/* The interval, and the stars within it, between the ends of the scale. */
function intervalOf({ stars, stars_low, stars_high }) {
  const [lowest, highest] = starScale, track = element("span", "track"), range = element("i", "range"), dot = element("i", "dot");
  const place = value => 100 * (value - lowest) / (highest - lowest);
  range.style.left = `${place(stars_low)}%`;
  range.style.width = `${place(stars_high) - place(stars_low)}%`;
  dot.style.left = `${place(stars)}%`;
  track.append(range, dot);
  return track;
}

/* The words of a film's reviews are weighed when it is opened. */
async function openFilm(film) {
  const signal = begin("film");
  const inputs = film.representative.map(({ text }) => Array.from(text).slice(0, LONGEST).join(""));
  chosenFilm = { film, reviews: null };
  report("film-problem", "");
  drawFilms();
  // the redrawn button
  $("film-table").querySelector("[aria-pressed=true]")?.focus({ preventScroll: true });
  try {
    const response = await send("predict", JSON.stringify({ inputs, parameters: { weights: true } }), "application/json", signal);
    const reviews = await response.json();
    if (!signal.aborted) chosenFilm.reviews = reviews;
  } catch (problem) {
    if (signal.aborted) return;
    chosenFilm = null;
    report("film-problem", problem.message);
  }
  if (!signal.aborted) drawFilm();
}

function drawFilm() {
  const { film, reviews } = chosenFilm ?? {};
  $("film").hidden = !chosenFilm;
  $("film").setAttribute("aria-busy", !reviews);
  if (!reviews) { $("film").replaceChildren(); return; }
  const heading = element("h3", "", film.film), meaning = element("div", "say", say.filmMeaning(film.reviews.toLocaleString()));
  const largest = Math.max(...film.representative.map(({ weight }) => weight));
  heading.lang = "ko";
  meaning.setAttribute("aria-live", "polite");
  const rows = reviews.map((review, place) => weighedReview(review, film.representative[place].weight, largest, meaning));
  $("film").replaceChildren(heading, element("p", "", say.filmStars(starsOf(film))), meaning, ...rows);
}

function weighedReview({ text, tokens, offsets, token_weights }, weight, largest, meaning) {
  const row = element("div", "weighed"), share = element("span", "weight", `${(100 * weight).toFixed(1)} %`);
  share.title = say.weight;
  shade(share, weight, largest, false);
  row.append(share, wordsOf({ text, tokens, offsets, values: token_weights, signed: false }, meaning));
  return row;
}

function turnFilms(pages) {
  filmView.page += pages;
  drawFilms();
}
