"""The same architecture in PyTorch, as a contestant: embedding, bidirectional GRU, additive attention, mean, Dense.

All reviews of a batch have the same length, so PyTorch needs neither packing nor masks, and computes the same function as
our network. PyTorch comes with the extra `benchmark` and is used nowhere else.
"""

import torch
from torch import nn

from nsmc_attention.machine.processes import cores

LONGEST = 1024


class Encoder(nn.Module):
    """A bidirectional GRU."""

    def __init__(self, model):
        super().__init__()
        self.gru = nn.GRU(model.embedding_size, model.width // 2, batch_first=True, bidirectional=True)

    def forward(self, embedded):
        return self.gru(embedded)[0]


class Transformer(nn.Module):
    """PyTorch's own layers, with learned positions."""

    def __init__(self, model):
        super().__init__()
        sizes, width = model.encoder, model.width
        layer = nn.TransformerEncoderLayer(
            width, sizes.heads, sizes.feed_forward, sizes.dropout, "gelu", batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, sizes.layers)
        self.positions, self.norm = nn.Embedding(LONGEST, width), nn.LayerNorm(width)
        self.scale, self.dropout = width**0.5, nn.Dropout(sizes.dropout)

    def forward(self, embedded):
        places = self.positions.weight[: embedded.shape[1]]
        return self.layers(self.dropout(self.norm(embedded * self.scale + places)))


class TorchClassifier(nn.Module):
    """token ids (N, T) int64 -> logits (N, 2), weights (N, T, T); `model` is a ClassifierConfig."""

    def __init__(self, vocab_size, model, sparse):
        super().__init__()
        width, units = model.width, model.attention.numbers_per_pair
        self.word_dropout = nn.Dropout1d(model.word_dropout)
        self.embedding = nn.Embedding(vocab_size, model.embedding_size, sparse=sparse)
        self.dropout = nn.Dropout(model.dropout)
        self.encoder = Encoder(model) if model.encoder.kind == "gru" else Transformer(model)
        self.query, self.key = nn.Linear(width, units), nn.Linear(width, units, bias=False)
        self.score = nn.Linear(units, 1, bias=False)
        self.output = nn.Linear(width, 2)

    def forward(self, token_ids):
        embedded = self.dropout(self.word_dropout(self.embedding(token_ids)))  # (N, T, E)
        states = self.encoder(embedded)  # (N, T, D)
        pairs = torch.tanh(self.query(states).unsqueeze(2) + self.key(states).unsqueeze(1))  # (N, T, T, A)
        weights = torch.softmax(self.score(pairs).squeeze(3), dim=2)  # (N, T, T)
        pooled = torch.bmm(weights.mean(dim=1, keepdim=True), states).squeeze(1)  # (N, D)
        return self.output(self.dropout(pooled)), weights


def build(workload, compiled, sparse):
    torch.set_num_threads(cores())
    torch.manual_seed(0)
    network = TorchClassifier(workload.vocabulary, workload.model, sparse)
    return network, torch.compile(network, dynamic=True) if compiled else network


class TorchScoring:
    """Forward passes without gradients."""

    def __init__(self, workload, compiled=False):
        self.network = build(workload, compiled, sparse=False)[1].eval()
        self.batches = [torch.from_numpy(token_ids).long() for token_ids, _, _ in workload.batches]

    def __call__(self):
        with torch.inference_mode():
            for token_ids in self.batches:
                logits, _ = self.network(token_ids)
                torch.softmax(logits, dim=1)


class TorchTraining:
    """Adam over everything, the embedding sparsely where `sparse`; clipping by global norm as ours does."""

    def __init__(self, workload, compiled=False, sparse=True):
        self.plain, self.network = build(workload, compiled, sparse)
        self.clip_norm = workload.training.clip_norm
        self.batches = [
            (torch.from_numpy(token_ids).long(), torch.from_numpy(labels).long())
            for token_ids, _, labels in workload.batches
        ]
        rest = [value for name, value in self.plain.named_parameters() if not (sparse and name.startswith("embedding"))]
        rate = workload.training.labels.learning_rate
        self.optimizers: list[torch.optim.Optimizer] = [torch.optim.Adam(rest, rate)]
        if sparse:
            self.optimizers.append(torch.optim.SparseAdam(list(self.plain.embedding.parameters()), rate))
        self.loss = nn.CrossEntropyLoss()

    def __call__(self):
        for token_ids, labels in self.batches:
            self.step(token_ids, labels)

    def step(self, token_ids, labels):
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss = self.loss(self.network(token_ids)[0], labels)
        loss.backward()
        self.clip()
        for optimizer in self.optimizers:
            optimizer.step()
        return loss.item()

    def clip(self):
        gradients = [parameter.grad for parameter in self.plain.parameters()]
        values = [gradient.coalesce().values() if gradient.is_sparse else gradient for gradient in gradients]
        norm = torch.sqrt(sum((value * value).sum() for value in values))
        scale = float(self.clip_norm / norm)
        if scale < 1:
            for gradient in gradients:
                gradient.mul_(scale)
