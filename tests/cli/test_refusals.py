"""Every command line that cannot be: one line that says what to do, exit code 2, nothing on stdout and nothing written."""

import io
import re
import shlex

import pytest
from PIL import Image

Image.new("L", (60, 40), 250).save(BLANK := io.BytesIO(), "PNG")
FILES = {
    "in.csv": "document\n좋다\n",
    "films.csv": "film,review\n가,좋다\n",
    "nameless.csv": "film,review\n,좋다\n",
    "stars.csv": "film,review,stars\n" + "가,좋다,9\n" * 5,
    "few.csv": "review\n정말 좋다\n정말 별로\n정말 그저\n",
    "signs.csv": "document,label,signs\n재미없다,0,0:2:-1\n",
    "own.tsv": "id\tdocument\tlabel\n1\t좋다\t1\n",
    "my reviews": "좋다\n",
    "empty.csv": "",
    "words.csv": "word,aspect\n배송,배송\n배송,가격\n",
    "blank.png": BLANK.getvalue(),
}
SHARE, MIXES = "--share: expected table, or a number between 0 and 1", ("0", "-1", "1.5", "nan")
# {name} is the bundle of the fixture of that name
REFUSED = [
    ("predict a --bundle nowhere", "nowhere: no such bundle folder"),
    ("predict --input none.csv", "none.csv: no such file"),
    ("predict a --weights", "--weights needs --format jsonl, found text"),
    ("predict a --engine onx", "unknown engine 'onx'; did you mean 'onnx'?"),
    ("predict a --output no/such/file.csv", "file.csv: no such folder no/such"),
    ("predict a --output .", ".: is a folder"),
    ("predict a --output /dev/full", "error: /dev/full: "),
    ("predict a --device gpu", "--device gpu: expected a GPU that MXNet sees, found none"),
    ("predict 'my reviews'", "found the name of a file, my reviews; score its rows with --input 'my reviews'"),
    ("predict --formt csv a", "--input-format"),
    ("predict -x", "A text that begins with a dash goes after --."),
    ("predict --input empty.csv --text-column text", "the file is empty"),
    ("predict --input films.csv --text-column text", "expected a column 'text', found film, review"),
    ("predict 좋다 --restore-bundle {bundle_folder}", "restore, found 'classify'; use it"),
    ("predict 좋다 --aspects --bundle {bundle_folder}", "contribution"),
    *((f"predict 좋다 -o a.{kind}", f"{kind} output: expected a table, found lines") for kind in ("xlsx", "parquet")),
    *((f"predict 좋다 --share {share}", SHARE) for share in ("2", "0", "1", "half", "nan")),
    ("predict 좋다 --share table", "expected --input FILE"),
    ("predict --input few.csv --share table -o a.csv", "expected a share that can be estimated, found unknown"),
    *((f"adapt few.csv --out run --mix={mix}", "--mix: expected a number above 0 and at most 1") for mix in MIXES),
    ("explain 가 --output a.jpg", "a.jpg: unknown suffix '.jpg'"),
    ("explain 가 --output a.png --method erazure", "unknown method 'erazure'; did you mean 'erasure'"),
    ("explain 가 --output a.html --picture words", "leave --picture words out"),
    ("explain 가 --output a.htm", "unknown suffix '.htm'; did you mean '.html'"),
    ("explain 가 --output a.png --picture matrix --method erasure", "only attention has one, found erasure"),
    ("explain 가 ' ' --output a.html", "explain: blank: no word to score"),
    ("explain 가 --picture words", "--picture words: expected --output too, as --output words.png"),
    ("report films.csv -o a.html --film-bundle b", "--film-bundle: expected --group-by too, found none"),
    ("export", "export: expected --output, as -o model.onnx: the bundle stays as it is"),
    ("export --format params --bundle {bundle_folder}", "export: expected --output, as -o model.params"),
    ("export --output -", "expected a file, found stdout"),
    *(("export --output .", "is a folder"), ("export --output no/a.onnx", "no such folder")),
    ("explain in.csv", "found the name of a file, in.csv; give the text itself, or summarize the file with"),
    ("explain 가 --method contribution --bundle {bundle_folder}", "method contribution: expected a classifier whose"),
    ("explain 가 --heads a.png --bundle {bundle_folder}", "a.png: expected the heads of an encoder that is a"),
    ("explain 가 별로 --heads a.png --bundle {tiny_transformer}", "explain --heads: expected one TEXT, found 2"),
    ("explain 가 --heads a.html --bundle {tiny_transformer}", "a.html: unknown suffix '.html'"),
    ("predict 좋다 --aspects-file none.csv", "none.csv: no such file"),
    ("predict --input in.csv --output a.csv --aspects-file words.csv", "words.csv row 3: expected word and aspect"),
    ("report in.csv --output a.html --aspects-file words.csv", "words.csv row 3: expected word and aspect"),
    ("read missing.png", "missing.png: cannot be read"),
    ("read in.csv", "expected a picture (PNG, JPEG, GIF, WEBP, BMP, TIFF), found another file"),
    ("read blank.png --explain x.txt", "unknown suffix '.txt'"),
    ("read blank.png blank.png --explain x.png", "expected one PICTURE, found 2"),
    ("read blank.png --bundle {bundle_folder}", "expected a bundle of the task read"),
    ("read blank.png --bundle {tiny_reader} --weights", "--weights needs --format jsonl"),
    ("predict 정말 --bundle {tiny_reader}", "use it with `nsmc-attention read`"),
    ("evaluate", "Missing option '--data'"),
    ("evalute", "No such command 'evalute'; did you mean 'evaluate'?"),
    ("predit 좋다", "No such command 'predit'; did you mean 'predict'?"),
    ("정말좋다", "No such command '정말좋다'; known: adapt, bulk, "),
    ("evaluate --data smaple", "smaple: no such file; did you mean 'sample'?"),
    ("evaluate --data sample --record", "--record: expected --bundle too, found the packaged model"),
    ("evaluate --data sample --record --restore --bundle {bundle_folder}", "--record: the figures of restored reviews"),
    ("evaluate --data own.tsv --label-column y", "expected a column 'y', found id, document, label"),
    ("evaluate --data own.tsv --text-column y", "expected a column 'y', found id, document, label"),
    ("faithfulness --data sample --limit 1", "expected at least 2 reviews of 3 tokens or more, found"),
    ("faithfulness --data sample --seed -1", "--seed"),
    ("hops --data sample --bundle {bundle_folder}", "expected a classifier of structured attention, found additive"),
    ("restore in.csv", "expected the text of a review, found the name of a file, in.csv; restore its rows with"),
    ("restore 좋다 --input in.csv", "give reviews or --input, not both"),
    ("restore --input-format csv", "--input-format needs --input"),
    ("restore --n-best", "restore --n-best: expected TEXT, found none"),
    ("restore 좋다 --n-best -f csv", "restore --n-best: prints text or jsonl"),
    ("restore 좋다 --explain a.gif", "a.gif: unknown suffix '.gif'"),
    ("restore 좋다 별로 --explain a.png", "restore --explain: expected one TEXT, found 2"),
    ("restore --explain a.png", "restore --explain: expected TEXT, found none"),
    ("restore 좋다 --beam 4 --bundle {tiny_editor}", "beam 4: expected a restorer of kind writer, found editor"),
    ("restore 좋다 -f xlsx", "xlsx output: expected a table, found lines"),
    ("restore 좋다 --bundle {bundle_folder}", "restore, found 'classify'; use it with"),
    ("fill 좋다", "fill: expected 1 to 5 [MASK] in the text, found 0"),
    ("fill [MASK] [MASK]", "fill: expected one TEXT, found 2; put it in quotes"),
    ("fill in.csv", "expected the text of a review, found the name of a file"),
    ("film films.csv", "Missing option '--group-by'"),
    ("film films.csv --group-by movie", "expected a column 'movie', found film, review"),
    ("film films.csv --group-by film --format xml", "'xml' is not one of"),
    ("film films.csv --group-by film --explain a.png", "a.png: expected a name that ends with .html, found '.png'"),
    ("film films.csv --group-by film --classifier nowhere", "nowhere: no such bundle folder"),
    ("film films.csv --group-by film --classifier {bundle_folder}", "the classifier pretrained ("),
    ("film nameless.csv --group-by film", "expected rows that name a film in column 'film', found none"),
    ("serve --port 0 --restore-bundle nowhere", "nowhere: no such bundle folder"),
    ("serve --port 0 --language-bundle {bundle_folder}", "found 'classify'"),
    ("bulk none.csv --output out", "none.csv: no such file"),
    ("bulk in.csv --output out --format xlsx", "expected one of csv, tsv, jsonl, parquet, found 'xlsx'"),
    ("bulk in.csv --output .", "expected a new or empty folder"),
    ("train --data nsm", "nsm: no such file; did you mean 'nsmc'?"),
    ("train --data sample --preset pots", "unknown preset 'pots'; did you mean 'post'?"),
    ("train --data sample --hiden-size 3", "--hiden-size"),
    ("train --data sample --hidden-size x", "--hidden-size"),
    ("train --data sample --epochs 0", "epochs: expected at least 1, found 0"),
    ("train --data sample --out /proc/run", "/proc/run"),
    ("train --task film --data stars.csv --teacher a", "train --task film: expected no --teacher, found a"),
    ("train --data sample --teacher none", "none: no such bundle folder"),
    ("train --data sample --teacher {tiny_editor}", "expected a bundle of the task classify, found 'restore'"),
    ("train --data sample --init-from {tiny_reader}", "a bundle of the task classify or language, found 'read'"),
    ("train --task restore --data sample --init-from {bundle_folder}", "task restore, found 'classify'"),
    ("train --data sample --sentences signs.csv", "--sentences: expected signed values; give --values convolut"),
    ("train --task restore --data stars.csv --stars-column b", "train --task restore: expected no --stars-column"),
    ("train --data stars.csv --stars-column b", "expected a column 'b', found film, review, stars; name the one"),
    ("train --task language --data few.csv", "few.csv: expected at least 100 different reviews, found 3"),
    ("train --task language --data few.csv --set model.encoder.heads=3", "model.encoder.heads: expected a divisor"),
    ("train --task language --data sample --sentences few.csv", "train --task language: expected no --sentences"),
    ("train --task film --data sample", "expected nsmc or a table "),
    ("train --task film --data nsmc --group-by film", "nsmc: has films of its own; leave --group-by out, found 'film'"),
    ("train --task film --data stars.csv", "stars.csv: expected at least 100 films of 4 reviews or more, found 1"),
    ("train --task film --data stars.csv --init-from runs/a", "film: expected no --init-from, found runs/a; leave"),
]
CLASSIFYING = ["predict 좋다", "evaluate --data sample", "faithfulness --data sample", "explain 좋다"]
CLASSIFYING += ["export", "report in.csv --output out.html", "bulk in.csv --output out", "serve --port 0"]
OTHER = "expected a bundle of the task classify, found 'restore'; use it with `nsmc-attention restore`"
REFUSED += [(f"{line} --bundle {{tiny_editor}}", OTHER) for line in CLASSIFYING]


@pytest.mark.parametrize("line, message", REFUSED)
def test_what_cannot_be_is_one_line_and_writes_nothing(command, request, tmp_path, monkeypatch, line, message):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    line = re.sub(r"\{(\w+)\}", lambda found: str(request.getfixturevalue(found[1])), line)
    done = command(*shlex.split(line))
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr, done
    assert re.fullmatch(r"error: [^\n]+\n", done.stderr), done.stderr
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == set(FILES)


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_one_line(command, tmp_path):
    (tmp_path / "in.csv").write_text(FILES["in.csv"], encoding="utf-8")
    arguments = ["--output", tmp_path / "out", "--scheduler", "tcp://127.0.0.1:9"]
    done = command("bulk", tmp_path / "in.csv", *arguments)
    assert done.returncode == 2 and "no Dask scheduler answers there" in done.stderr.splitlines()[-1]
