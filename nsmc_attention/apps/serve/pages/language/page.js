/* Fill the blank: the words that a language model expects at the [MASK] of a text. */

add({
  ko: { blanks: "빈칸 채우기", blank: "예측할 단어 자리에 [MASK]를 쓰세요", fill: "채우기", mask: "[MASK] 넣기", filling: "채우는 중…", candidates: "후보",
    maskAttended: "[MASK]가 많이 주목한 토큰일수록 진합니다 (마지막 층의 헤드 평균).",
    messages: [[/^fill: expected .* \[MASK\] in the text, found 0.*/, "[MASK]가 없습니다. 예측할 단어 자리에 [MASK]를 쓰세요"],
      [/^fill: expected 1 to (\d+) \[MASK\].*found (\d+).*/, "[MASK]가 $2개입니다. $1개까지만 쓰세요"],
      [/^fill: expected all \[MASK\].*/, "[MASK]가 서로 너무 멀리 떨어져 있습니다. 사이의 텍스트를 줄이세요"]] },
  en: { blanks: "Fill the blank", blank: "Write [MASK] in place of a word", fill: "Fill", mask: "Insert [MASK]", filling: "Filling…", candidates: "Candidates",
    maskAttended: "The stronger the colour, the more [MASK] attended to that token (last layer, mean of its heads)." },
});

const MASK = "[MASK]", BLANKS = ["주인공의 [MASK]에 소름이 돋았다", "이 영화 정말 [MASK]", "[MASK]는 좋은데 내용이 별로"];
// What the server said of the text, and the number of the candidate that is in it
let filling = null, picked = 0;

async function fillBlank() {
  const signal = begin("fill"), body = JSON.stringify({ inputs: $("blank").value });
  let found = null;
  report("blank-problem", "");
  $("filling").setAttribute("aria-busy", true);
  $("blank-busy").hidden = filling !== null;
  try {
    found = await (await send("fill", body, "application/json", signal)).json();
  } catch (problem) {
    if (!signal.aborted) report("blank-problem", problem.message);
  }
  if (signal.aborted) return;
  [filling, picked] = [found, 0];
  $("blank-busy").hidden = true;
  drawFilling();
  updateAddress();
}

function drawFilling() {
  const { candidates = [], text, tokens, attended } = filling ?? {}, buttons = candidates.map(candidateOf);
  $("filling").hidden = !filling;
  $("filling").setAttribute("aria-busy", false);
  $("candidates").replaceChildren(...buttons);
  $("filled").textContent = filling ? `${say.candidates}: ${buttons.map(each => each.textContent).join(", ")}` : "";
  $("mask-attended").replaceChildren(...(attended ? attendedOf(text, tokens, attended) : []));
  $("sentence").textContent = "";
  if (filling) drawSentence(picked);
}

/* The sentence with a candidate: the picked one, or while the pointer is on another, that. It stands below them: a longer word
   that wraps it moves none of them from under the pointer. */
function drawSentence(place) {
  const words = filling.candidates[place].token.split(" "), [before, ...others] = filling.text.split(MASK);
  $("sentence").replaceChildren(before, ...others.flatMap((part, mask) => [element("ins", "now", words[mask]), part]));
}

/* A full bar is 100 %, so that an unsure model looks unsure. */
function candidateOf({ token, text, probability }, place) {
  const button = element("button", "candidate"), bar = element("span", "share"), name = element("span", "", token);
  name.lang = "ko";
  button.type = "button";
  bar.append(element("i"));
  bar.firstChild.style.width = `${100 * probability}%`;
  button.append(name, " ", bar, element("span", "number", `${probability < 0.001 ? "< 0.1" : (100 * probability).toFixed(1)} %`));
  button.setAttribute("aria-pressed", place === picked);
  button.addEventListener("mouseenter", () => drawSentence(place));
  button.addEventListener("mouseleave", () => drawSentence(picked));
  button.addEventListener("click", () => {
    picked = place;
    [...$("candidates").children].forEach((each, number) => each.setAttribute("aria-pressed", number === place));
    drawSentence(place);
    $("filled").textContent = text;
  });
  return button;
}

/* The tokens that were read, shaded, and a button for the heads behind them. */
function attendedOf(blank, tokens, values) {
  const meaning = element("div", "say", say.maskAttended);
  let place = 0, line = "";
  const count = text => Array.from(text).length;
  // a gap where the text has one, or where a token is not as it is written
  const offsets = tokens.map(token => {
    const found = blank.indexOf(token, place);
    if (line && found !== place) line += " ";
    if (found >= 0) place = found + token.length;
    return [count(line), count(line += token)];
  });
  meaning.setAttribute("aria-live", "polite");
  return [wordsOf({ text: line, offsets, tokens, values, signed: false }, meaning), meaning,
    headsOpener($("mask-attended"), tokens, "fill", { inputs: blank })];
}

/* In place of the selected word, or where the cursor is. */
function insertMask() {
  $("blank").setRangeText(MASK, $("blank").selectionStart, $("blank").selectionEnd, "end");
  $("blank").focus();
}

at("language", drawFilling);
at("link", given => { if (filling) given.set("fill", filling.text); });
at("open", given => {
  $("blank").value = given.get("fill") ?? BLANKS[0];
  // there may be no language model
  if (given.has("fill") && !$("fill").closest("[hidden]")) fillBlank();
});
offerExamples("blank-examples", BLANKS, text => { $("blank").value = text; fillBlank(); });
$("fill").addEventListener("submit", event => { event.preventDefault(); fillBlank(); });
$("mask").addEventListener("click", insertMask);
