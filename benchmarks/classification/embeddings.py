"""What `train --embeddings` brings where labels are few: vectors trained on the raw star reviews, 20,000 labelled reviews.

    NSMC_ATTENTION_DATA=... python -m benchmarks.classification.embeddings OUT [FLAG ...]    # pip install gensim

The vectors are those of word2vec's skip-gram (Mikolov et al. 2013, arXiv:1310.4546) on the Mecab tokens of 100,000 raw star
reviews, none of the official test file. FLAGs are those of `train`. Accuracy and log loss are of the official test
file. What is in OUT is not trained again.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from nsmc_attention.classification.evaluation import evaluate
from nsmc_attention.classification.predictor import load_classifier
from nsmc_attention.classification.settings import preset
from nsmc_attention.reviews import nsmc, raw
from nsmc_attention.reviews.data import Labelled
from nsmc_attention.text.token_cache import cached_tokens

SIZE, SEED, ROWS = preset("default").model.embedding_size, 0, 20_000
# Raw reviews that the vectors are trained on
RAW = 100_000


def vectors(path: Path) -> Path:
    """Train word vectors and write them in the text format of word2vec."""
    from gensim.models import Word2Vec

    whole = raw.load(raw.find(), [nsmc.load("nsmc", "test").frame]).frame["document"]
    reviews = whole.sample(RAW, random_state=SEED).tolist()
    words = cached_tokens(reviews, "mecab", nsmc.cache_folder() / "prepared")
    start = time.process_time()
    model = Word2Vec(words, vector_size=SIZE, window=5, sg=1, min_count=2, epochs=3, seed=SEED, workers=1)
    model.wv.save_word2vec_format(str(path))
    print(f"{len(model.wv):,} words of {len(reviews):,} reviews, {time.process_time() - start:.0f} s", flush=True)
    return path


def rows(out: Path, flags: list[str]) -> Iterator[str]:
    out.mkdir(parents=True, exist_ok=True)
    labelled, given = out / "labelled.csv", out / "vectors.txt"
    frame = nsmc.load("nsmc", "train").frame
    frame[frame["document"].str.strip() != ""].sample(ROWS, random_state=SEED).to_csv(labelled, index=False)
    given = given if given.exists() else vectors(given)
    for name, words in (("random numbers", []), ("vectors", ["--embeddings", str(given)])):
        run = out / name.split()[0]
        if not (run / "bundle").exists():
            command = ["train", "--data", str(labelled), "--seed", str(SEED), *flags, *words, "--out", str(run)]
            subprocess.run([sys.executable, "-m", "nsmc_attention", *command], check=True)
        figures = evaluate(load_classifier(run), Labelled("nsmc").load("test"))
        yield f"| {name} | {100 * figures['accuracy']:.2f} % | {figures['log_loss']:.4f} |"


if __name__ == "__main__":
    print("| embeddings begin with | accuracy | log loss |\n|---|---|---|")
    for row in rows(Path(sys.argv[1]), sys.argv[2:]):
        print(row, flush=True)
