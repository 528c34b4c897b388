"""What a network's answer hangs on, by gradients with respect to what stands in its tables for each token."""

import numpy

# Points of the path that an integrated gradient is taken at
STEPS = 24
BATCH = 64


class GradientEngine:
    """Gradient x input of a network's log-odds; called as the engines of `engines` are, from one thread.

    The input of a token is every row that is looked up for it: its embedding and the rows of the n-grams that
    begin in it. Each row is multiplied by the gradient of the log-odds of positive with respect to it, and the
    products are summed (Shrikumar et al. 2017, arXiv:1704.02685, section 2.2).

    Parameters
    ----------
    network : HybridBlock
        Of `model.classifier`, with its parameters on `device`.
    device : mxnet context
    steps : int
        1 takes the gradient at the rows themselves; more integrate it along the straight way from rows of 0, at
        so many points (integrated gradients, Sundararajan et al. 2017, arXiv:1703.01365, equation 1). The sum over
        the tokens then is the log-odds less those of an input of nothing.
    """

    name, batch_size = "gradient", BATCH

    def __init__(self, network, device, steps=1):
        from .._runtime.mxnet_shim import import_mxnet

        self.mxnet, self.network, self.device, self.steps = import_mxnet(), network, device, steps

    def __call__(self, token_ids, valid_length, *ngram_ids):
        """Answer the probability of positive (N,) and what each token adds to the log-odds (N, T) float32."""
        nd, network = self.mxnet.nd, self.network
        rows, mask, lengths = looked_up(nd, network, self.device, token_ids, valid_length, ngram_ids)
        products = 0
        for share, weight in path(self.steps):
            gradients = self.gradients([share * each for each in rows], mask, lengths)
            products = products + sum(weight * by_token(nd, row, each) for row, each in zip(rows, gradients))
        probability = network.forward_embedded(nd, rows, mask, lengths)[0].softmax()[:, 1]
        return probability.asnumpy(), (products * mask.reshape((0, 0))).asnumpy()

    def gradients(self, rows, mask, lengths):
        """Answer the gradients of the log-odds of positive with respect to rows of the tables."""
        autograd = self.mxnet.autograd
        for each in rows:
            each.attach_grad()
        with autograd.record(train_mode=False):
            logits, _ = self.network.forward_embedded(self.mxnet.nd, rows, mask, lengths)
            odds = logits[:, 1] - logits[:, 0]
        odds.backward()
        return [each.grad for each in rows]


def looked_up(nd, network, device, token_ids, valid_length, ngram_ids):
    """Answer (rows, mask, lengths) as `network.forward_embedded` takes them: what stands in the tables for a batch's arrays."""
    from ..model.networks.classifier import token_mask

    ids, *ngrams = (nd.array(each, ctx=device, dtype="int32") for each in (token_ids, *ngram_ids))
    lengths = nd.array(valid_length, ctx=device, dtype="float32")
    return network.embed_tokens(nd, ids, *ngrams), token_mask(nd, ids, lengths), lengths


def path(steps):
    """Yield (share, weight) of the points of the way; one step is the end itself.

    The points are middles of equal stretches of the root of the share: what the n-grams say is divided by the
    length of their vector, and so grows like that root.
    """
    if steps == 1:
        yield 1.0, 1.0
        return
    for root in (numpy.arange(steps) + 0.5) / steps:
        yield float(root**2), float(2 * root / steps)


def by_token(nd, rows, gradients):
    """Rows and their gradients, (T, N, E) or (N, T, NGRAMS, 2) -> the sum of their products, (N, T)."""
    products = rows * gradients
    return products.sum(axis=2).transpose() if len(rows.shape) == 3 else products.sum(axis=(2, 3))
