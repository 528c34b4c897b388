"""What each lever does to the network alone: the official track's dev part, without the wide part.

    NSMC_ATTENTION_DATA=... python benchmarks/levers.py LEVER... [--seeds 0,1,2]

Prints a Markdown row as each training ends. The levers that the package does not have (they did not earn a place
in it) are written here; `tokenizers` is needed for the subword ones.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from unicodedata import normalize
from unittest.mock import patch
from zlib import crc32

import numpy

from nsmc_attention import recipe
from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.config import preset
from nsmc_attention.evaluation.metrics import headline
from nsmc_attention.reviews import tables
from nsmc_attention.text.encoding import clean
from nsmc_attention.text.noise import other_vowels
from nsmc_attention.text.tokenizers import tokenizer
from nsmc_attention.training import loop as fit
from nsmc_attention.training.checkpoint import Checkpoints
from nsmc_attention.training.stages import Run

mxnet = import_mxnet()

from mxnet import autograd, gluon  # noqa: E402

from nsmc_attention.model.networks.classifier import BidirectionalGRU, SelfAttentionClassifier  # noqa: E402

PLAIN = preset("default").with_fields(ngram_buckets=0, erasure_reviews=0)
# What a lever changes of the config
SETTINGS = {
    "plain": {},
    "no attention": {"attention": "uniform"},
    "neither GRU nor attention": {"attention": "uniform", "encoder": "none"},
    "vocabulary of 4,000": {"vocab_size": 4000},
    "vocabulary of 8,000": {"vocab_size": 8000},
    "vocabulary of 32,000": {"vocab_size": 32000},
    "words in pieces": {"rare_words": "pieces"},
    "GRU of 64": {"hidden_size": 64},
    "GRU of 192": {"hidden_size": 192},
    "no word dropout": {"word_dropout": 0.0},
    "dropout 0.2": {"dropout": 0.2},
    "no average": {"average": 0.0},
    "misspelt reviews": {"misspelt_fraction": 0.3},
}
UNITS = 16000


class Deeper(SelfAttentionClassifier):
    """With a second bidirectional GRU over the first."""

    def __init__(self, *arguments, **kwargs):
        super().__init__(*arguments, **kwargs)
        with self.name_scope():
            self.encoder = Stacked(PLAIN.model.hidden_size)


class Stacked(BidirectionalGRU):
    def __init__(self, hidden_size):
        super().__init__(hidden_size)
        with self.name_scope():
            self.between, self.second = gluon.nn.Dropout(PLAIN.model.dropout), BidirectionalGRU(hidden_size)

    def hybrid_forward(self, F, embedded, valid_length):
        return self.second(self.between(super().hybrid_forward(F, embedded, valid_length)), valid_length)


class MaxPooled(SelfAttentionClassifier):
    """The largest of each unit over the contexts, in place of their mean."""

    def read(self, F, rows, mask, valid_length):
        states, seen, by_review = self.encode(F, rows, valid_length)
        contexts, weights = self.attention(seen, seen, states, F.batch_dot(mask, mask, transpose_b=True))
        hidden = F.broadcast_mul(1 - mask, 1e4 * F.ones_like(mask))
        return self.answer(F, F.max(F.broadcast_sub(contexts, hidden), axis=1, keepdims=True), by_review), weights


class WithJamo(SelfAttentionClassifier):
    """The embeddings of a token's runs of three letters (jamo), averaged (fastText), projected, added to its own."""

    ROWS, UNITS, MOST = 2**16, 32, 16

    def __init__(self, *arguments, **kwargs):
        super().__init__(*arguments, **kwargs)
        with self.name_scope():
            self.letters = gluon.nn.Embedding(self.ROWS, self.UNITS, sparse_grad=True)
            self.projection = gluon.nn.Dense(PLAIN.model.embedding_size, use_bias=False, flatten=False)

    def look_up(self, F, token_ids, letter_ids=None):
        there = F.cast(letter_ids > 0, dtype="float32")  # (N, T, MOST)
        runs = F.broadcast_mul(self.letters(letter_ids), F.expand_dims(there, axis=3))  # (N, T, MOST, UNITS)
        mean = F.broadcast_div(F.sum(runs, axis=2), F.sum(there, axis=2, keepdims=True) + 1e-6)
        return [self.embedding(F.transpose(token_ids)) + F.transpose(self.projection(mean), axes=(1, 0, 2))]

    @classmethod
    def number(cls, token_lists, width):
        """Answer (N, width, MOST) int32: the hashed runs of each token, 0 where there are no more."""
        found, known = numpy.zeros((len(token_lists), width, cls.MOST), dtype="int32"), {}
        for row, tokens in enumerate(token_lists):
            for place, token in enumerate(tokens[:width]):
                if token not in known:
                    letters = f"<{normalize('NFD', token)}>"
                    runs = {letters[start : start + 3] for start in range(max(1, len(letters) - 2))}
                    known[token] = sorted(crc32(run.encode()) % (cls.ROWS - 1) + 1 for run in runs)[: cls.MOST]
                found[row, place, : len(known[token])] = known[token]
        return found


NETWORKS = {"two layers": Deeper, "largest instead of mean": MaxPooled, "jamo": WithJamo}
SUBWORDS = ("wordpiece", "bpe", "unigram")


def subword_cutter(kind, token_lists):
    """Answer a function words -> subword units, learned by `tokenizers` from Mecab's words of the training part."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    model, trainer = {
        "wordpiece": (
            models.WordPiece(unk_token="<unk>"),
            trainers.WordPieceTrainer(vocab_size=UNITS, special_tokens=["<unk>"], show_progress=False),
        ),
        "bpe": (
            models.BPE(unk_token="<unk>"),
            trainers.BpeTrainer(vocab_size=UNITS, special_tokens=["<unk>"], show_progress=False),
        ),
        "unigram": (
            models.Unigram(),
            trainers.UnigramTrainer(vocab_size=UNITS, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False),
        ),
    }[kind]
    cutter = Tokenizer(model)
    cutter.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    cutter.train_from_iterator((" ".join(tokens) for tokens in token_lists), trainer)
    return lambda words: cutter.encode(words, is_pretokenized=True).tokens


def cut(part, cutter):
    return replace(part, token_lists=[cutter(tokens) or ["<unk>"] for tokens in part.token_lists])


def respelled(part, change):
    words = tokenizer("mecab")
    texts = [change(clean(text)) for text in part.frame["document"]]
    return replace(part, token_lists=[words(text) or tokens for text, tokens in zip(texts, part.token_lists)])


def regularized(network, trainer, batch, clip_norm, device, workers):
    """A step of R-Drop (Liang et al. 2021, arXiv:2106.14448, equation 4), alpha 1: two passes agree."""
    inputs, wanted = fit.as_inputs(batch, device), fit.targets(batch, device)
    cross_entropy = gluon.loss.SoftmaxCELoss(sparse_label=False)
    with autograd.record():
        one, other = network(*inputs)[0], network(*inputs)[0]
        apart = ((one.softmax() - other.softmax()) * (one.log_softmax() - other.log_softmax())).sum(axis=1).mean() / 2
        loss = (cross_entropy(one, wanted) + cross_entropy(other, wanted)).mean() / 2 + apart / 2
    loss.backward()
    trainer.step(max(1.0, fit.gradient_norm(trainer) / clip_norm))
    return float(loss.asscalar())


def smoothed(batch, device):
    """Labels of 0.05 and 0.95."""
    positive = mxnet.nd.array(0.05 + 0.9 * batch.labels, ctx=device)
    return mxnet.nd.stack(1 - positive, positive, axis=1)


# What of the training loop a lever replaces
STEPS = {"R-Drop": {"train_step": regularized}, "smoothed labels": {"targets": smoothed}}
LEVERS = (*SETTINGS, *NETWORKS, *SUBWORDS, *STEPS)


def measure(lever, seed, data):
    """Train one network with the lever; answer its dev figures, as is and with vowels exchanged, size, seconds."""
    # the dev part is that of seed 0, whatever the network's
    config = PLAIN.with_fields(**SETTINGS.get(lever, {}), seed=seed)
    train_part, dev_part = recipe.split(recipe.tokenized(tables.load(data, "train"), config), PLAIN.training)
    swapped = respelled(dev_part, other_vowels)
    if lever in SUBWORDS:
        cutter = subword_cutter(lever, train_part.token_lists)
        train_part, dev_part, swapped = (cut(part, cutter) for part in (train_part, dev_part, swapped))
    _, encoder = recipe.build_encoder([train_part], config)
    train_part = recipe.misspelt_part(train_part, config)
    with tempfile.TemporaryDirectory() as folder:
        run = Run(config, encoder, Path(folder), mxnet.cpu(), quiet=True)
        batches, dev_batches, swapped = (
            batched(run, part.in_units(encoder), lever == "jamo") for part in (train_part, dev_part, swapped)
        )
        network = new_network(run, NETWORKS.get(lever), batches)
        started = time.perf_counter()
        with patch.multiple(fit, **STEPS.get(lever, {"targets": fit.targets})):
            progress = fit.fit(
                network, batches, dev_batches, config.training, mxnet.cpu(), Checkpoints(run.out, 1), lambda *_: None
            )
        seconds = time.perf_counter() - started
        found, odd = (
            headline(each.labels.astype(int), fit.probabilities(network, each, mxnet.cpu()))
            for each in (dev_batches, swapped)
        )
    size = sum(parameter.data().size for parameter in network.collect_params().values())
    return found, odd["accuracy"], progress.best_epoch + 1, size, seconds


def batched(run, part, jamo):
    batches = run.batched(part)
    if jamo:
        for index, (ids, importance, _) in batches.padded.items():
            members = numpy.flatnonzero(batches.bucket == index)
            letters = WithJamo.number([part.token_lists[member] for member in members], ids.shape[1])
            batches.padded[index] = (ids, importance, letters)
    return batches


def new_network(run, kind, batches):
    if not kind:
        return run.new_network(batches)
    mxnet.random.seed(run.config.training.seed)
    network = kind(len(run.encoder), run.config.model)
    network.initialize(mxnet.init.Xavier())
    network(*fit.as_inputs(next(batches.in_order())[1], mxnet.cpu()))
    network.hybridize(static_alloc=True)
    return network


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("levers", nargs="+", choices=LEVERS, metavar="LEVER", help=", ".join(LEVERS))
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--data", default="nsmc")
    choice = parser.parse_args()
    print("| lever | seed | dev accuracy | dev log loss | vowels exchanged | epoch | parameters | seconds |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for lever in choice.levers:
        for seed in map(int, choice.seeds.split(",")):
            found, odd, epoch, size, seconds = measure(lever, seed, choice.data)
            print(
                f"| {lever} | {seed} | {100 * found['accuracy']:.2f} | {found['log_loss']:.4f} | {100 * odd:.2f} | "
                f"{epoch} | {size:,} | {seconds:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
