"""The model card that a bundle carries, written from its manifest alone."""

import json
import re
from typing import Any, Optional


def model_card(manifest: dict[str, Any]) -> str:
    """Answer the card as Markdown with YAML front matter, as model hubs read it."""
    config, data = manifest["config"], manifest["data"]
    rows = [
        f"| {part} | {100 * found['accuracy']:.2f} % | {found['f1']:.4f} | {found['log_loss']:.4f} "
        f"| {found['ece']:.4f} |"
        for part, found in manifest["metrics"].items()
    ]
    return "\n".join(
        [
            "---",
            "language: ko",
            "license: mit",
            "library_name: nsmc_attention",
            "pipeline_tag: text-classification",
            f"datasets: {in_yaml(data['train']['name'])}",
            "metrics: [accuracy, f1]",
            "---",
            "",
            f"# Korean film-review sentiment{' with self-attention' if attentive(config['model']) else ''}",
            "",
            f"{network(config['model'])} over tokens of {manifest['tokenizer_version'] or config['text']['tokenizer']}.",
            f"Learned from {data['train']['used']:,} reviews of {data['train']['name']} "
            f"(sha256 `{data['train']['sha256'][:16]}…`); the epoch was chosen on {data['dev']['used']:,} others.",
            *stars(data.get("pretraining")),
            *wide(config["text"]["ngram_buckets"]),
            "",
            "| part | accuracy | F1 | log loss | ECE |",
            "|---|---|---|---|---|",
            *rows,
            "",
            "Made again by:",
            "",
            f"    {manifest['command']}",
            "",
            "Limits: short film reviews as Korean viewers write them; irony, other domains and other languages were not",
            "measured. Attention weights show where the model looks, which is not always why it answers as it does.",
            "",
            *contract(config["text"], manifest),
        ]
    )


def in_yaml(name: str) -> str:
    """Answer a list of one name as YAML reads it: as JSON has it, unless it is plainly a word."""
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", name)
    return f"[{name}]" if plain else json.dumps([name], ensure_ascii=False)


def attentive(model: dict[str, Any]) -> bool:
    return bool(model["attention"] != "uniform")


def network(model: dict[str, Any]) -> str:
    """Answer what the network is, by its encoder and its attention."""
    gru = model["encoder"] == "gru"
    if not attentive(model):
        return "The average of a bidirectional GRU's states" if gru else "The average of the words' embeddings"
    shape = f"({model['architecture']} architecture, {model['attention']} score)"
    return f"A self-attentive bidirectional GRU {shape}" if gru else f"Self-attention on the words' embeddings {shape}"


def contract(text: dict[str, Any], manifest: dict[str, Any]) -> list[str]:
    """Answer what a program in another language must do to run model.onnx."""
    fixed = manifest["config"]["model"]["architecture"] == "post"
    exact = f", padded to exactly {text['max_length']}" if fixed else ""
    return [
        "## Running model.onnx in other languages",
        "",
        "ONNX opset 17, no operators of its own; any ONNX Runtime runs it. For a batch of N reviews, the longest of",
        f"T tokens{exact}:",
        "",
        "1. Text: Unicode NFC; control characters and lone surrogates dropped; white space of any kind made one space,",
        "   none at the ends.",
        f"2. Tokens: {manifest['tokenizer_version'] or text['tokenizer']}; the first {text['max_length']}.",
        *pieces(text),
        "3. `token_ids` (N, T) int32: `token_to_idx` of vocab.json, for what it lacks the id of its `unknown_token`,",
        "   in the padding that of `<pad>`. `valid_length` (N,) int32: tokens of each review, at least 1.",
        *ngrams(text["ngram_buckets"]),
        "",
        "Outputs: `probability` (N,) float32 of positive; `weights` (N, T, T) float32, row i how much token i looks at",
        "each token. The mean over the rows is one weight a token.",
        "",
    ]


def pieces(text: dict[str, Any]) -> list[str]:
    """Answer the lines on words that the vocabulary lacks, none where these stay whole."""
    if text["rare_words"] != "pieces":
        return []
    return [
        "   Before that, a word that vocab.json lacks is cut from the left into the longest pieces that it has; a",
        "   character it lacks stands alone.",
    ]


def ngrams(buckets: int) -> list[str]:
    """Answer the lines on the third input, none where there is none."""
    if not buckets:
        return []
    return [
        "4. `ngram_ids` (N, T, 8) int32: a review's tokens joined without white space, then U+0000 twice, as code",
        "   points c. For each of a token's first four characters k = 0..3: at [k] the number of the 2 code points",
        "   from there, at [4 + k] that of 3; 0 for a number that the review had before, in this order, and elsewhere.",
        "   The number, in unsigned 64-bit arithmetic: v = c[0] * 0x9E3779B97F4A7C15; for each further code point",
        "   v = (v + c[i]) * 0xC2B2AE3D27D4EB4F, then v = v xor (v >> 31); at the end",
        f"   ((v * 0x165667B19E3779F9) >> 32) mod {buckets - 1} + 1.",
    ]


def wide(buckets: int) -> list[str]:
    """Answer the line on the wide part, none where there is none."""
    if not buckets:
        return []
    return [f"Its answer is joined with a logistic regression's on character n-grams, hashed to {buckets:,} numbers."]


def stars(pretraining: Optional[dict[str, int]]) -> list[str]:
    """Answer the lines on the raw reviews that the model learned from first, none where there were none."""
    if not pretraining:
        return []
    kept, read, by_id, by_text = (pretraining[key] for key in ("kept", "read", "left_out_by_id", "left_out_by_text"))
    return [
        f"Before that it learned the stars of {kept:,} raw reviews; of {read:,} read, {by_id:,} were left out by",
        f"id and {by_text:,} by text, because they are in the official test file or in the dev part.",
    ]
