"""The model card that a bundle carries, written from its manifest alone."""

from typing import Any

from .settings import LanguageConfig

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
