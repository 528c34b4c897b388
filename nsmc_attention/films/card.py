"""The model card that a bundle carries, written from its manifest alone."""

from typing import Any

from .settings import FilmConfig

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
