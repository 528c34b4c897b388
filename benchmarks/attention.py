"""How faithful attention is: of several bundles, of several ways from a T x T matrix to one weight a word, in a corpus.

    NSMC_ATTENTION_DATA=... python benchmarks/attention.py [NAME=BUNDLE ...]

Prints the tables of docs/faithfulness.md and draws its pictures; the packaged bundle comes first. 1,000 official test reviews
drawn by seed 0 for the tables, the packaged bundle alone for the candidates, 5,000 reviews for the corpus.
"""

import sys
from pathlib import Path

import numpy

from nsmc_attention.classification.explain import Explainer
from nsmc_attention.classification.judgement import evaluate, faithfulness
from nsmc_attention.classification.network import ngram_log_odds
from nsmc_attention.classification.predictor import load_classifier
from nsmc_attention.drawing.figure import save_figure
from nsmc_attention.evaluation.attention_statistics import entropy
from nsmc_attention.evaluation.erasure import leave_one_out
from nsmc_attention.evaluation.faithfulness import SHORTEST, agreement, aopc
from nsmc_attention.reviews import nsmc
from nsmc_attention.text.tokenizers import mecab_tags
from nsmc_attention.visualization.corpus import draw_corpus
from nsmc_attention.visualization.faithfulness import interval, save_plot

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
REVIEWS, CORPUS = 1000, 5000


def main(arguments):
    reviews = nsmc.load("nsmc", "test")
    classifiers = {
        "packaged": load_classifier(),
        **{name: load_classifier(folder) for name, folder in (each.split("=") for each in arguments)},
    }
    results = {name: faithfulness(classifier, reviews, REVIEWS) for name, classifier in classifiers.items()}
    accuracy = {name: evaluate(classifier, reviews)["accuracy"] for name, classifier in classifiers.items()}
    print_bundles(results, accuracy)
    save_plot(results, PICTURES / "faithfulness.png")
    chosen = numpy.random.RandomState(0).permutation(len(reviews))
    documents = reviews.documents
    texts = [documents[place] for place in chosen]
    print_candidates(classifiers["packaged"], texts[:REVIEWS])
    save_figure(draw_corpus(classifiers["packaged"].predict_many(texts[:CORPUS]), mecab_tags), PICTURES / "corpus.png")


def print_bundles(results, accuracy):
    print(
        "| model | accuracy | tau with erasure | p < 0.05 | tau with gradient | p < 0.05 "
        "| comprehensiveness (random) | sufficiency (random) | uniform weights: change, labels |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, found in results.items():
        tau, orders = found["tau"]["attention"], found["orders"]
        uniform = found["replaced"]["uniform"]
        cells = [name, f"{100 * accuracy[name]:.2f}"]
        for measure in ("erasure", "gradient"):
            cells += [interval(tau[measure]), f"{100 * tau[measure]['significant']:.0f} %"]
        for kind in ("comprehensiveness", "sufficiency"):
            cells.append(f"{orders['attention'][kind]['mean']:.3f} ({orders['random'][kind]['mean']:.3f})")
        cells.append(f"{uniform['change']:.3f}, {100 * uniform['flipped']:.1f} %")
        print("| " + " | ".join(cells) + " |", flush=True)


def print_candidates(classifier, texts):
    """One weight a word by each candidate, judged as `faithfulness` judges."""
    explainer = Explainer(classifier)
    encoded = [each for each in map(explainer.bundle.codec.encode, texts) if len(each) >= SHORTEST]
    predictions = list(classifier.predict_encoded(encoded))
    erased = [numpy.abs(change) for change in leave_one_out(classifier.score, encoded)]
    gradients = [numpy.abs(each) for each in explainer.gradients(encoded)]
    whole = classifier.score(encoded)
    inside = [network_parts(explainer, review) for review in encoded]
    print("\n| one weight a word | tau with erasure | tau with gradient | comprehensiveness | sufficiency |")
    print("|---|---|---|---|---|")
    for name, candidate in CANDIDATES.items():
        weights = [candidate(each.weights.astype("float64"), *parts) for each, parts in zip(predictions, inside)]
        found = aopc(classifier.score, encoded, weights, whole)
        print(
            f"| {name} | {interval(agreement(weights, erased))} | {interval(agreement(weights, gradients))} | "
            f"{found['comprehensiveness']['mean']:.3f} | {found['sufficiency']['mean']:.3f} |",
            flush=True,
        )


def network_parts(explainer, review):
    """Return of each token: what its state adds to the log-odds if attended to alone, its length, its n-grams' share."""
    network, nd = explainer.gluon.network, explainer.gluon.mxnet.nd
    ids, lengths, ngrams = explainer.bundle.codec.batch([review])
    rows = network.embed_tokens(nd, nd.array(ids, dtype="int32"), nd.array(ngrams, dtype="int32"))
    states = network.encode(nd, rows, nd.array(lengths, dtype="float32"))[0].asnumpy()[0]
    negative, positive = network.output.weight.data().asnumpy()
    last = positive - negative
    by_token = ngram_log_odds(nd, rows[1])[0].asnumpy()[0, :, 0]
    return states @ last[:-1], numpy.linalg.norm(states, axis=1), last[-1] * by_token


def sharpest(weights):
    return numpy.argmin([entropy(row) for row in weights])


CANDIDATES = {
    "column mean": lambda w, worth, length, ngrams: w.mean(axis=0),
    "column maximum": lambda w, worth, length, ngrams: w.max(axis=0),
    "rows weighed by what they are looked at": lambda w, worth, length, ngrams: w.mean(axis=0) @ w,
    "row of the word most looked at": lambda w, worth, length, ngrams: w[w.mean(axis=0).argmax()],
    "row of the sharpest query": lambda w, worth, length, ngrams: w[sharpest(w)],
    "column mean x length of the state": lambda w, worth, length, ngrams: w.mean(axis=0) * length,
    "column mean x what the last layer makes of the state": lambda w, worth, length, ngrams: abs(
        w.mean(axis=0) * worth
    ),
    "that, and what the word's n-grams say": lambda w, worth, length, ngrams: abs(w.mean(axis=0) * worth + ngrams),
    "what the word's n-grams say alone": lambda w, worth, length, ngrams: abs(ngrams),
}

if __name__ == "__main__":
    main(sys.argv[1:])
