"""A network's parameters as plain arrays by structural name, and back."""


def snapshot(network):
    """Answer {name: array} of the network's parameters."""
    return {name: parameter.data().asnumpy() for name, parameter in network._collect_params_with_prefix().items()}


def restore(network, arrays):
    """Put arrays from `snapshot` back into the network."""
    for name, parameter in network._collect_params_with_prefix().items():
        parameter.set_data(arrays[name])
