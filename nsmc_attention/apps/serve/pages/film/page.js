/* Films of a table: each with its stars; of the chosen one the reviews with the largest weights, and their words. */

add({
  ko: { groupBy: "영화별 별점: 영화 열", rating: "별점을 예측하는 중…", filmList: "영화별 별점", filmReviews: "영화의 리뷰", film: "영화", stars: "별점 (90 % 구간)", reviews: "리뷰",
    films: count => `영화 ${count}편. 이름을 누르면 가중치가 큰 리뷰를 볼 수 있습니다.`, openFilm: "가중치가 큰 리뷰를 봅니다", weight: "영화의 어텐션에서 이 리뷰가 받은 가중치",
    filmStars: stars => `별점 ${stars}: 다른 관객이 줄 평균 별점의 예측값입니다. 영화 열 편 가운데 아홉 편은 실제 평균 별점이 구간 안에 있습니다.`,
    filmMeaning: count => `리뷰 ${count}개를 가중치가 큰 순으로 표시합니다. 왼쪽 값은 리뷰의 가중치이고, 리뷰 안에서 가중치가 큰 단어일수록 진합니다. 가중치가 커도 별점의 이유라고 할 수는 없습니다.`,
    about: { film: "", stars: "다른 관객이 줄 평균 별점의 예측값", reviews: "읽을 단어가 있는 리뷰의 수" },
    messages: [[/^(.*?): expected at most (\d+) films in column '(.*?)'.*/, "$1: '$3' 열의 영화가 $2편보다 많습니다. 다른 열을 고르거나 nsmc-attention film 명령을 쓰세요"],
      [/^(.*?): expected rows that name a film in column '(.*?)'.*/, "$1: '$2' 열에 영화 이름이 없습니다"],
      [/^film: this server has no film.*/, "이 서버에는 별점을 예측하는 모델이 없습니다"]] },
  en: { groupBy: "Stars by film: column of the films", rating: "Estimating the stars…", filmList: "Stars by film", filmReviews: "Reviews of a film",
    film: "Film", stars: "Stars (90 % interval)", reviews: "Reviews",
    films: count => `${count} ${count === "1" ? "film" : "films"}. Click a name to see its reviews with the largest weights.`,
    openFilm: "Show the reviews of large weight", weight: "share of the film's attention",
    filmStars: stars => `${stars} stars: the mean that other viewers are expected to give. Nine of ten films are within the interval.`,
    filmMeaning: count => `Of ${count} ${count === "1" ? "review" : "reviews"}, those of the largest weight first. Left: the weight of the review; the darker a word, the larger its weight within the review. That does not make them reasons.`,
    about: { film: "", stars: "The mean stars that other viewers are expected to give", reviews: "Reviews with a word to read" } },
});

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

at("language", drawFilms);
at("ready", ({ stars = null }) => { starScale = stars; drawGroups(); });
at("table", forgetFilms);
at("source", drawGroups);
$("group").addEventListener("change", rateFilms);
$("film-previous").addEventListener("click", () => turnFilms(-1));
$("film-next").addEventListener("click", () => turnFilms(1));
