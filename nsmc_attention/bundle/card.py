"""The model card that a bundle carries, written from its manifest alone."""

import json
import re
from typing import Any

from ..config import Config, FilmConfig, LanguageConfig, RestoreConfig

CARD = """\
---
language: ko
license: mit
library_name: nsmc_attention
pipeline_tag: text-classification
datasets: {datasets}
metrics: [accuracy, f1]
---

# Korean film-review sentiment{with_attention}

{network} over tokens of {tokenizer}.
Trained on {train[used]:,} reviews of {train[name]} (sha256 `{hash}…`); the epoch was chosen on {dev[used]:,} others.
{stars}{wide}{fine_tuning}
| part | accuracy | F1 | log loss | ECE |
|---|---|---|---|---|
{rows}

Reproduce it with:

    {command}

Limits: short film reviews as Korean viewers write them; irony, other domains and other languages were not
measured. Attention weights show what the model attends to, which is not always what its prediction depends on.

"""

STARS = """\
Before that it was trained on the stars of {kept:,} raw reviews; of {read:,} read, {left_out_by_id:,} were left out by
id and {left_out_by_text:,} by text, because they are in the official test file or in the dev part.
"""

WIDE = """\
Its log-odds are combined with those of a logistic regression on character n-grams, hashed to {buckets:,} buckets.
"""

FINE_TUNING = """\
All this is of the bundle {name}, whose parameters were then trained along with a film network, on the stars of {films:,}
films of {of}. Its probability was not calibrated after that.
"""

CONTRACT = """\
## Running model.onnx in other languages

ONNX opset 17, standard operators only; any ONNX Runtime runs it. For a batch of N reviews, the longest of
T tokens{exact}:

1. Text: Unicode NFC; control characters and lone surrogates dropped; white space of any kind replaced by one space,
   none at the ends.
2. Tokens: {tokenizer}; the first {text.max_length}.
{pieces}3. `token_ids` (N, T) int32: `token_to_idx` of vocab.json, for unknown tokens the id of its `unknown_token`,
   for padding that of `<pad>`. `valid_length` (N,) int32: tokens of each review, at least 1.
{ngrams}
Outputs: `probability` (N,) float32 of positive; `weights` {weights} attends to
each token. The mean over the rows is one weight a token.
"""

# By what has a row of weights
WEIGHTS = {
    "queries": "(N, T, T) float32, row i is how much token i",
    "hops": "(N, {model.attention.row_count}, T) float32, row i is how much hop i",
}

PIECES = """\
   Before that, a word that vocab.json lacks is cut from the left into the longest pieces that it has; an
   unknown character is a token by itself.
"""

NGRAMS = """\
4. `ngram_ids` (N, T, 8) int32: a review's tokens joined without white space, then U+0000 twice, as code
   points c. For each of a token's first four characters k = 0..3: at [k] the bucket of the 2 code points
   from there, at [4 + k] that of 3; 0 for a bucket that the review had before, in this order, and elsewhere.
   The bucket, in unsigned 64-bit arithmetic: v = c[0] * 0x9E3779B97F4A7C15; for each further code point
   v = (v + c[i]) * 0xC2B2AE3D27D4EB4F, then v = v xor (v >> 31); at the end
   ((v * 0x165667B19E3779F9) >> 32) mod {last} + 1.
"""


RESTORER = """\
---
language: ko
license: mit
library_name: nsmc_attention
pipeline_tag: text2text-generation
---

# Spacing and spelling of Korean film reviews

{network}. Trained on {train[sentences]:,} sentences of {train[name]}, with noise as people type; the epoch was chosen
on {dev[sentences]:,} others: {exact:.2f} % of them, with noise, are restored exactly, character error {error:.4f}.

Reproduce it with:

    {command}

Limits: short film reviews as Korean viewers write them; names and rare words are often taken for misspellings, and what
nobody but the writer knows cannot be restored.

## Running it in other languages

ONNX opset 17, standard operators only. Text as for the classifier: Unicode NFC, single spaces. The S characters that are
no spaces are the source; of each five int32: its number in `characters` of vocab.json plus 4 (1 for another one), the
rows of its initial, vowel and final (0 for a character that is no Hangul syllable), and the mark of a following space
(else 0). The rows, after the {vocabulary:,} numbers: 19 initials, 21 vowels, 28 finals (the first is none), the mark.
{graphs}
"""

GRAPHS = {
    "editor": """\
`tags` (N, S): 0 keep, 1 leave out, else the number of the character to write; `certainty` (N, S) is its probability,
`spaces` (N, S) that of a space after it.""",
    "writer": """\
source.onnx is run once; step.onnx for each character: `ids` is the number of the last one, 2 to begin; 3 is the end.
`combined` and `next_state0` are the next step's `before` (0 to begin) and `state0`; `weights` (N, S) is the attention.""",
}


def restorer_card(manifest: dict[str, Any]) -> str:
    """Return the card of a bundle of `restore`."""
    config, metrics = RestoreConfig.from_dict(manifest["config"]), manifest["metrics"]["dev"]
    return RESTORER.format(
        network=config.model.describe(),
        exact=100 * metrics["exact"],
        error=metrics["character_error"],
        graphs=GRAPHS[config.model.kind],
        **manifest["data"],
        **{name: manifest[name] for name in ("command", "vocabulary")},
    )


LANGUAGE = """\
---
language: ko
license: mit
library_name: nsmc_attention
pipeline_tag: fill-mask
---

# Masked words of Korean film reviews

{network} that guesses hidden words, trained on {train[reviews]:,} reviews of {train[name]}; of {dev[reviews]:,} others it
guesses {accuracy:.2f} % of the hidden tokens, {among_five:.2f} % in five guesses, perplexity {perplexity:.1f}.

Reproduce it with:

    {command}

Limits: short film reviews as Korean viewers write them, with their prejudices about people and films.

## Running it in other languages

ONNX opset 17, standard operators only. `token_ids` (N, T) and `valid_length` (N,) int32 as for the classifier, with
`[MASK]` of vocab.json at one place t of each review n; `places` (N,) int32 is t * N + n. `probability` (N, {vocabulary})
is that of each token there{heads}.
"""
HEADS = ", `heads` (N, layers, heads, T, T) how each token attends to each"


def language_card(manifest: dict[str, Any]) -> str:
    """Return the card of a language model's bundle."""
    config, metrics = LanguageConfig.from_dict(manifest["config"]), manifest["metrics"]["dev"]
    return LANGUAGE.format(
        network=config.model.describe(),
        accuracy=100 * metrics["accuracy"],
        among_five=100 * metrics["among_five"],
        perplexity=metrics["perplexity"],
        heads=HEADS if "heads" in config.model.outputs else "",
        **manifest["data"],
        **{name: manifest[name] for name in ("command", "vocabulary")},
    )


FILM = """\
---
language: ko
license: mit
library_name: nsmc_attention
---

# The mean stars of a film from its reviews

{network}, trained on {train[films]:,} films of {train[name]} ({train[reviews]:,} reviews of all parts, sha256
`{hash}…`). The table is of {test[films]:,} other films, by how many reviews of each are given: the mean absolute error, in
stars, of what is told to be the mean stars of the film's other reviews; how many films are inside the interval, which is
made for 90 %; and its width.

| given | error | inside | width |
|---|---|---|---|
{rows}

Reproduce it with:

    {command}

The reviews are read by the encoder of a classifier, the one that scale.json names; this bundle is of no use without it.
Where that classifier has learnt from stars itself, it may have read reviews of the films of the table.

Limits: films as Korean viewers rate them, by the stars of those who write; other goods and other scales were not measured.

## Running it in other languages

ONNX opset 17, standard operators only. `vectors` (N, F) float32: of each review what the classifier's last layer reads, and
the log-odds of positive. reviews.onnx gives each a score and values (N, D). `pooled` (films, 2 D) are the values' mean by
the softmax of the scores over a film's reviews, and their plain mean; `counts` (films, 1) how many there are, at most {given}.
film.onnx gives the quantiles 5, 50 and 95 %, which the margins of scale.json move apart.
"""


def film_card(manifest: dict[str, Any]) -> str:
    """Return the card of a bundle of `film`."""
    config = FilmConfig.from_dict(manifest["config"])
    rows = [
        f"| {count} | {found['absolute_error']:.3f} | {100 * found['inside']:.1f} % | {found['width']:.2f} |"
        for count, found in manifest["metrics"]["test"].items()
    ]
    return FILM.format(
        network=config.model.describe(),
        rows="\n".join(rows),
        given=config.training.given,
        hash=manifest["data"]["train"]["sha256"][:16],
        command=manifest["command"],
        **manifest["data"],
    )


def model_card(manifest: dict[str, Any]) -> str:
    """Return the card as Markdown with YAML front matter, as model hubs read it."""
    config, data = Config.from_dict(manifest["config"]), manifest["data"]
    rows = [
        f"| {part} | {100 * found['accuracy']:.2f} % | {found['f1']:.4f} | {found['log_loss']:.4f} "
        f"| {found['ece']:.4f} |"
        for part, found in manifest["metrics"].items()
    ]
    card = CARD.format(
        datasets=in_yaml(data["train"]["name"]),
        with_attention=" with self-attention" if config.model.attention.kind != "uniform" else "",
        network=config.model.describe(),
        tokenizer=manifest["tokenizer_version"] or config.text.tokenizer,
        train=data["train"],
        hash=data["train"]["sha256"][:16],
        dev=data["dev"],
        stars=STARS.format(**data["pretraining"]) if data.get("pretraining") else "",
        wide=WIDE.format(buckets=config.text.ngram_buckets) if config.text.ngram_buckets else "",
        fine_tuning=FINE_TUNING.format(**data["fine_tuning"]) if data.get("fine_tuning") else "",
        rows="\n".join(rows),
        command=manifest["command"],
    )
    return card + contract(config, manifest["tokenizer_version"])


def in_yaml(name: str) -> str:
    """Return a list of one name as YAML reads it: as JSON has it, unless it is plainly a word."""
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", name)
    return f"[{name}]" if plain else json.dumps([name], ensure_ascii=False)


def contract(config: Config, tokenizer_version: str) -> str:
    """Return what a program in another language must do to run model.onnx."""
    return CONTRACT.format(
        exact=f", padded to exactly {config.fixed_length}" if config.fixed_length else "",
        tokenizer=tokenizer_version or config.text.tokenizer,
        text=config.text,
        weights=WEIGHTS[config.model.attention.rows].format(model=config.model),
        pieces=PIECES if config.text.rare_words == "pieces" else "",
        ngrams=NGRAMS.format(last=config.text.ngram_buckets - 1) if config.text.ngram_buckets else "",
    )
