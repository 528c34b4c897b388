/* Read a screenshot: the picture with a box around each line, below it the lines; a letter shows where it was read. */

add({
  ko: { shots: "캡처 이미지 읽기", shotsIntro: "캡처 이미지의 텍스트를 읽고 줄마다 긍정인지 부정인지 예측합니다. 리뷰가 아닌 줄에도 라벨이 붙습니다.", shotFile: "이미지 선택",
    shotDrop: "이미지를 끌어다 놓거나 붙여 넣어도 됩니다 (Ctrl+V)", shotKinds: "PNG, JPEG, GIF, WEBP, BMP, TIFF", shotBusy: "텍스트를 읽는 중…", shotPicture: "캡처 이미지",
    shotLines: "읽은 텍스트", noLines: "이미지에서 텍스트를 찾지 못했습니다", lineCount: count => `${count}줄`, leftOut: count => `읽지 않은 곳 ${count}군데(아이콘 또는 알아보기 어려운 글자)`, shotPoint: "글자에 마우스를 올리거나 글자를 누르면 이미지의 어디에서 읽었는지 표시됩니다.",
    shotPlace: (line, letter, probability) => `${line}번째 줄${letter ? ` “${letter}”` : ""}: 이 줄의 글자 확률 평균 ${(100 * probability).toFixed(1)} %`,
    copyLines: "텍스트 복사", linesCopied: "텍스트를 복사했습니다", linesNotCopied: "텍스트를 직접 선택해 복사하세요",
    messages: [[/^picture: expected at most ([\d,]+) pixels, found ([\d, x]+);.*/, "이미지가 너무 큽니다: 최대 $1픽셀, 입력 $2. 텍스트가 있는 부분만 잘라 주세요"],
      [/^picture: expected a picture.*damaged.*/, "이미지 파일이 손상되어 읽을 수 없습니다"],
      [/^picture: expected at most ([\d,]+) separate marks.*/, "이미지에 점이나 얼룩이 너무 많습니다. 글자가 있는 부분만 잘라 주세요"],
      [/^picture: .*/, "읽을 수 없는 파일입니다. PNG, JPEG, GIF, WEBP, BMP, TIFF 이미지를 고르세요"]] },
  en: { shots: "Read a screenshot",
    shotsIntro: "Reads the text in a screenshot and classifies each line as positive or negative, including lines that are not reviews.",
    shotFile: "Choose a picture", shotDrop: "or drop or paste one here (Ctrl+V)", shotKinds: "PNG, JPEG, GIF, WEBP, BMP, TIFF", shotBusy: "Reading…",
    shotPicture: "The screenshot", shotLines: "The lines that were read", noLines: "no text was found in the picture",
    lineCount: count => `${count} ${count === 1 ? "line" : "lines"}`,
    leftOut: count => `${count} ${count === 1 ? "place" : "places"} left out (icons or illegible text)`, shotPoint: "Point at or tap a letter to see where in the picture it was read.",
    shotPlace: (line, letter, probability) => `Line ${line}${letter ? `, “${letter}”` : ""}: mean probability of its letters ${(100 * probability).toFixed(1)} %`,
    copyLines: "Copy the text", linesCopied: "Text copied", linesNotCopied: "select the text to copy it" },
});

// What browsers call the pictures that the server reads, and the most bytes that it takes
const PICTURES = ["png", "jpeg", "gif", "webp", "bmp", "tiff"].map(kind => `image/${kind}`), LARGEST = 20_000_000;
const NO_PICTURE = "picture: expected a picture (PNG, JPEG, GIF, WEBP, BMP, TIFF), found another file";
// What the server read; the line and the letter that were chosen, and that are shown while the pointer is on others
let shot = null, chosenPlace = [-1, -1], shownPlace = [-1, -1];

const isPicture = file => file?.type.startsWith("image/") && !$("shot-drop").closest("[hidden]");

async function readPicture(file) {
  const signal = begin("shot"), problem = !PICTURES.includes(file.type) ? NO_PICTURE
    : file.size > LARGEST ? `body: expected at most ${LARGEST} bytes, found more` : "";
  forgetShot(file.name);
  report("shot-problem", problem);
  if (problem) { drawShot(); return; }
  $("shot-image").src = URL.createObjectURL(file);
  $("shot-image").hidden = false;
  $("shot-busy").hidden = false;
  drawShot();
  try {
    const found = await (await send("read", file, file.type, signal)).json();
    if (!signal.aborted) shot = found;
  } catch (wrong) {
    if (signal.aborted) return;
    forgetShot(file.name);
    report("shot-problem", wrong.message);
  }
  if (signal.aborted) return;
  $("shot-busy").hidden = true;
  drawShot();
}

function forgetShot(name) {
  URL.revokeObjectURL($("shot-image").src);
  $("shot-image").removeAttribute("src");
  $("shot-name").dataset.name = name;
  $("shot-busy").hidden = true;
  $("shot-copied").textContent = "";
  [shot, chosenPlace] = [null, [-1, -1]];
}

function drawShot() {
  const { width, height, lines = [], left_out: others = [] } = shot ?? {}, isTouched = matchMedia("(hover: none)").matches;
  $("shot-name").textContent = $("shot-name").dataset.name ?? (isTouched ? say.shotKinds : say.shotDrop);
  $("shot").hidden = !$("shot-image").hasAttribute("src");
  $("shot-image").alt = say.shotPicture;
  // where the browser cannot show a picture, a TIFF, there are still its boxes
  $("shot-picture").style.cssText = shot ? `max-width: ${width}px; aspect-ratio: ${width} / ${height}` : "";
  $("shot-boxes").replaceChildren(...lines.map(boxOfLine));
  $("shot-others").replaceChildren(...others.map(box => boxOfLine({ box })));
  $("shot-lines").replaceChildren(...lines.map(lineOfText));
  $("shot-lines").hidden = $("shot-tools").hidden = !lines.length;
  const counts = lines.length ? countsOf(lines) : say.noLines;
  $("shot-count").textContent = !shot ? "" : [counts, ...(others.length ? [say.leftOut(others.length)] : [])].join(" · ");
  showPlace(...chosenPlace);
}

function countsOf(lines) {
  const count = name => lines.filter(line => line.label === name).length;
  return [say.lineCount(lines.length), ...["positive", "negative"].map(name => `${say[name]} ${count(name)}`)].join(" · ");
}

function boxOfLine({ box: [left, top, right, bottom], label }) {
  const { width, height } = shot, made = element("i", label ?? "none");
  placeAt(made, left / width, top / height, right / width, bottom / height);
  return made;
}

function placeAt(made, ...sides) {
  const [left, top, right, bottom] = sides.map(side => 100 * side);
  made.style.cssText = `left: ${left}%; top: ${top}%; width: ${right - left}%; height: ${bottom - top}%`;
}

function lineOfText({ text, label, score, error }, number) {
  const made = element("div", "line"), letters = element("span", "letters");
  made.id = `shot-line-${number}`;
  made.setAttribute("role", "option");
  letters.lang = "ko";
  letters.append(...Array.from(text).map(letter => element("span", "", letter)));
  made.append(element("span", `label ${label ?? "none"}`, label ? `${say[label]} ${(100 * score).toFixed(1)} %` : translate(error)), " ", letters);
  return made;
}

/* Of a letter, from the middle between it and the one before to that between it and the next. */
function sidesOf({ box: [left, top, right, bottom], places }, letter) {
  const place = places[letter], gaps = [letter - 1, letter + 1].map(other => Math.abs(places[other] - place)).filter(gap => gap >= 0);
  const height = bottom - top, half = Math.min(.6 * height, Math.max(.15 * height, Math.min(...gaps, height) / 2));
  return [place - half, top, place + half, bottom];
}

/* Marks a line and, unless it is -1, a letter of it, in the picture and in the text; a frame scrolls to what is not in view. */
function showPlace(line, letter) {
  const mark = $("shot-mark"), found = shot?.lines[line];
  for (const each of $("shot").querySelectorAll(".here")) each.classList.remove("here");
  shownPlace = [line, letter];
  mark.hidden = !found || letter < 0;
  $("shot-say").textContent = !shot?.lines.length ? "" : found ? say.shotPlace(line + 1, Array.from(found.text)[letter], found.letter_probability) : say.shotPoint;
  $("shot-lines").setAttribute("aria-activedescendant", found ? `shot-line-${line}` : "");
  if (!found) return;
  const box = $("shot-boxes").children[line], row = $("shot-lines").children[line];
  if (letter >= 0) {
    const { width, height } = shot, [left, top, right, bottom] = sidesOf(found, letter);
    placeAt(mark, left / width, top / height, right / width, bottom / height);
    row.lastChild.children[letter].classList.add("here");
  }
  for (const [each, frame] of [[box, $("shot-frame")], [row, $("shot-lines")]]) {
    each.classList.add("here");
    scrollWithin(frame, each);
  }
}

function scrollWithin(frame, each) {
  const inner = each.getBoundingClientRect(), outer = frame.getBoundingClientRect();
  if (inner.top < outer.top || inner.bottom > outer.bottom) frame.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
}

function choosePlace(line, letter) {
  chosenPlace = [line, letter];
  for (const row of $("shot-lines").children) row.setAttribute("aria-selected", row.id === `shot-line-${line}`);
  showPlace(line, letter);
}

/* The line and letter at the pointer: in the text, or the nearest one in the picture. */
function placeOf({ target, clientX }) {
  const row = target.closest("#shot-lines > *"), box = target.closest("#shot-boxes > *"), { children } = $(row ? "shot-lines" : "shot-boxes");
  const line = [...children].indexOf(row ?? box);
  if (row) return [line, [...row.lastChild.children].indexOf(target)];
  if (!box) return null;
  const { left, width } = $("shot-picture").getBoundingClientRect(), x = (clientX - left) / width * shot.width;
  const distances = shot.lines[line].places.map(place => Math.abs(place - x));
  return [line, distances.indexOf(Math.min(...distances))];
}

/* Up and down by lines, to the left and right by letters. */
function onShotKey(event) {
  const [line, letter] = chosenPlace, { lines } = shot, within = (place, count) => Math.max(0, Math.min(count - 1, place));
  const to = { ArrowDown: line + 1, ArrowUp: line - 1, Home: 0, End: lines.length }[event.key];
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if ((to ?? by) === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (to !== undefined) choosePlace(within(to, lines.length), -1);
  else choosePlace(within(line, lines.length), within(letter + by, lines[within(line, lines.length)].places.length));
}

async function copyLines() {
  try {
    await navigator.clipboard.writeText(shot.lines.map(line => line.text).join("\n"));
    $("shot-copied").textContent = say.linesCopied;
  } catch (problem) {
    // as a link's
    $("shot-copied").textContent = say.linesNotCopied;
  }
}

function listenToShots() {
  $("shot-pick").addEventListener("click", () => $("shot-file").click());
  $("shot-file").addEventListener("change", () => { if ($("shot-file").files.length) readPicture($("shot-file").files[0]); $("shot-file").value = ""; });
  $("shot-image").addEventListener("error", () => { $("shot-image").hidden = true; });
  $("shot-copy").addEventListener("click", copyLines);
  $("shot-lines").addEventListener("keydown", onShotKey);
  $("shot-lines").addEventListener("focus", () => { if (chosenPlace[0] < 0 && $("shot-lines").matches(":focus-visible")) choosePlace(0, -1); });
  for (const frame of [$("shot-lines"), $("shot-boxes")]) {
    frame.addEventListener("mousemove", event => {
      const place = placeOf(event);
      if (place && `${place}` !== `${shownPlace}`) showPlace(...place);
    });
    frame.addEventListener("mouseleave", () => showPlace(...chosenPlace));
    frame.addEventListener("click", event => { const place = placeOf(event); if (place) choosePlace(...place); });
  }
  // a screenshot may be pasted anywhere; of what has text too, such as cells of a table, a field gets the text
  document.addEventListener("paste", event => {
    const { files, types } = event.clipboardData, file = [...files].find(isPicture);
    if (!file || (types.includes("text/plain") && event.target.closest("input, textarea"))) return;
    event.preventDefault();
    readPicture(file);
    $("shots").scrollIntoView();
  });
}

at("language", drawShot);
targets.unshift({ id: "shot-drop", takes: isPicture, open: file => { readPicture(file); $("shots").scrollIntoView(); } });
listenToShots();
