"""What a classifier's graph takes and returns beside what its settings say, by name; the axes are those of the settings."""

from ..model.interfaces import Axes
from ..text.ngrams import NGRAMS

# One without a table of n-grams has no ngram_ids
REVIEWS: dict[str, Axes] = {"token_ids": ("N", "T"), "valid_length": ("N",), "ngram_ids": ("N", "T", NGRAMS)}

# A further output that the graph can be given (`films.contexts`): what its last layer reads, (N, F)
CONTEXTS = "contexts"
