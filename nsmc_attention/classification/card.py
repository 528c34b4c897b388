"""The model card that a bundle carries, written from its manifest alone."""

from typing import Any

from ..bundle.card import in_yaml
from .settings import Config

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
{stars}{wide}
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
        rows="\n".join(rows),
        command=manifest["command"],
    )
    return card + contract(config, manifest["tokenizer_version"])


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
