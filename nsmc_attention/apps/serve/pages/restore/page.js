/* Correct spacing and spelling: the source above, the corrected text below, and the attention of a writer. */

add({
  ko: { restore: "띄어쓰기·맞춤법 교정", restoration: "교정한 텍스트", use: "교정한 텍스트 분류하기", toRestore: "리뷰를 입력하면 위에 원문, 아래에 교정한 텍스트가 표시됩니다",
    corrected: (count, changes) => count ? `${count}곳을 고쳤습니다` : changes ? "모두 되돌렸습니다" : "고칠 곳이 없습니다",
    sure: probability => `확률 ${Math.round(100 * probability)}%. `, takeBack: "고친 곳을 누르면 원래대로 돌아갑니다", change: (was, now) => `${was || "없음"} → ${now || "없음"}`,
    attend: "어텐션 보기", attention: "어텐션 행렬", attended: "행은 교정한 텍스트의 글자, 열은 원문의 글자입니다. 진할수록 그 글자에 더 주목했다는 뜻입니다.",
    otherText: text => `아래 행렬은 문장을 새로 생성하는 다른 모델의 어텐션입니다. 위의 교정과 달리 “${text}”라고 썼습니다.`,
    messages: [[/^blank: nothing to restore$/, "교정할 텍스트가 없습니다"],
      [/^more than the edit bound.*/, "고칠 곳이 너무 많아 원문을 그대로 두었습니다"],
      [/^the search did not end.*/, "교정을 끝내지 못해 원문을 그대로 두었습니다"],
      [/^weights: this server has no writer.*/, "이 서버에는 어텐션을 보여 줄 모델이 없습니다"],
      [/^inputs: expected a text of at most (\d+).*found (\d+);.*/, "어텐션은 텍스트가 $1자 이하일 때만 볼 수 있습니다 (입력 $2자)"]] },
  en: { restore: "Correct spacing and spelling", restoration: "Corrected text", use: "Use corrected text",
    toRestore: "Write a review to see its source above, corrected below",
    corrected: (count, changes) => count ? `${count} ${count === 1 ? "correction" : "corrections"}` : changes ? "all taken back" : "nothing to correct",
    sure: probability => `${Math.round(100 * probability)} % sure. `, takeBack: "click one to take it back",
    change: (was, now) => `${was || "nothing"} → ${now || "nothing"}`, attend: "Show attention", attention: "Attention matrix",
    attended: "Rows: the corrected text; columns: the source. The stronger the colour, the more it attended to that character.",
    otherText: text => `The attention is that of another model, which writes the text anew. Other than above, it wrote: “${text}”.` },
});

// What the server said of the text; whether the attention behind it is shown, and what the server said of that
let restored = null, attending = false, attended = null;

/* While the switch is on, the text in the field is corrected whenever it is explained. */
async function restore() {
  const inputs = $("text").value, on = $("restore").checked;
  $("restoration").hidden = !on;
  if (on && restored?.inputs === inputs) return;
  const signal = begin("restore");
  if (!on || !inputs.trim()) { restored = null; drawRestored(); attend(); return; }
  $("pairs").setAttribute("aria-busy", true);
  $("use").disabled = true;
  const found = await askToRestore({ inputs }, signal);
  if (signal.aborted) return;
  restored = { ...found, back: new Set() };
  drawRestored();
  attend();
}

const askToRestore = (question, signal) => send("restore", JSON.stringify(question), "application/json", signal)
  .then(async response => ({ ...question, ...(await response.json())[0] }), problem => ({ error: problem.message, segments: [] }));

function drawRestored() {
  $("pairs").replaceChildren(...(restored ? restored.segments.flatMap(pairsOf) : [element("p", "", say.toRestore)]));
  $("pairs").setAttribute("aria-busy", false);
  sayRestored();
}

/* The corrected text, but for the changes that were taken back. */
const chosen = () => restored.segments.map(([was, now], place) => restored.back.has(place) ? was : now).join("");

function sayRestored() {
  const { segments = [], back, error } = restored ?? {}, changes = segments.filter(([was, now]) => was !== now).length;
  const count = changes && changes - back.size;
  const shown = !restored ? "" : error ? translate(error) : say.corrected(count, changes);
  $("use").disabled = !count || $("pairs").getAttribute("aria-busy") === "true";
  $("restored").textContent = changes ? `${shown} · ${say.takeBack}` : shown;
  $("said").textContent = count ? `${shown}: ${chosen()}` : shown;
}

/* While it is open, the attention follows the corrected text; that of the text before only fades. */
async function attend() {
  const signal = begin("attention"), inputs = restored?.text && restored.inputs;
  if (!attending || !inputs) attended = null;
  else if (attended?.inputs !== inputs) {
    $("attention").setAttribute("aria-busy", true);
    const found = await askToRestore({ inputs, weights: true }, signal);
    if (signal.aborted) return;
    attended = found;
  }
  drawAttention();
}

/* Of a text that was returned as it is there is no attention, only the reason. */
function drawAttention() {
  const { error, source, text, weights } = attended ?? {}, shown = weights && !error;
  const letters = found => Array.from(found.replaceAll(" ", "␣"));
  const line = text === restored?.text ? say.attended : `${say.otherText(text)} ${say.attended}`;
  $("attend").setAttribute("aria-expanded", attended !== null);
  $("attend").disabled = !restored?.text;
  $("attended").textContent = !attended ? "" : error ? translate(error) : line;
  $("attention").setAttribute("aria-busy", false);
  $("attention").replaceChildren(...(shown ? [matrixOf({ tokens: letters(source), queries: letters(text), matrix: weights, zoom: say.zoom })] : []));
}

/* A change as one pair, what is the same as a pair for each word, of which the upper one is not read aloud. */
function pairsOf([was, now], place) {
  if (was !== now) return [changeOf(was, now, place)];
  return was.match(/\s*\S+\s?|\s+/gu).map(word => {
    const pair = element("span", "pair"), above = element("span", "was", word);
    above.setAttribute("aria-hidden", true);
    pair.append(above, element("span", "now", word));
    return pair;
  });
}

/* A change, which a click takes back or makes again: struck out is what is not in the text. Its spaces are visible. */
function changeOf(was, now, place) {
  const before = restored.segments.slice(0, place).filter(([was, now]) => was !== now).length;
  const { probability } = restored.changes[before], sure = probability ? say.sure(probability) : "";
  const button = element("button", "pair"), [above, below] = [was, now].map(text => text.replaceAll(" ", "␣"));
  const draw = () => {
    const back = restored.back.has(place);
    button.setAttribute("aria-pressed", !back);
    button.replaceChildren(element(back ? "span" : "del", "was", above), element(back ? "del" : "ins", "now", below));
  };
  Object.assign(button, { type: "button", title: sure + say.takeBack, ariaLabel: sure + say.change(above, below) });
  button.addEventListener("click", () => {
    if (!restored.back.delete(place)) restored.back.add(place);
    draw();
    sayRestored();
  });
  draw();
  return button;
}

at("language", drawRestored, drawAttention);
at("explain", restore);
at("link", given => { if ($("restore").checked) given.set("restore", "1"); });
// there may be no restorer
at("open", given => { $("restore").checked = given.get("restore") === "1" && !$("restore").closest("[hidden]"); });
$("restore").addEventListener("change", restore);
$("use").addEventListener("click", () => { $("text").value = chosen(); $("text").focus(); explain(); });
$("attend").addEventListener("click", async () => {
  attending = !attending;
  await attend();
  if (attended) $("attended").scrollIntoView({ block: "nearest" });
});
