"""Probabilities that mean what they say: one temperature, fitted on the dev part, put into the last layer.

Guo et al. 2017 (arXiv:1706.04599), section 4.2. It changes no label and costs nothing at prediction.
"""
import numpy

from ..metrics import metrics

# The last layer of either network
LAST_LAYERS = ("output.weight", "output.bias", "dense.weight", "dense.bias")
RANGE = (0.2, 5.0)


def calibrate(network, dev_batches, device):
    """Divide the last layer by the temperature that the dev part asks for.

    Returns
    -------
    dict
        temperature, and under `before` and `after` the dev part's log_loss and ece.
    """
    from .fit import probabilities

    labels, before = dev_batches.labels.astype(int), probabilities(network, dev_batches, device)
    found = temperature(before, labels)
    for name, parameter in network._collect_params_with_prefix().items():
        if name in LAST_LAYERS:
            parameter.set_data(parameter.data() / found)
    after = probabilities(network, dev_batches, device)
    return {"temperature": found, "before": figures(labels, before), "after": figures(labels, after)}


def figures(labels, probability):
    found = metrics(labels, probability)
    return {name: found[name] for name in ("log_loss", "ece")}


def temperature(probability, labels):
    """Answer the divisor of the logits, within RANGE, that gives these labels the smallest log loss.

    Parameters
    ----------
    probability : (N,) float
        Of the label 1.
    labels : (N,) int
    """
    from scipy.optimize import minimize_scalar

    inside = numpy.clip(probability, 1e-12, 1 - 1e-12)
    logits = numpy.log(inside) - numpy.log1p(-inside)
    signs = 2 * numpy.asarray(labels) - 1

    def loss(logarithm):
        return numpy.logaddexp(0, -signs * logits / numpy.exp(logarithm)).mean()

    return float(numpy.exp(minimize_scalar(loss, bounds=numpy.log(RANGE), method="bounded").x))
