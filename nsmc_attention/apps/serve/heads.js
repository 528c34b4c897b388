/* The heads of a Transformer: a row of small matrices for each layer; the one that is clicked is drawn large. */

/* A button for the heads of the answer to a question of the server, which sends them only when asked to. */
function headsOpener(section, tokens, path, question) {
  const body = JSON.stringify({ ...question, heads: true });
  const ask = async () => (await (await send(path, body, "application/json")).json()).heads;
  return openerOf(section, say.heads.open, () => headsOf(tokens, ask));
}

/* Until `ask` has returned the weights (layers x heads x T x T) or an error, that they are being computed. */
function headsOf(tokens, ask) {
  const frame = element("div", "heads"), problem = element("p", "problem");
  problem.setAttribute("role", "alert");
  frame.append(element("p", "quiet", say.heads.computing), problem);
  ask().then(heads => frame.replaceChildren(...gridOf(tokens, heads)), ({ message }) => {
    frame.replaceChildren(problem);
    problem.textContent = translate(message);
  });
  return frame;
}

/* All matrices have one colour scale. */
function gridOf(tokens, heads) {
  const [meaning, grid, large] = ["say", "grid", "large"].map(name => element("div", name));
  const scale = Math.max(...heads.flat().map(matrix => largestWeight({ matrix })));
  const show = (button, title, matrix) => {
    const chosen = button.getAttribute("aria-pressed") !== "true";
    for (const each of grid.querySelectorAll("button")) each.setAttribute("aria-pressed", chosen && each === button);
    meaning.textContent = chosen ? `${title}: ${say.heads.row}` : say.heads.meaning;
    large.replaceChildren(...(chosen ? [scrolling(tableOf(matrix, tokens, tokens, title, scale))] : []));
  };
  const layerOf = (matrices, place) => {
    const layer = say.heads.layer(place + 1);
    return [element("span", "", layer), ...matrices.map((matrix, head) => {
      const title = `${layer}, ${say.heads.head(head + 1)}`, button = smallOf(matrix, title, scale);
      button.addEventListener("click", () => show(button, title, matrix));
      return button;
    })];
  };
  const names = heads[0].map((_, place) => element("span", "", say.heads.head(place + 1)));
  meaning.textContent = say.heads.meaning;
  meaning.setAttribute("aria-live", "polite");
  grid.style.setProperty("--heads", names.length);
  grid.append(element("span"), ...names, ...heads.flatMap(layerOf));
  return [meaning, legendOf({}, scale, false), grid, large];
}

/* A matrix without names: each row is one element, its cells are the steps of its background. */
function smallOf(matrix, title, largest) {
  const button = element("button", "small");
  button.type = "button";
  button.setAttribute("aria-label", title);
  button.setAttribute("aria-pressed", false);
  button.append(...matrix.map(row => {
    const line = element("i"), width = 100 / row.length;
    const steps = row.map((value, key) => `${colorOf(value / largest, false)} ${key * width}% ${(key + 1) * width}%`);
    line.style.background = `linear-gradient(to right, ${steps.join(", ")})`;
    return line;
  }));
  return button;
}
