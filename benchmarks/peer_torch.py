"""The same architecture in PyTorch, as a contestant: embedding, bidirectional GRU, additive attention, mean, Dense.

Batches are of one exact length, so PyTorch needs neither packing nor masks: what it computes is what our
network computes. The embedding is updated sparsely (SparseAdam) where that is faster for PyTorch.
"""
import torch
from torch import nn


class TorchClassifier(nn.Module):
    def __init__(self, vocab_size, model, sparse=True):
        super().__init__()
        width, units = 2 * model.hidden_size, model.attention_units
        self.word_dropout = nn.Dropout1d(model.word_dropout)
        self.embedding = nn.Embedding(vocab_size, model.embedding_size, sparse=sparse)
        self.dropout = nn.Dropout(model.dropout)
        self.gru = nn.GRU(model.embedding_size, model.hidden_size, batch_first=True, bidirectional=True)
        self.query, self.key = nn.Linear(width, units), nn.Linear(width, units, bias=False)
        self.score = nn.Linear(units, 1, bias=False)
        self.output = nn.Linear(width, 2)

    def forward(self, token_ids):
        """(N, T) -> logits (N, 2), weights (N, T, T)."""
        embedded = self.dropout(self.word_dropout(self.embedding(token_ids)))                # (N, T, E)
        states, _ = self.gru(embedded)                                                       # (N, T, 2H)
        pairs = torch.tanh(self.query(states).unsqueeze(2) + self.key(states).unsqueeze(1))  # (N, T, T, A)
        weights = torch.softmax(self.score(pairs).squeeze(3), dim=2)                         # (N, T, T)
        pooled = torch.bmm(weights.mean(dim=1, keepdim=True), states).squeeze(1)             # (N, 2H)
        return self.output(self.dropout(pooled)), weights


class TorchTrainer:
    """Adam over everything, the embedding sparsely where `sparse`; clipping by global norm as ours does."""

    def __init__(self, network, learning_rate, clip_norm, sparse=True):
        self.network, self.clip_norm = network, clip_norm
        rest = [value for name, value in network.named_parameters() if not (sparse and name.startswith("embedding"))]
        self.optimizers = [torch.optim.Adam(rest, learning_rate)]
        if sparse:
            self.optimizers.append(torch.optim.SparseAdam(list(network.embedding.parameters()), learning_rate))
        self.loss = nn.CrossEntropyLoss()

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
        gradients = [parameter.grad for parameter in self.network.parameters()]
        values = [gradient.coalesce().values() if gradient.is_sparse else gradient for gradient in gradients]
        norm = torch.sqrt(sum((value * value).sum() for value in values))
        scale = float(self.clip_norm / norm)
        if scale < 1:
            for gradient in gradients:
                gradient.mul_(scale)
