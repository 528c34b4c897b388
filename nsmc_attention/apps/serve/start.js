/* What the controls do, and the beginning, when all of the page is there. */

$("language").addEventListener("click", () => setLanguage(say === SAY.ko ? "en" : "ko"));
/* A browser whose text areas do not grow with their text by themselves. */
if (!CSS.supports("field-sizing: content"))
  document.addEventListener("input", ({ target }) => { if (target.matches("textarea")) { target.style.height = "auto"; target.style.height = `${target.scrollHeight + 2}px`; } });
$("text").addEventListener("input", onInput);
$("other").addEventListener("input", onInput);
for (const id of ["method", "by-word"]) $(id).addEventListener("change", () => explain(true));
$("compare").addEventListener("change", () => {
  $("second").hidden = !$("compare").checked;
  if ($("compare").checked) $("other").focus();
  if ($("other").value.trim()) explain();
});
offerExamples("examples", EXAMPLES, text => {
  // the second review, where the first is there to be compared with
  $($("compare").checked && $("text").value.trim() && !$("other").value.trim() ? "other" : "text").value = text;
  explain();
});
$("picture").addEventListener("click", savePicture);
$("copy").addEventListener("click", copyLink);
$("score").addEventListener("click", scoreLines);
$("pick").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", () => { if ($("file").files.length) openFile($("file").files[0]); $("file").value = ""; });
$("column").addEventListener("change", () => { if ($("column").value) scoreTable($("column").value); });
$("sheet").addEventListener("change", () => { sheet = $("sheet").value; scoreTable(); });
$("only").addEventListener("change", () => change({ only: $("only").value }));
$("search").addEventListener("input", () => change({ words: $("search").value.trim().toLowerCase() }));
$("previous").addEventListener("click", () => change({ page: view.page - 1 }));
$("next").addEventListener("click", () => change({ page: view.page + 1 }));
/* A file may be dropped anywhere: outside a target the browser would leave the page for it. */
for (const name of ["dragover", "dragleave", "drop"])
  document.addEventListener(name, event => {
    const { types, items, files } = event.dataTransfer, over = name === "dragover";
    if (![...types].includes("Files")) return;
    event.preventDefault();
    // of what is dragged only the type is known
    const target = targets.find(({ takes }) => takes(items[0]));
    for (const { id } of targets) $(id).classList.toggle("over", over && id === target.id);
    if (name === "drop") targets.find(({ takes }) => takes(files[0])).open(files[0]);
  });
setLanguage((navigator.language || "ko").startsWith("ko") ? "ko" : "en");
offerMethods();
readLink();
