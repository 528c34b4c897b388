"""What a network would say if its attention looked elsewhere: at every word alike, or with its weights shuffled."""

import numpy

from .gradients import looked_up

BATCH = 64


class ReplacedAttention:
    """Answers with other weights in place of the attention's; called as the engines of `engines` are.

    Wiegreffe & Pinter 2019 (arXiv:1908.04626), section 3.1, for uniform weights; Jain & Wallace 2019
    (arXiv:1902.10186), section 4.2.1, for permuted ones.

    Parameters
    ----------
    network : HybridBlock
        A `model.classifier.SelfAttentionClassifier`, with its parameters on `device`.
    device : mxnet context
    how : "uniform" or "permuted"
    seed : int
        Of the permutations.
    """

    name, batch_size = "replaced", BATCH

    def __init__(self, network, device, how, seed=0):
        from .._runtime.mxnet_shim import import_mxnet

        self.mxnet, self.network, self.device, self.how = import_mxnet(), network, device, how
        self.random = numpy.random.RandomState(seed)

    def __call__(self, token_ids, valid_length, *ngram_ids):
        """Answer the probability of positive (N,) and the weights that led to it (N, T)."""
        nd, network = self.mxnet.nd, self.network
        rows, mask, lengths = looked_up(nd, network, self.device, token_ids, valid_length, ngram_ids)
        weights = network.forward_embedded(nd, rows, mask, lengths)[1]
        own = weights.sum(axis=1).asnumpy() / valid_length[:, None]  # (N, T)
        looked_at = numpy.zeros_like(own)
        for row, given, length in zip(looked_at, own, valid_length):
            row[:length] = 1 / length if self.how == "uniform" else self.random.permutation(given[:length])
        logits = network.forward_with_weights(nd, rows, nd.array(looked_at[:, None, :], ctx=self.device), lengths)
        return logits.softmax()[:, 1].asnumpy(), looked_at
